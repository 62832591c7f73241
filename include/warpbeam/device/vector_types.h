// The built-in vector types and dim3, with CUDA's sizes and alignments. Also for plain C.
#ifndef WARPBEAM_DEVICE_VECTOR_TYPES_H
#define WARPBEAM_DEVICE_VECTOR_TYPES_H

#include "attributes.h"

// name, element, and the alignments of the vectors of two and of four (those of one and three have the element's).
#define WB_VECTOR_ELEMENTS(X)            \
  X(char, signed char, 2, 4)             \
  X(uchar, unsigned char, 2, 4)          \
  X(short, short, 4, 8)                  \
  X(ushort, unsigned short, 4, 8)        \
  X(int, int, 8, 16)                     \
  X(uint, unsigned int, 8, 16)           \
  X(long, long, 16, 16)                  \
  X(ulong, unsigned long, 16, 16)        \
  X(longlong, long long, 16, 16)         \
  X(ulonglong, unsigned long long, 16, 16) \
  X(float, float, 8, 16)                 \
  X(double, double, 16, 16)

// The elements of eight bytes also come as vectors of four whose alignment is in the name.
#define WB_WIDE_VECTOR_ELEMENTS(X) \
  X(long, long)                    \
  X(ulong, unsigned long)          \
  X(longlong, long long)           \
  X(ulonglong, unsigned long long) \
  X(double, double)

#define WB_DEFINE_VECTORS(name, T, align2, align4)             \
  struct name##1 { T x; };                                     \
  struct __attribute__((aligned(align2))) name##2 { T x, y; }; \
  struct name##3 { T x, y, z; };                               \
  struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };
#define WB_DEFINE_WIDE_VECTORS(name, T)                            \
  struct __attribute__((aligned(16))) name##4_16a { T x, y, z, w; }; \
  struct __attribute__((aligned(32))) name##4_32a { T x, y, z, w; };
WB_VECTOR_ELEMENTS(WB_DEFINE_VECTORS)
WB_WIDE_VECTOR_ELEMENTS(WB_DEFINE_WIDE_VECTORS)
#undef WB_DEFINE_VECTORS
#undef WB_DEFINE_WIDE_VECTORS

struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus)
#if __cplusplus >= 201103L
#define WB_CONSTEXPR constexpr
#else
#define WB_CONSTEXPR
#endif
  __host__ __device__ WB_CONSTEXPR dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ WB_CONSTEXPR dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ WB_CONSTEXPR operator uint3() const { return uint3{x, y, z}; }
#undef WB_CONSTEXPR
#endif
};

#if !defined(__cplusplus)
#define WB_NAME_VECTORS(name, T, align2, align4) \
  typedef struct name##1 name##1;                \
  typedef struct name##2 name##2;                \
  typedef struct name##3 name##3;                \
  typedef struct name##4 name##4;
#define WB_NAME_WIDE_VECTORS(name, T)      \
  typedef struct name##4_16a name##4_16a;  \
  typedef struct name##4_32a name##4_32a;
WB_VECTOR_ELEMENTS(WB_NAME_VECTORS)
WB_WIDE_VECTOR_ELEMENTS(WB_NAME_WIDE_VECTORS)
typedef struct dim3 dim3;
#undef WB_NAME_VECTORS
#undef WB_NAME_WIDE_VECTORS
#endif

#endif
