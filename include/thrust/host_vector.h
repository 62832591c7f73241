// Vectors in the host's memory.
#pragma once
#include <thrust/detail/listed_vector.h>
#include <thrust/detail/memory_wrapper.h>

THRUST_NAMESPACE_BEGIN

template <class _T, class _Allocator = std::allocator<_T>>
class host_vector : public detail::listed_vector<_T, _Allocator> {
  WB_LISTED_VECTOR(host_vector)
};

THRUST_NAMESPACE_END
