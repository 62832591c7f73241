// cub::DeviceCopy::Batched of CUB 2.1 and later: ranges copied item by item, all in one launch, a block for each.
#pragma once
#include <cub/config.cuh>

CUB_NAMESPACE_BEGIN

namespace detail {

// As items, or as bytes whatever the pointers' type.
template <bool _Bytes, class _Sources, class _Targets, class _Sizes>
__global__ void __warpbeam_copy_batch(_Sources __from, _Targets __to, _Sizes __sizes, unsigned long long __ranges) {
  for (unsigned long long __r = blockIdx.x; __r < __ranges; __r += gridDim.x) {
    const auto __source = __from[__r];
    const auto __target = __to[__r];
    const auto __n = static_cast<unsigned long long>(__sizes[__r]);
    for (unsigned long long __i = threadIdx.x; __i < __n; __i += blockDim.x) {
      if constexpr (_Bytes)
        static_cast<char*>(static_cast<void*>(__target))[__i] = static_cast<const char*>(static_cast<const void*>(__source))[__i];
      else
        *(__target + __i) = *(__source + __i);
    }
  }
}

template <bool _Bytes, class _Sources, class _Targets, class _Sizes, class _Count>
cudaError_t __warpbeam_launch_copies(void* __storage, size_t& __bytes, _Sources __from, _Targets __to, _Sizes __sizes,
                                     _Count __ranges, cudaStream_t __stream) {
  if (!__storage) return __bytes = 1, cudaSuccess;
  if (__ranges <= 0) return cudaSuccess;
  const auto __n = static_cast<unsigned long long>(__ranges);
  __warpbeam_copy_batch<_Bytes><<<static_cast<unsigned>(__n < 65536 ? __n : 65536), 256, 0, __stream>>>(__from, __to, __sizes, __n);
  return cudaPeekAtLastError();
}

}  // namespace detail

struct DeviceCopy {
  template <class _Sources, class _Targets, class _Sizes, class _Count>
  static cudaError_t Batched(void* __storage, size_t& __bytes, _Sources __from, _Targets __to, _Sizes __sizes, _Count __ranges,
                             cudaStream_t __stream = nullptr) {
    return detail::__warpbeam_launch_copies<false>(__storage, __bytes, __from, __to, __sizes, __ranges, __stream);
  }
};

CUB_NAMESPACE_END
