// What a thread does with its own items: Debian's functions are internal, newer versions' are for everybody.
#pragma once
#include_next <cub/thread/thread_reduce.cuh>
#if __cplusplus >= 201402L

#include <type_traits>
#include <utility>

CUB_NAMESPACE_BEGIN

namespace detail {

template <class _Items>
struct __warpbeam_count : std::tuple_size<_Items> {};
template <class _T, size_t _Count>
struct __warpbeam_count<_T[_Count]> : std::integral_constant<size_t, _Count> {};

template <class _Items>
using __warpbeam_item = std::decay_t<decltype(std::declval<const _Items&>()[0])>;
template <class _Op, class _A, class _B>
using __warpbeam_joined = std::decay_t<decltype(std::declval<_Op&>()(std::declval<_A>(), std::declval<_B>()))>;

}  // namespace detail

template <class _Items, class _Op>
__device__ __forceinline__ auto ThreadReduce(const _Items& __items, _Op __op) {
  using _T = detail::__warpbeam_item<_Items>;
  detail::__warpbeam_joined<_Op, _T, _T> __sum = __items[0];
#pragma unroll
  for (size_t __i = 1; __i < detail::__warpbeam_count<_Items>::value; ++__i) __sum = __op(__sum, __items[__i]);
  return __sum;
}
template <class _Items, class _Op, class _Prefix>
__device__ __forceinline__ auto ThreadReduce(const _Items& __items, _Op __op, _Prefix __prefix) {
  detail::__warpbeam_joined<_Op, _Prefix, detail::__warpbeam_item<_Items>> __sum = __prefix;
#pragma unroll
  for (size_t __i = 0; __i < detail::__warpbeam_count<_Items>::value; ++__i) __sum = __op(__sum, __items[__i]);
  return __sum;
}

CUB_NAMESPACE_END
#endif
