// Debian's cub::DeviceHistogram as newer versions have it: bins of whole numbers are exact where they do not divide the range, and
// the channels' bins and levels may come in arrays of cuda::std.
#pragma once
#define DeviceHistogram __warpbeam_older_histogram
#include_next <cub/device/device_histogram.cuh>
#undef DeviceHistogram

#include <cuda/std/array>
#include <type_traits>

CUB_NAMESPACE_BEGIN

// A level that stands in for a number. The older version takes (upper - lower) / bins for a bin's width, in the numbers' own
// type: a quarter of 1009 is 252, and 1008 lies in a fifth bin that there is not. Here that quotient keeps both of its parts.
template <class _T>
struct __warpbeam_level {
  _T __value;
  int __bins;

  __warpbeam_level() = default;
  template <class _Sample, class = typename ::std::enable_if<::std::is_arithmetic<_Sample>::value>::type>
  __host__ __device__ explicit __warpbeam_level(_Sample __sample) : __value(static_cast<_T>(__sample)), __bins(0) {}

  __host__ __device__ friend bool operator<(const __warpbeam_level& __a, const __warpbeam_level& __b) { return __a.__value < __b.__value; }
  __host__ __device__ friend bool operator>=(const __warpbeam_level& __a, const __warpbeam_level& __b) { return __a.__value >= __b.__value; }
  __host__ __device__ friend __warpbeam_level operator-(const __warpbeam_level& __a, const __warpbeam_level& __b) {
    return __warpbeam_level(__difference(__a.__value, __b.__value, ::std::is_integral<_T>()));
  }
  __host__ __device__ friend __warpbeam_level operator/(const __warpbeam_level& __range, int __bins) {
    __warpbeam_level __width(__range.__value);
    __width.__bins = __bins;
    return __width;
  }
  // The bin of what lies so far above the lowest level. Of floats the older version thinks that it multiplies.
  __host__ __device__ friend int operator/(const __warpbeam_level& __above, const __warpbeam_level& __width) {
    return __bin(__above.__value, __width, ::std::is_integral<_T>());
  }
  __host__ __device__ friend int operator*(const __warpbeam_level& __above, const __warpbeam_level& __width) { return __above / __width; }

 private:
  using _Wide = typename ::std::conditional<(sizeof(_T) > 4), unsigned __int128, unsigned long long>::type;
  using _Bits = typename ::std::conditional<(sizeof(_T) > 4), unsigned long long, unsigned int>::type;
  // Of whole numbers the differences may not fit into the type; they fit without a sign.
  __host__ __device__ static _T __difference(_T __a, _T __b, ::std::true_type) { return static_cast<_T>(static_cast<_Bits>(__a) - static_cast<_Bits>(__b)); }
  __host__ __device__ static _T __difference(_T __a, _T __b, ::std::false_type) { return __a - __b; }
  __host__ __device__ static _Bits __whole(_T __x) { return static_cast<_Bits>(static_cast<typename ::std::make_unsigned<_T>::type>(__x)); }
  __host__ __device__ static int __bin(_T __above, const __warpbeam_level& __width, ::std::true_type) {
    return static_cast<int>(static_cast<_Wide>(__whole(__above)) * static_cast<unsigned int>(__width.__bins) / __whole(__width.__value));
  }
  __host__ __device__ static int __bin(_T __above, const __warpbeam_level& __width, ::std::false_type) {
    return static_cast<int>(__above * (static_cast<_T>(__width.__bins) / __width.__value));
  }
};
// Numbers of 16 bits with a point are left to the older version.
template <class _Samples, class _Level, class _Sample = typename ::std::iterator_traits<_Samples>::value_type,
          bool = ::std::is_arithmetic<_Sample>::value && ::std::is_arithmetic<_Level>::value>
struct __warpbeam_level_for {
  using type = __warpbeam_level<typename ::std::common_type<_Sample, _Level>::type>;
};
template <class _Samples, class _Level, class _Sample>
struct __warpbeam_level_for<_Samples, _Level, _Sample, false> {
  using type = _Level;
};

