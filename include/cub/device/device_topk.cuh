// cub::DeviceTopK of CUB 3.1 and later: the k greatest or least items, in no order. Here they come sorted, which satisfies every
// requirement that the environment may state.
#pragma once
#if __cplusplus >= 201402L
#include <cub/device/device_radix_sort.cuh>
#include <iterator>
#include <type_traits>

#include "device_for.cuh"

CUB_NAMESPACE_BEGIN

namespace detail {

template <class _From, class _To, class _From2, class _To2, bool _Pairs>
struct __warpbeam_first {
  _From __from;
  _To __to;
  _From2 __from2;
  _To2 __to2;
  template <class _Size>
  __device__ void operator()(_Size __i) {
    *(__to + __i) = *(__from + __i);
    if constexpr (_Pairs) *(__to2 + __i) = *(__from2 + __i);
  }
};

// The stream in an environment: the environment itself, one that answers to get(), or the default.
template <class _Environment>
cudaStream_t __warpbeam_stream_of(const _Environment& __environment) {
  if constexpr (std::is_convertible<const _Environment&, cudaStream_t>::value) return __environment;
  else return nullptr;
}

}  // namespace detail

struct DeviceTopK {
  template <class _KeysIn, class _KeysOut, class _Size, class _Count, class _Environment = cudaStream_t>
  static cudaError_t MaxKeys(void* __storage, size_t& __bytes, _KeysIn __in, _KeysOut __out, _Size __n, _Count __k,
                             const _Environment& __environment = {}) {
    return __run<true, false>(__storage, __bytes, __in, __out, static_cast<int*>(nullptr), static_cast<int*>(nullptr), __n, __k,
                              detail::__warpbeam_stream_of(__environment));
  }
  template <class _KeysIn, class _KeysOut, class _Size, class _Count, class _Environment = cudaStream_t>
  static cudaError_t MinKeys(void* __storage, size_t& __bytes, _KeysIn __in, _KeysOut __out, _Size __n, _Count __k,
                             const _Environment& __environment = {}) {
    return __run<false, false>(__storage, __bytes, __in, __out, static_cast<int*>(nullptr), static_cast<int*>(nullptr), __n, __k,
                               detail::__warpbeam_stream_of(__environment));
  }
  template <class _KeysIn, class _KeysOut, class _ValuesIn, class _ValuesOut, class _Size, class _Count,
            class _Environment = cudaStream_t>
  static cudaError_t MaxPairs(void* __storage, size_t& __bytes, _KeysIn __in, _KeysOut __out, _ValuesIn __values,
                              _ValuesOut __values_out, _Size __n, _Count __k, const _Environment& __environment = {}) {
    return __run<true, true>(__storage, __bytes, __in, __out, __values, __values_out, __n, __k,
                             detail::__warpbeam_stream_of(__environment));
  }
  template <class _KeysIn, class _KeysOut, class _ValuesIn, class _ValuesOut, class _Size, class _Count,
            class _Environment = cudaStream_t>
  static cudaError_t MinPairs(void* __storage, size_t& __bytes, _KeysIn __in, _KeysOut __out, _ValuesIn __values,
                              _ValuesOut __values_out, _Size __n, _Count __k, const _Environment& __environment = {}) {
    return __run<false, true>(__storage, __bytes, __in, __out, __values, __values_out, __n, __k,
                              detail::__warpbeam_stream_of(__environment));
  }

 private:
  // The keys, the values, both sorted, and what the sort needs lie one behind the other.
  template <bool _Greatest, bool _Pairs, class _KeysIn, class _KeysOut, class _ValuesIn, class _ValuesOut, class _Size, class _Count>
  static cudaError_t __run(void* __storage, size_t& __bytes, _KeysIn __in, _KeysOut __out, _ValuesIn __values, _ValuesOut __values_out,
                           _Size __n, _Count __k, cudaStream_t __stream) {
    using _Key = typename std::iterator_traits<_KeysIn>::value_type;
    using _Value = typename std::iterator_traits<_ValuesIn>::value_type;
    const auto __up = [](size_t __size) { return (__size + 255) / 256 * 256; };
    const size_t __key_bytes = __up(__n * sizeof(_Key)), __value_bytes = _Pairs ? __up(__n * sizeof(_Value)) : 0;
    const size_t __front = 2 * (__key_bytes + __value_bytes);
    char* const __base = static_cast<char*>(__storage);
    const auto __keys_at = [&](int __which) { return __storage ? reinterpret_cast<_Key*>(__base + __which * __key_bytes) : nullptr; };
    const auto __values_at = [&](int __which) {
      return __storage ? reinterpret_cast<_Value*>(__base + 2 * __key_bytes + __which * __value_bytes) : nullptr;
    };
    size_t __rest = __storage ? __bytes - __front : 0;
    const auto __sort = [&](void* __place) {
      const int __count = static_cast<int>(__n), __bits = sizeof(_Key) * 8;
      if constexpr (_Pairs) {
        if constexpr (_Greatest)
          return DeviceRadixSort::SortPairsDescending(__place, __rest, __keys_at(0), __keys_at(1), __values_at(0), __values_at(1), __count,
                                                      0, __bits, __stream);
        else
          return DeviceRadixSort::SortPairs(__place, __rest, __keys_at(0), __keys_at(1), __values_at(0), __values_at(1), __count, 0, __bits,
                                            __stream);
      } else {
        if constexpr (_Greatest)
          return DeviceRadixSort::SortKeysDescending(__place, __rest, __keys_at(0), __keys_at(1), __count, 0, __bits, __stream);
        else
          return DeviceRadixSort::SortKeys(__place, __rest, __keys_at(0), __keys_at(1), __count, 0, __bits, __stream);
      }
    };
    if (!__storage) {
      const cudaError_t __status = __sort(nullptr);
      __bytes = __front + __rest;
      return __status;
    }
    cudaError_t __status = DeviceFor::Bulk(
        __n, detail::__warpbeam_first<_KeysIn, _Key*, _ValuesIn, _Value*, _Pairs>{__in, __keys_at(0), __values, __values_at(0)}, __stream);
    if (__status == cudaSuccess) __status = __sort(__base + __front);
    if (__status != cudaSuccess) return __status;
    const _Size __first = static_cast<unsigned long long>(__k) < static_cast<unsigned long long>(__n) ? static_cast<_Size>(__k) : __n;
    return DeviceFor::Bulk(
        __first,
        detail::__warpbeam_first<_Key*, _KeysOut, _Value*, _ValuesOut, _Pairs>{__keys_at(1), __out, __values_at(1), __values_out},
        __stream);
  }
};

CUB_NAMESPACE_END
#endif
