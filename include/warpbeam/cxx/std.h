// cuda::std: the C++ library under its second name. Its constexpr functions also work in kernels, because clang
// compiles constexpr functions for both sides; what the library does not have or has only for the host is declared
// beside this.
#ifndef WARPBEAM_CXX_STD_H
#define WARPBEAM_CXX_STD_H

#include "../prelude.h"
#include "implied.h"

namespace std {}
namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda

#define WB_BOTH __forceinline__ __host__ __device__

#endif
