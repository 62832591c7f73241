// cub::DeviceMemcpy::Batched of CUB 2.0 and later: buffers of bytes copied in one launch, a block for each.
#pragma once
#include "device_copy.cuh"

CUB_NAMESPACE_BEGIN

struct DeviceMemcpy {
  template <class _Sources, class _Targets, class _Sizes, class _Count>
  static cudaError_t Batched(void* __storage, size_t& __bytes, _Sources __from, _Targets __to, _Sizes __sizes, _Count __buffers,
                             cudaStream_t __stream = nullptr) {
    return detail::__warpbeam_launch_copies<true>(__storage, __bytes, __from, __to, __sizes, __buffers, __stream);
  }
};

CUB_NAMESPACE_END
