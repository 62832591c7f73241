// Debian's cub::DeviceHistogram, which newer versions also give the channels' bins and levels in arrays of cuda::std.
#pragma once
#define DeviceHistogram __warpbeam_older_histogram
#include_next <cub/device/device_histogram.cuh>
#undef DeviceHistogram

#include <cuda/std/array>

CUB_NAMESPACE_BEGIN

struct DeviceHistogram : __warpbeam_older_histogram {
  using __warpbeam_older_histogram::MultiHistogramEven;
  using __warpbeam_older_histogram::MultiHistogramRange;

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
