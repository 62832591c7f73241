// What the driver writes into a source when clang refuses what nvcc accepts (mended_text.h in the driver).
#ifndef WARPBEAM_DEVICE_MENDED_TEXT_H
#define WARPBEAM_DEVICE_MENDED_TEXT_H

// A shared variable whose constructor is not run.
template <class T>
union __warpbeam_unconstructed {
  T value;
  __host__ __device__ __warpbeam_unconstructed() {}
  __host__ __device__ ~__warpbeam_unconstructed() {}
};

// A void pointer that counts in bytes.
__host__ __device__ inline char*& __warpbeam_bytes(void*& p) { return (char*&)p; }
__host__ __device__ inline char* __warpbeam_bytes(void* const& p) { return (char*)p; }
__host__ __device__ inline const char*& __warpbeam_bytes(const void*& p) { return (const char*&)p; }
__host__ __device__ inline const char* __warpbeam_bytes(const void* const& p) { return (const char*)p; }

// An array whose size only the run knows takes the items that it was declared with; the rest is zero.
template <class T>
inline void __warpbeam_assign(T& to, const T& from) {
  to = from;
}
template <class T, unsigned long kItems>
inline void __warpbeam_assign(T (&to)[kItems], const T (&from)[kItems]) {
  for (unsigned long i = 0; i < kItems; ++i) __warpbeam_assign(to[i], from[i]);
}
template <class T, unsigned long kItems>
inline void __warpbeam_initialize(const T* to, unsigned long size, const T (&items)[kItems]) {
  const struct {
    T value;
  } zero = {};
  for (unsigned long i = 0; i < size; ++i) __warpbeam_assign(const_cast<T*>(to)[i], i < kItems ? items[i] : zero.value);
}

#endif
