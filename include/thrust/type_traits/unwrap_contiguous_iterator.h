// thrust::unwrap_contiguous_iterator of newer versions: the pointer behind an iterator over memory.
#pragma once
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/type_traits/is_contiguous_iterator.h>

#include <type_traits>
#include <utility>

THRUST_NAMESPACE_BEGIN

template <class _I, class = std::enable_if_t<is_contiguous_iterator<_I>::value>>
__host__ __device__ auto unwrap_contiguous_iterator(_I __i) {
  if constexpr (std::is_pointer<_I>::value) return __i;
  else return raw_pointer_cast(&*__i);
}
template <class _I>
using unwrap_contiguous_iterator_t = decltype(thrust::unwrap_contiguous_iterator(std::declval<_I>()));

THRUST_NAMESPACE_END
