// make_int2 and its like.
#ifndef WARPBEAM_DEVICE_VECTOR_FUNCTIONS_H
#define WARPBEAM_DEVICE_VECTOR_FUNCTIONS_H

#include "vector_types.h"

#define WB_DEFINE_MAKERS(name, T, align2, align4)            \
  WB_HOST_DEVICE struct name##1 make_##name##1(T x) {        \
    struct name##1 v = {x};                                  \
    return v;                                                \
  }                                                          \
  WB_HOST_DEVICE struct name##2 make_##name##2(T x, T y) {   \
    struct name##2 v = {x, y};                               \
    return v;                                                \
  }                                                          \
  WB_HOST_DEVICE struct name##3 make_##name##3(T x, T y, T z) { \
    struct name##3 v = {x, y, z};                            \
    return v;                                                \
  }                                                          \
  WB_HOST_DEVICE struct name##4 make_##name##4(T x, T y, T z, T w) { \
    struct name##4 v = {x, y, z, w};                         \
    return v;                                                \
  }
#define WB_DEFINE_WIDE_MAKERS(name, T)                                       \
  WB_HOST_DEVICE struct name##4_16a make_##name##4_16a(T x, T y, T z, T w) { \
    struct name##4_16a v = {x, y, z, w};                                     \
    return v;                                                                \
  }                                                                          \
  WB_HOST_DEVICE struct name##4_32a make_##name##4_32a(T x, T y, T z, T w) { \
    struct name##4_32a v = {x, y, z, w};                                     \
    return v;                                                                \
  }
WB_VECTOR_ELEMENTS(WB_DEFINE_MAKERS)
WB_WIDE_VECTOR_ELEMENTS(WB_DEFINE_WIDE_MAKERS)
#undef WB_DEFINE_MAKERS
#undef WB_DEFINE_WIDE_MAKERS

#endif
