// The allocator of page-locked host memory that Thrust had before version 1.17; it is thrust::mr's universal_host_pinned_memory_resource now.
#pragma once
#include <thrust/detail/config.h>

#include <cstddef>
#include <cstdint>
#include <new>

THRUST_NAMESPACE_BEGIN

namespace system {
namespace cuda {
namespace experimental {

template <class _T>
class pinned_allocator {
 public:
  using value_type = _T;
  using pointer = _T*;
  using const_pointer = const _T*;
  using reference = _T&;
  using const_reference = const _T&;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  template <class _U>
  struct rebind {
    using other = pinned_allocator<_U>;
  };

  __host__ __device__ pinned_allocator() {}
  __host__ __device__ pinned_allocator(const pinned_allocator&) {}
  template <class _U>
  __host__ __device__ pinned_allocator(const pinned_allocator<_U>&) {}
  __host__ __device__ ~pinned_allocator() {}
  pinned_allocator& operator=(const pinned_allocator&) = default;

  __host__ __device__ pointer address(reference __r) { return &__r; }
  __host__ __device__ const_pointer address(const_reference __r) const { return &__r; }
  __host__ pointer allocate(size_type __count, const_pointer = nullptr) {
    void* __p = nullptr;
    if (__count > max_size() || cudaMallocHost(&__p, __count * sizeof(_T)) != cudaSuccess) throw std::bad_alloc();
    return static_cast<pointer>(__p);
  }
  __host__ void deallocate(pointer __p, size_type) { cudaFreeHost(__p); }
  size_type max_size() const { return SIZE_MAX / sizeof(_T); }

  __host__ __device__ bool operator==(const pinned_allocator&) const { return true; }
  __host__ __device__ bool operator!=(const pinned_allocator&) const { return false; }
};

template <>
class pinned_allocator<void> {
 public:
  using value_type = void;
  using pointer = void*;
  using const_pointer = const void*;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  template <class _U>
  struct rebind {
    using other = pinned_allocator<_U>;
  };
};

}  // namespace experimental
}  // namespace cuda
}  // namespace system

namespace cuda {
namespace experimental {
using thrust::system::cuda::experimental::pinned_allocator;
}
}  // namespace cuda

THRUST_NAMESPACE_END
