// An iterator that CUB had before version 3: Thrust's.
#pragma once
#pragma GCC system_header
#include <cub/version.cuh>
#if CUB_VERSION < 300000
#include_next <cub/iterator/transform_input_iterator.cuh>
#else
#include <cub/config.cuh>
#include <cuda/std/cstddef>
#include <thrust/iterator/transform_iterator.h>

CUB_NAMESPACE_BEGIN
template <class _Value, class _Conversion, class _Iterator, class _Offset = ::cuda::std::ptrdiff_t>
using TransformInputIterator = THRUST_NS_QUALIFIER::transform_iterator<_Conversion, _Iterator, _Value>;
CUB_NAMESPACE_END
#endif
