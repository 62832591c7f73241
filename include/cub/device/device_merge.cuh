// cub::DeviceMerge of CUB 2.7 and later: each item finds its place by a search in the other sequence.
#pragma once
#if __cplusplus >= 201402L
#include <cuda/std/functional>

#include "device_for.cuh"

CUB_NAMESPACE_BEGIN

namespace detail {

// How many of a sorted sequence come before an item; equal ones do where __after_equals says so.
template <class _Iterator, class _Item, class _Less>
__device__ long long __warpbeam_before(_Iterator __first, long long __n, const _Item& __item, bool __after_equals, _Less& __less) {
  long long __low = 0;
  while (__low < __n) {
    const long long __middle = (__low + __n) / 2;
    const bool __earlier = __after_equals ? !__less(__item, *(__first + __middle)) : __less(*(__first + __middle), __item);
    if (__earlier) __low = __middle + 1;
    else __n = __middle;
  }
  return __low;
}

template <class _K1, class _V1, class _K2, class _V2, class _KOut, class _VOut, class _Less, bool _Values>
struct __warpbeam_merge {
  _K1 __keys1;
  _V1 __values1;
  long long __n1;
  _K2 __keys2;
  _V2 __values2;
  long long __n2;
  _KOut __keys;
  _VOut __values;
  _Less __less;
  __device__ void operator()(long long __i) {
    if (__i < __n1) {
      const long long __at = __i + __warpbeam_before(__keys2, __n2, *(__keys1 + __i), false, __less);
      *(__keys + __at) = *(__keys1 + __i);
      if constexpr (_Values) *(__values + __at) = *(__values1 + __i);
    } else {
      const long long __j = __i - __n1;
      const long long __at = __j + __warpbeam_before(__keys1, __n1, *(__keys2 + __j), true, __less);
      *(__keys + __at) = *(__keys2 + __j);
      if constexpr (_Values) *(__values + __at) = *(__values2 + __j);
    }
  }
};

}  // namespace detail

struct DeviceMerge {
  template <class _K1, class _K2, class _KOut, class _Less = ::cuda::std::less<>>
  static cudaError_t MergeKeys(void* __storage, size_t& __bytes, _K1 __keys1, long long __n1, _K2 __keys2, long long __n2,
                               _KOut __keys, _Less __less = {}, cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    return DeviceFor::Bulk(__n1 + __n2,
                           detail::__warpbeam_merge<_K1, int, _K2, int, _KOut, int, _Less, false>{
                               __keys1, 0, __n1, __keys2, 0, __n2, __keys, 0, __less},
                           __stream);
  }
  template <class _K1, class _V1, class _K2, class _V2, class _KOut, class _VOut, class _Less = ::cuda::std::less<>>
  static cudaError_t MergePairs(void* __storage, size_t& __bytes, _K1 __keys1, _V1 __values1, long long __n1, _K2 __keys2,
                                _V2 __values2, long long __n2, _KOut __keys, _VOut __values, _Less __less = {},
                                cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    return DeviceFor::Bulk(__n1 + __n2,
                           detail::__warpbeam_merge<_K1, _V1, _K2, _V2, _KOut, _VOut, _Less, true>{
                               __keys1, __values1, __n1, __keys2, __values2, __n2, __keys, __values, __less},
                           __stream);
  }
};

CUB_NAMESPACE_END
#endif
