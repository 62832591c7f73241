// What a fetch gives: the registers of an instruction and how a texel type is made of them.
#ifndef WARPBEAM_DEVICE_TEXEL_H
#define WARPBEAM_DEVICE_TEXEL_H

#include "vector_types.h"

namespace warpbeam_device {

template <class R>
struct Quad {
  R x, y, z, w;
};

// The register type that a texel type is read in, and the texel made of four of them.
template <class T>
struct Texel;

#define WB_DEVICE_MEMBER __inline__ __attribute__((always_inline, nodebug)) __device__
#define WB_TEXEL_2(V, R)                                            \
  template <>                                                       \
  struct Texel<V> {                                                 \
    typedef R Register;                                             \
    typedef float2 Normalized;                                      \
    WB_DEVICE_MEMBER static V make(const Quad<R>& q) {              \
      V v;                                                          \
      v.x = (decltype(v.x))q.x;                                     \
      v.y = (decltype(v.y))q.y;                                     \
      return v;                                                     \
    }                                                               \
  };
#define WB_TEXEL_4(V, R)                                            \
  template <>                                                       \
  struct Texel<V> {                                                 \
    typedef R Register;                                             \
    typedef float4 Normalized;                                      \
    WB_DEVICE_MEMBER static V make(const Quad<R>& q) {              \
      V v;                                                          \
      v.x = (decltype(v.x))q.x;                                     \
      v.y = (decltype(v.y))q.y;                                     \
      v.z = (decltype(v.z))q.z;                                     \
      v.w = (decltype(v.w))q.w;                                     \
      return v;                                                     \
    }                                                               \
  };
#define WB_TEXEL_SCALAR(T, R)                                           \
  template <>                                                           \
  struct Texel<T> {                                                     \
    typedef R Register;                                                 \
    typedef float Normalized;                                           \
    WB_DEVICE_MEMBER static T make(const Quad<R>& q) { return (T)q.x; } \
  };
#define WB_TEXEL_1(V, R)                                                \
  template <>                                                           \
  struct Texel<V> {                                                     \
    typedef R Register;                                                 \
    typedef float Normalized;                                           \
    WB_DEVICE_MEMBER static V make(const Quad<R>& q) {                  \
      V v;                                                              \
      v.x = (decltype(v.x))q.x;                                         \
      return v;                                                         \
    }                                                                   \
  };
#define WB_TEXEL_FAMILY(V, one, R) WB_TEXEL_SCALAR(one, R) WB_TEXEL_1(V##1, R) WB_TEXEL_2(V##2, R) WB_TEXEL_4(V##4, R)

WB_TEXEL_SCALAR(char, int)
WB_TEXEL_FAMILY(char, signed char, int)
WB_TEXEL_FAMILY(uchar, unsigned char, unsigned int)
WB_TEXEL_FAMILY(short, short, int)
WB_TEXEL_FAMILY(ushort, unsigned short, unsigned int)
WB_TEXEL_FAMILY(int, int, int)
WB_TEXEL_FAMILY(uint, unsigned int, unsigned int)
WB_TEXEL_FAMILY(float, float, float)

#undef WB_TEXEL_SCALAR
#undef WB_TEXEL_1
#undef WB_TEXEL_2
#undef WB_TEXEL_4
#undef WB_TEXEL_FAMILY

}  // namespace warpbeam_device

#endif
