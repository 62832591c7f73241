// An iterator that CUB had before version 3: Thrust's.
#pragma once
#pragma GCC system_header
#include <cub/version.cuh>
#if CUB_VERSION < 300000
#include_next <cub/iterator/constant_input_iterator.cuh>
#else
#include <cub/config.cuh>
#include <cuda/std/cstddef>
#include <thrust/iterator/constant_iterator.h>

CUB_NAMESPACE_BEGIN
template <class _Value, class _Offset = ::cuda::std::ptrdiff_t>
using ConstantInputIterator = THRUST_NS_QUALIFIER::constant_iterator<_Value, _Offset>;
CUB_NAMESPACE_END
#endif
