// Complex numbers as float2 and double2, for C and C++, host and device.
#ifndef WARPBEAM_CUCOMPLEX_H
#define WARPBEAM_CUCOMPLEX_H
#define CU_COMPLEX_H_
#include "warpbeam/hide_macros.h"

#include <math.h>

#include "warpbeam/device/vector_functions.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define WB_DEFINE_COMPLEX(T, C, Name, f, root, magnitude, Most)                                                  \
  WB_HOST_DEVICE C make_##Name(T real, T imaginary) {                                                            \
    C z;                                                                                                         \
    z.x = real;                                                                                                  \
    z.y = imaginary;                                                                                             \
    return z;                                                                                                    \
  }                                                                                                              \
  WB_HOST_DEVICE T cuCreal##f(C z) { return z.x; }                                                               \
  WB_HOST_DEVICE T cuCimag##f(C z) { return z.y; }                                                               \
  WB_HOST_DEVICE C cuConj##f(C z) { return make_##Name(z.x, -z.y); }                                             \
  WB_HOST_DEVICE C cuCadd##f(C a, C b) { return make_##Name(a.x + b.x, a.y + b.y); }                             \
  WB_HOST_DEVICE C cuCsub##f(C a, C b) { return make_##Name(a.x - b.x, a.y - b.y); }                             \
  WB_HOST_DEVICE C cuCmul##f(C a, C b) {                                                                         \
    return make_##Name(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                            \
  }                                                                                                              \
  /* Scaling by the size of the divisor keeps its square from over- and underflowing. */                         \
  WB_HOST_DEVICE C cuCdiv##f(C a, C b) {                                                                         \
    const T size = magnitude(b.x) + magnitude(b.y);                                                              \
    const T scale = (T)1 / size;                                                                                 \
    const T ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                              \
    const T inverse = (T)1 / (bx * bx + by * by);                                                                \
    return make_##Name((ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse);                            \
  }                                                                                                              \
  /* The larger part times a root between 1 and 2; unlike hypot this takes an infinity beside a NaN for a NaN. */ \
  WB_HOST_DEVICE T cuCabs##f(C z) {                                                                              \
    const T x = magnitude(z.x), y = magnitude(z.y), high = x > y ? x : y, low = x > y ? y : x;                   \
    if (high == 0 || high > Most || low > Most) return high + low;                                               \
    const T ratio = low / high;                                                                                  \
    return high * root((T)1 + ratio * ratio);                                                                    \
  }                                                                                                              \
  WB_HOST_DEVICE C cuCfma##f(C a, C b, C c) {                                                                    \
    return make_##Name(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);                                \
  }
WB_DEFINE_COMPLEX(float, cuFloatComplex, cuFloatComplex, f, sqrtf, fabsf, __FLT_MAX__)
WB_DEFINE_COMPLEX(double, cuDoubleComplex, cuDoubleComplex, , sqrt, fabs, __DBL_MAX__)
#undef WB_DEFINE_COMPLEX

WB_HOST_DEVICE cuComplex make_cuComplex(float real, float imaginary) { return make_cuFloatComplex(real, imaginary); }
WB_HOST_DEVICE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return make_cuDoubleComplex((double)z.x, (double)z.y);
}
WB_HOST_DEVICE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return make_cuFloatComplex((float)z.x, (float)z.y);
}

#include "warpbeam/restore_macros.h"
#endif
