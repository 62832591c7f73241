// `new` of types that are aligned to more than malloc's 16 bytes. The compiler's <new> has the other operators for kernels.
#ifndef WARPBEAM_DEVICE_ALIGNED_NEW_H
#define WARPBEAM_DEVICE_ALIGNED_NEW_H

#include <new>

#ifdef __cpp_aligned_new
__device__ inline void* operator new(__SIZE_TYPE__ size, std::align_val_t alignment) {
  return __nv_aligned_device_malloc(size ? size : 1, (__SIZE_TYPE__)alignment);
}
__device__ inline void* operator new[](__SIZE_TYPE__ size, std::align_val_t alignment) { return ::operator new(size, alignment); }
__device__ inline void* operator new(__SIZE_TYPE__ size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return ::operator new(size, alignment);
}
__device__ inline void* operator new[](__SIZE_TYPE__ size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return ::operator new(size, alignment);
}
__device__ inline void operator delete(void* p, std::align_val_t) noexcept { ::free(p); }
__device__ inline void operator delete[](void* p, std::align_val_t) noexcept { ::free(p); }
__device__ inline void operator delete(void* p, __SIZE_TYPE__, std::align_val_t) noexcept { ::free(p); }
__device__ inline void operator delete[](void* p, __SIZE_TYPE__, std::align_val_t) noexcept { ::free(p); }
__device__ inline void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { ::free(p); }
__device__ inline void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { ::free(p); }
#endif

#endif
