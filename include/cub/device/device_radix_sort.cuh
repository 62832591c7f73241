// Debian's cub::DeviceRadixSort, and newer versions' sorts of structures, whose members a function of the program's names in a
// tuple, the most significant first. Those are made by merging: radix sorts are stable, so that the results are the same.
#pragma once
#if __cplusplus < 201402L
#include_next <cub/device/device_radix_sort.cuh>
#else
#define DeviceRadixSort __warpbeam_older_radix_sort
#include_next <cub/device/device_radix_sort.cuh>
#undef DeviceRadixSort

#include <cub/device/device_merge_sort.cuh>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

CUB_NAMESPACE_BEGIN

namespace detail {

// Does one key come before another, by the bits [begin, end) of all their members in a row? The last member has bit 0.
template <class _Key, class _Members, bool _Descending>
struct __warpbeam_member_order {
  using _Tuple = std::decay_t<decltype(std::declval<_Members&>()(std::declval<_Key&>()))>;
  static constexpr size_t __count = std::tuple_size<_Tuple>::value;

  _Members __members;
  int __begin, __end;

  // Bits in the order of the values; both zeros of a floating-point number are one.
  template <class _T>
  __host__ __device__ static auto __bits(_T __value) {
    using _Bits = typename Traits<_T>::UnsignedBits;
    _Bits __raw = reinterpret_cast<const _Bits&>(__value);
    constexpr _Bits __sign = static_cast<_Bits>(static_cast<_Bits>(1) << (8 * sizeof(_Bits) - 1));
    if (Traits<_T>::CATEGORY == FLOATING_POINT && __raw == __sign) __raw = 0;
    return Traits<_T>::TwiddleIn(__raw);
  }
  // -1, 0 or 1: of the members from _At on, which has the bits below `above`.
  template <size_t _At>
  __host__ __device__ int __compare(const _Tuple& __a, const _Tuple& __b, int __above, std::true_type) const {
    using _T = std::decay_t<std::tuple_element_t<_At, _Tuple>>;
    const int __low = __above - static_cast<int>(8 * sizeof(_T));
    auto __x = __bits<_T>(std::get<_At>(__a)), __y = __bits<_T>(std::get<_At>(__b));
    using _Bits = decltype(__x);
    const int __from = __begin > __low ? __begin - __low : 0, __to = __end < __above ? __end - __low : __above - __low;
    if (__from < __to) {
      const _Bits __upper = __to - __from == static_cast<int>(8 * sizeof(_Bits)) ? static_cast<_Bits>(-1)
                                                                 : static_cast<_Bits>((static_cast<_Bits>(1) << (__to - __from)) - 1);
      __x = static_cast<_Bits>(__x >> __from) & __upper;
      __y = static_cast<_Bits>(__y >> __from) & __upper;
      if (__x != __y) return __x < __y ? -1 : 1;
    }
    return __compare<_At + 1>(__a, __b, __low, std::integral_constant<bool, (_At + 1 < __count)>{});
  }
  template <size_t _At>
  __host__ __device__ int __compare(const _Tuple&, const _Tuple&, int, std::false_type) const {
    return 0;
  }
  template <size_t... _At>
  __host__ __device__ static constexpr int __width(std::index_sequence<_At...>) {
    int __sum = 0;
    int __each[] = {0, (__sum += static_cast<int>(8 * sizeof(std::decay_t<std::tuple_element_t<_At, _Tuple>>)))...};
    (void)__each;
    return __sum;
  }
  __host__ __device__ bool operator()(const _Key& __a, const _Key& __b) const {
    _Members __of = __members;
    _Key __x = __a, __y = __b;
    const _Tuple __p = __of(__x), __q = __of(__y);
    const int __order = __compare<0>(__p, __q, __width(std::make_index_sequence<__count>{}), std::integral_constant<bool, (__count > 0)>{});
    return _Descending ? __order > 0 : __order < 0;
  }
};

template <class _Key, class _Members>
using __warpbeam_if_members = std::enable_if_t<(std::tuple_size<std::decay_t<decltype(std::declval<_Members&>()(std::declval<_Key&>()))>>::value > 0), int>;

}  // namespace detail

