// cub::DeviceMemcpy::Batched of CUB 2.0 and later: buffers of bytes copied in one launch, a block for each.
#pragma once
#include <cub/config.cuh>

CUB_NAMESPACE_BEGIN

namespace detail {

template <class _Sources, class _Targets, class _Sizes>
__global__ void __warpbeam_memcpy_batch(_Sources __from, _Targets __to, _Sizes __sizes, unsigned long long __buffers) {
  for (unsigned long long __b = blockIdx.x; __b < __buffers; __b += gridDim.x) {
    const char* __source = static_cast<const char*>(static_cast<const void*>(__from[__b]));
    char* __target = static_cast<char*>(static_cast<void*>(__to[__b]));
    const auto __n = static_cast<unsigned long long>(__sizes[__b]);
    for (unsigned long long __i = threadIdx.x; __i < __n; __i += blockDim.x) __target[__i] = __source[__i];
  }
}

}  // namespace detail

struct DeviceMemcpy {
  template <class _Sources, class _Targets, class _Sizes, class _Count>
  static cudaError_t Batched(void* __storage, size_t& __bytes, _Sources __from, _Targets __to, _Sizes __sizes, _Count __buffers,
                             cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    if (__buffers <= 0) return cudaSuccess;
    const auto __n = static_cast<unsigned long long>(__buffers);
    detail::__warpbeam_memcpy_batch<<<static_cast<unsigned>(__n < 65536 ? __n : 65536), 256, 0, __stream>>>(__from, __to, __sizes, __n);
    return cudaPeekAtLastError();
  }
};

CUB_NAMESPACE_END
