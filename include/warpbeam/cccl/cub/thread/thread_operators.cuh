// Function objects that CUB had before version 3, with which most programs were written.
#pragma once
#pragma GCC system_header
#include_next <cub/thread/thread_operators.cuh>

#if CUB_VERSION >= 300000
CUB_NAMESPACE_BEGIN

using Sum = ::cuda::std::plus<>;
using Difference = ::cuda::std::minus<>;
using Division = ::cuda::std::divides<>;
using Max = ::cuda::maximum<>;
using Min = ::cuda::minimum<>;
using Equality = ::cuda::std::equal_to<>;
using Inequality = ::cuda::std::not_equal_to<>;

CUB_NAMESPACE_END
#endif