struct DeviceRadixSort : __warpbeam_older_radix_sort {
#define WB_ALL_BITS 0, 0x7fffffff
#define WB_SORTS(name, pairs_name, descending)                                                                                  \
  using __warpbeam_older_radix_sort::name;                                                                                      \
  using __warpbeam_older_radix_sort::pairs_name;                                                                                \
  template <class _Key, class _Size, class _Members, detail::__warpbeam_if_members<_Key, _Members> = 0>                         \
  CUB_RUNTIME_FUNCTION static cudaError_t name(void* __storage, size_t& __bytes, const _Key* __in, _Key* __out, _Size __n,      \
                                               _Members __members, int __begin, int __end, cudaStream_t __stream = nullptr) {   \
    return DeviceMergeSort::SortKeysCopy(__storage, __bytes, __in, __out, __n,                                                  \
                                         detail::__warpbeam_member_order<_Key, _Members, descending>{__members, __begin, __end},      \
                                         __stream);                                                                             \
  }                                                                                                                             \
  template <class _Key, class _Size, class _Members, detail::__warpbeam_if_members<_Key, _Members> = 0>                         \
  CUB_RUNTIME_FUNCTION static cudaError_t name(void* __storage, size_t& __bytes, const _Key* __in, _Key* __out, _Size __n,      \
                                               _Members __members, cudaStream_t __stream = nullptr) {                           \
    return name(__storage, __bytes, __in, __out, __n, __members, WB_ALL_BITS, __stream);                                        \
  }                                                                                                                             \
  template <class _Key, class _Size, class _Members, detail::__warpbeam_if_members<_Key, _Members> = 0>                         \
  CUB_RUNTIME_FUNCTION static cudaError_t name(void* __storage, size_t& __bytes, DoubleBuffer<_Key>& __keys, _Size __n,         \
                                               _Members __members, int __begin, int __end, cudaStream_t __stream = nullptr) {   \
    return DeviceMergeSort::StableSortKeys(__storage, __bytes, __keys.Current(), __n,                                           \
                                           detail::__warpbeam_member_order<_Key, _Members, descending>{__members, __begin, __end},    \
                                           __stream);                                                                           \
  }                                                                                                                             \
  template <class _Key, class _Size, class _Members, detail::__warpbeam_if_members<_Key, _Members> = 0>                         \
  CUB_RUNTIME_FUNCTION static cudaError_t name(void* __storage, size_t& __bytes, DoubleBuffer<_Key>& __keys, _Size __n,         \
                                               _Members __members, cudaStream_t __stream = nullptr) {                           \
    return name(__storage, __bytes, __keys, __n, __members, WB_ALL_BITS, __stream);                                             \
  }                                                                                                                             \
  template <class _Key, class _Value, class _Size, class _Members, detail::__warpbeam_if_members<_Key, _Members> = 0>           \
  CUB_RUNTIME_FUNCTION static cudaError_t pairs_name(void* __storage, size_t& __bytes, const _Key* __in, _Key* __out,           \
                                                     const _Value* __values, _Value* __sorted, _Size __n, _Members __members,   \
                                                     int __begin, int __end, cudaStream_t __stream = nullptr) {                 \
    return DeviceMergeSort::SortPairsCopy(__storage, __bytes, __in, __values, __out, __sorted, __n,                             \
                                          detail::__warpbeam_member_order<_Key, _Members, descending>{__members, __begin, __end},     \
                                          __stream);                                                                            \
  }                                                                                                                             \
  template <class _Key, class _Value, class _Size, class _Members, detail::__warpbeam_if_members<_Key, _Members> = 0>           \
  CUB_RUNTIME_FUNCTION static cudaError_t pairs_name(void* __storage, size_t& __bytes, const _Key* __in, _Key* __out,           \
                                                     const _Value* __values, _Value* __sorted, _Size __n, _Members __members,   \
                                                     cudaStream_t __stream = nullptr) {                                         \
    return pairs_name(__storage, __bytes, __in, __out, __values, __sorted, __n, __members, WB_ALL_BITS, __stream);              \
  }                                                                                                                             \
  template <class _Key, class _Value, class _Size, class _Members, detail::__warpbeam_if_members<_Key, _Members> = 0>           \
  CUB_RUNTIME_FUNCTION static cudaError_t pairs_name(void* __storage, size_t& __bytes, DoubleBuffer<_Key>& __keys,              \
                                                     DoubleBuffer<_Value>& __values, _Size __n, _Members __members, int __begin,\
                                                     int __end, cudaStream_t __stream = nullptr) {                              \
    return DeviceMergeSort::StableSortPairs(__storage, __bytes, __keys.Current(), __values.Current(), __n,                      \
                                            detail::__warpbeam_member_order<_Key, _Members, descending>{__members, __begin, __end},   \
                                            __stream);                                                                          \
  }                                                                                                                             \
  template <class _Key, class _Value, class _Size, class _Members, detail::__warpbeam_if_members<_Key, _Members> = 0>           \
  CUB_RUNTIME_FUNCTION static cudaError_t pairs_name(void* __storage, size_t& __bytes, DoubleBuffer<_Key>& __keys,              \
                                                     DoubleBuffer<_Value>& __values, _Size __n, _Members __members,             \
                                                     cudaStream_t __stream = nullptr) {                                         \
    return pairs_name(__storage, __bytes, __keys, __values, __n, __members, WB_ALL_BITS, __stream);                             \
  }
  WB_SORTS(SortKeys, SortPairs, false)
  WB_SORTS(SortKeysDescending, SortPairsDescending, true)
#undef WB_SORTS
#undef WB_ALL_BITS
};

CUB_NAMESPACE_END
#endif
