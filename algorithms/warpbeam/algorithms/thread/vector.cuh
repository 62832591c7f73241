// Wide, cache-aware loads and stores of one thread.
#pragma once

#include "../config.cuh"

namespace warpbeam {

namespace detail {

// Types whose size is no power of two go one at a time, as they lie.
template <class T, int N>
constexpr size_t vector_alignment() {
  constexpr size_t kBytes = sizeof(T) * N;
  return (kBytes & (kBytes - 1)) == 0 ? kBytes : alignof(T);
}

}  // namespace detail

template <class T, int N>
struct alignas(detail::vector_alignment<T, N>()) Vector {
  T item[N];
};

// How many items of T make one 16-byte access; 1 where the size does not divide.
template <class T>
inline constexpr int kVectorItems = (16 % sizeof(T) == 0 && sizeof(T) <= 16) ? 16 / static_cast<int>(sizeof(T)) : 1;

template <class T>
__host__ __device__ bool is_aligned(const T* pointer, size_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// A 16-byte load of data that will not be read again.
template <class T, int N>
__device__ Vector<T, N> load_streaming(const T* pointer) {
  static_assert(sizeof(T) * N == 16, "one streaming load is 16 bytes");
  uint4 raw = __ldcs(reinterpret_cast<const uint4*>(pointer));
  return *reinterpret_cast<Vector<T, N>*>(&raw);
}

template <class T, int N>
__device__ void store_streaming(T* pointer, const Vector<T, N>& value) {
  static_assert(sizeof(T) * N == 16, "one streaming store is 16 bytes");
  __stcs(reinterpret_cast<uint4*>(pointer), *reinterpret_cast<const uint4*>(&value));
}

}  // namespace warpbeam