struct DeviceHistogram : __warpbeam_older_histogram {
  using __warpbeam_older_histogram::MultiHistogramRange;

  template <class _Samples, class _Counter, class _Level, class... _Sizes>
  CUB_RUNTIME_FUNCTION static cudaError_t HistogramEven(void* __storage, size_t& __bytes, _Samples __samples, _Counter* __bins, int __levels,
                                                        _Level __lower, _Level __upper, _Sizes... __sizes) {
    using _L = typename __warpbeam_level_for<_Samples, _Level>::type;
    return __warpbeam_older_histogram::HistogramEven(__storage, __bytes, __samples, __bins, __levels, _L(__lower), _L(__upper), __sizes...);
  }
  template <int _Channels, int _Active, class _Samples, class _Counter, class _Level, class... _Sizes>
  CUB_RUNTIME_FUNCTION static cudaError_t MultiHistogramEven(void* __storage, size_t& __bytes, _Samples __samples, _Counter* __bins[_Active],
                                                             int __levels[_Active], _Level __lower[_Active], _Level __upper[_Active],
                                                             _Sizes... __sizes) {
    using _L = typename __warpbeam_level_for<_Samples, _Level>::type;
    _L __lower_[_Active], __upper_[_Active];
    for (int __c = 0; __c < _Active; ++__c) __lower_[__c] = _L(__lower[__c]), __upper_[__c] = _L(__upper[__c]);
    return __warpbeam_older_histogram::MultiHistogramEven<_Channels, _Active>(__storage, __bytes, __samples, __bins, __levels, __lower_, __upper_,
                                                                              __sizes...);
  }

#define WB_COPIES                                                        \
  int __levels_[_Active];                                                \
  _Counter* __bins_[_Active];                                            \
  for (int __c = 0; __c < _Active; ++__c) {                              \
    __levels_[__c] = __levels.data()[__c];                               \
    __bins_[__c] = __bins.data()[__c];                                   \
  }
  template <int _Channels, int _Active, class _Samples, class _Counter, class _Level, class... _Sizes>
  CUB_RUNTIME_FUNCTION static cudaError_t MultiHistogramEven(void* __storage, size_t& __bytes, _Samples __samples,
                                                             const ::cuda::std::array<_Counter*, _Active>& __bins,
                                                             const ::cuda::std::array<int, _Active>& __levels,
                                                             const ::cuda::std::array<_Level, _Active>& __lower,
                                                             const ::cuda::std::array<_Level, _Active>& __upper, _Sizes... __sizes) {
    WB_COPIES
    _Level __lower_[_Active], __upper_[_Active];
    for (int __c = 0; __c < _Active; ++__c) {
      __lower_[__c] = __lower.data()[__c];
      __upper_[__c] = __upper.data()[__c];
    }
    return MultiHistogramEven<_Channels, _Active>(__storage, __bytes, __samples, __bins_, __levels_, __lower_, __upper_, __sizes...);
  }
  template <int _Channels, int _Active, class _Samples, class _Counter, class _Level, class... _Sizes>
  CUB_RUNTIME_FUNCTION static cudaError_t MultiHistogramRange(void* __storage, size_t& __bytes, _Samples __samples,
                                                              const ::cuda::std::array<_Counter*, _Active>& __bins,
                                                              const ::cuda::std::array<int, _Active>& __levels,
                                                              const ::cuda::std::array<const _Level*, _Active>& __limits,
                                                              _Sizes... __sizes) {
    WB_COPIES
    const _Level* __limits_[_Active];
    for (int __c = 0; __c < _Active; ++__c) __limits_[__c] = __limits.data()[__c];
    return MultiHistogramRange<_Channels, _Active>(__storage, __bytes, __samples, __bins_, __levels_,
                                                   const_cast<_Level**>(__limits_), __sizes...);
  }
#undef WB_COPIES
};

CUB_NAMESPACE_END
