// What device code gets from the C library: printf, assert, the heap, memcpy and memset.
#ifndef WARPBEAM_DEVICE_DEVICE_RUNTIME_H
#define WARPBEAM_DEVICE_DEVICE_RUNTIME_H

#include "attributes.h"

extern "C" {
// clang turns printf into vprintf with the arguments in a buffer.
__device__ int printf(const char* format, ...);
__device__ int vprintf(const char* format, const char* arguments);
__device__ void* malloc(__SIZE_TYPE__ size) __attribute__((nothrow, malloc));
__device__ void free(void* p) __attribute__((nothrow));
__device__ void* __cuda_syscall_aligned_malloc(__SIZE_TYPE__ size, __SIZE_TYPE__ alignment) __attribute__((nothrow, malloc));
// The alignment is a power of two; `free` takes it back.
WB_DEVICE void* __nv_aligned_device_malloc(__SIZE_TYPE__ size, __SIZE_TYPE__ alignment) {
  return __cuda_syscall_aligned_malloc(size, alignment);
}
__device__ void __assertfail(const char* message, const char* file, unsigned int line, const char* function,
                             __SIZE_TYPE__ char_size);
WB_DEVICE void abort() { asm volatile("trap;"); }

// The C++ library's comparisons and string_view become calls of these.
__device__ inline int memcmp(const void* a, const void* b, __SIZE_TYPE__ size) {
  const unsigned char *p = (const unsigned char*)a, *q = (const unsigned char*)b;
  for (__SIZE_TYPE__ i = 0; i < size; i++)
    if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
  return 0;
}
__device__ inline __SIZE_TYPE__ strlen(const char* text) {
  __SIZE_TYPE__ n = 0;
  while (text[n]) n++;
  return n;
}
// Under a name of its own: in C++ the C library has two of them.
__device__ inline void* wb_memchr(const void* in, int byte, __SIZE_TYPE__ size) __asm__("memchr");
__device__ inline void* wb_memchr(const void* in, int byte, __SIZE_TYPE__ size) {
  const unsigned char* p = (const unsigned char*)in;
  for (; size > 0; size--, p++)
    if (*p == (unsigned char)byte) return (void*)p;
  return 0;
}
}

// The C library's assert calls this. With -DNDEBUG some headers declare it themselves, for the host (PyTorch) or for both sides (libcu++),
// which clang takes only beside a function with other parameters; of those that fit a kernel's own side is called.
WB_DEVICE void __assert_fail(const char* message, const char* file, unsigned int line, const char* function, int = 0) {
  __assertfail(message, file, line, function, 1);
}

WB_DEVICE void* memcpy(void* to, const void* from, __SIZE_TYPE__ size) { return __builtin_memcpy(to, from, size); }
WB_DEVICE void* memset(void* to, int value, __SIZE_TYPE__ size) { return __builtin_memset(to, value, size); }
WB_DEVICE void* memmove(void* to, const void* from, __SIZE_TYPE__ size) {
  char* t = (char*)to;
  const char* f = (const char*)from;
  if (t < f) {
    for (__SIZE_TYPE__ i = 0; i < size; i++) t[i] = f[i];
  } else {
    for (__SIZE_TYPE__ i = size; i > 0; i--) t[i - 1] = f[i - 1];
  }
  return to;
}

namespace std {
using ::free;
using ::malloc;
using ::memcpy;
using ::memmove;
using ::memset;
using ::printf;
}  // namespace std

#endif
