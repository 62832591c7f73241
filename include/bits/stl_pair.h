// libstdc++'s pairs, for kernels too, as libcu++ has them. Before C++20 no word of the library's marks all that this needs
// (bits/c++config.h).
#pragma once
#pragma GCC system_header
#include <bits/move.h>
#include <bits/utility.h>
#if defined(__CUDA__)
#pragma clang force_cuda_host_device begin
#include_next <bits/stl_pair.h>
#pragma clang force_cuda_host_device end
#else
#include_next <bits/stl_pair.h>
#endif
