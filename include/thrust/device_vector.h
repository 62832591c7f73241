// Vectors in the device's memory.
#pragma once
#include <thrust/detail/listed_vector.h>
#include <thrust/device_allocator.h>

THRUST_NAMESPACE_BEGIN

template <class _T, class _Allocator = device_allocator<_T>>
class device_vector : public detail::listed_vector<_T, _Allocator> {
  WB_LISTED_VECTOR(device_vector)
};

THRUST_NAMESPACE_END
