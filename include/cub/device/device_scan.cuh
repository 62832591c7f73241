// Debian's cub::DeviceScan, and what newer versions have: scans in place, and inclusive scans that begin with a value.
#pragma once
#if __cplusplus < 201402L
#include_next <cub/device/device_scan.cuh>
#else
#define DeviceScan __warpbeam_older_scan
#include_next <cub/device/device_scan.cuh>
#undef DeviceScan

#include <iterator>
#include <type_traits>

CUB_NAMESPACE_BEGIN

namespace detail {

// A sequence whose first item is already joined with a value.
template <class _Iterator, class _Op, class _Value>
struct __warpbeam_joined_first {
  using value_type = std::decay_t<decltype(std::declval<_Op&>()(std::declval<_Value&>(), *std::declval<_Iterator&>()))>;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = value_type;
  using iterator_category = std::random_access_iterator_tag;

  _Iterator __first;
  _Op __op;
  _Value __value;
  difference_type __at = 0;

  __host__ __device__ value_type operator[](difference_type __i) const {
    if (__at + __i != 0) return static_cast<value_type>(*(__first + (__at + __i)));
    _Op __copy = __op;
    return __copy(__value, *__first);
  }
  __host__ __device__ value_type operator*() const { return (*this)[0]; }
  __host__ __device__ __warpbeam_joined_first operator+(difference_type __n) const {
    return {__first, __op, __value, __at + __n};
  }
  __host__ __device__ __warpbeam_joined_first& operator+=(difference_type __n) {
    __at += __n;
    return *this;
  }
  __host__ __device__ __warpbeam_joined_first& operator++() { return *this += 1; }
  __host__ __device__ difference_type operator-(const __warpbeam_joined_first& __other) const { return __at - __other.__at; }
};

template <class _Size>
using __warpbeam_if_size = std::enable_if_t<std::is_integral<_Size>::value, int>;

}  // namespace detail

struct DeviceScan : __warpbeam_older_scan {
  using __warpbeam_older_scan::ExclusiveScan;
  using __warpbeam_older_scan::ExclusiveSum;
  using __warpbeam_older_scan::InclusiveScan;
  using __warpbeam_older_scan::InclusiveSum;

  template <class _Iterator, class _Size, detail::__warpbeam_if_size<_Size> = 0>
  CUB_RUNTIME_FUNCTION static cudaError_t ExclusiveSum(void* __storage, size_t& __bytes, _Iterator __data, _Size __n,
                                                       cudaStream_t __stream = nullptr) {
    return ExclusiveSum(__storage, __bytes, __data, __data, __n, __stream);
  }
  template <class _Iterator, class _Size, detail::__warpbeam_if_size<_Size> = 0>
  CUB_RUNTIME_FUNCTION static cudaError_t InclusiveSum(void* __storage, size_t& __bytes, _Iterator __data, _Size __n,
                                                       cudaStream_t __stream = nullptr) {
    return InclusiveSum(__storage, __bytes, __data, __data, __n, __stream);
  }
  template <class _Iterator, class _Op, class _Value, class _Size, detail::__warpbeam_if_size<_Size> = 0>
  CUB_RUNTIME_FUNCTION static cudaError_t ExclusiveScan(void* __storage, size_t& __bytes, _Iterator __data, _Op __op,
                                                        _Value __value, _Size __n, cudaStream_t __stream = nullptr) {
    return ExclusiveScan(__storage, __bytes, __data, __data, __op, __value, __n, __stream);
  }
  template <class _Iterator, class _Op, class _Size, detail::__warpbeam_if_size<_Size> = 0>
  CUB_RUNTIME_FUNCTION static cudaError_t InclusiveScan(void* __storage, size_t& __bytes, _Iterator __data, _Op __op, _Size __n,
                                                        cudaStream_t __stream = nullptr) {
    return InclusiveScan(__storage, __bytes, __data, __data, __op, __n, __stream);
  }
  template <class _In, class _Out, class _Op, class _Value, class _Size>
  CUB_RUNTIME_FUNCTION static cudaError_t InclusiveScanInit(void* __storage, size_t& __bytes, _In __in, _Out __out, _Op __op,
                                                            _Value __value, _Size __n, cudaStream_t __stream = nullptr) {
    return InclusiveScan(__storage, __bytes, detail::__warpbeam_joined_first<_In, _Op, _Value>{__in, __op, __value}, __out, __op,
                         __n, __stream);
  }
};

CUB_NAMESPACE_END
#endif
