// Vectors in managed and in pinned memory.
#pragma once
#include <thrust/detail/listed_vector.h>

#include <thrust/universal_allocator.h>

THRUST_NAMESPACE_BEGIN

template <class _T, class _Allocator = universal_allocator<_T>>
using universal_vector = detail::listed_vector<_T, _Allocator>;

template <class _T, class _Allocator = universal_host_pinned_allocator<_T>>
using universal_host_pinned_vector = detail::listed_vector<_T, _Allocator>;

THRUST_NAMESPACE_END
