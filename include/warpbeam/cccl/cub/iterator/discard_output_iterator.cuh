// An iterator that CUB had before version 3: Thrust's.
#pragma once
#pragma GCC system_header
#include <cub/version.cuh>
#if CUB_VERSION < 300000
#include_next <cub/iterator/discard_output_iterator.cuh>
#else
#include <cub/config.cuh>
#include <cuda/std/cstddef>
#include <thrust/iterator/discard_iterator.h>

CUB_NAMESPACE_BEGIN
template <class _Offset = ::cuda::std::ptrdiff_t>
using DiscardOutputIterator = THRUST_NS_QUALIFIER::discard_iterator<>;
CUB_NAMESPACE_END
#endif
