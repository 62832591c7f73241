// CUDA's own mathematical functions in host code, and the float overloads of those of the C library that C++ lacks.
// They are computed one step wider and rounded once.
#ifndef WARPBEAM_DEVICE_MATH_HOST_H
#define WARPBEAM_DEVICE_MATH_HOST_H

#include <math.h>

#include "attributes.h"

WB_HOST long double wb_sinpi(long double x) {
  const long double r = __builtin_remainderl(x, 2.0L);
  // Multiples of a half must come out exact, which π·r does not.
  if (r == __builtin_truncl(r)) return __builtin_copysignl(0.0L, x);
  return __builtin_sinl(3.14159265358979323846264338327950288L * r);
}
WB_HOST long double wb_cospi(long double x) {
  const long double r = __builtin_fabsl(__builtin_remainderl(x, 2.0L));
  if (r == 0.5L) return 0.0L;
  return __builtin_cosl(3.14159265358979323846264338327950288L * r);
}

// exp(x²)·erfc(x); beyond 50 by its continued fraction, as erfc underflows.
WB_HOST long double wb_erfcx(long double x) {
  if (x < 50.0L) return __builtin_expl(x * x) * __builtin_erfcl(x);
  long double fraction = x;
  for (int k = 12; k > 0; k--) fraction = x + 0.5L * k / fraction;
  return 0.564189583547756286948079451560772586L / fraction;
}

// Both inverses by Newton's method from a rational guess. In the tail it works on erfc, near zero on erf, where each
// keeps its relative accuracy.
WB_HOST long double wb_erfcinv(long double y) {
  if (!(y >= 0.0L && y <= 2.0L)) return __builtin_nanl("");
  if (y == 0.0L) return __builtin_infl();
  if (y > 1.0L) return -wb_erfcinv(2.0L - y);
  if (y > 0.5L) {
    const long double x = 1.0L - y;
    long double z = 0.886226925452758013649L * x;
    for (int i = 0; i < 6; i++) {
      z -= (__builtin_erfl(z) - x) / (1.12837916709551257389615890312154517L * __builtin_expl(-z * z));
    }
    return z;
  }
  const long double t = __builtin_sqrtl(-2.0L * __builtin_logl(0.5L * y));
  long double z = 0.707106781186547524L * (t - (2.30753L + 0.27061L * t) / (1.0L + t * (0.99229L + 0.04481L * t)));
  for (int i = 0; i < 5; i++) {
    const long double error = __builtin_erfcl(z) - y;
    z += error / (1.12837916709551257389615890312154517L * __builtin_expl(-z * z) - z * error);
  }
  return z;
}
WB_HOST long double wb_erfinv(long double x) {
  if (!(x >= -1.0L && x <= 1.0L)) return __builtin_nanl("");
  if (x == 0.0L) return x;
  if (x > 0.5L) return wb_erfcinv(1.0L - x);
  if (x < -0.5L) return -wb_erfcinv(1.0L + x);
  long double z = 0.886226925452758013649L * x;
  for (int i = 0; i < 6; i++) {
    z -= (__builtin_erfl(z) - x) / (1.12837916709551257389615890312154517L * __builtin_expl(-z * z));
  }
  return z;
}
WB_HOST long double wb_normcdf(long double x) { return 0.5L * __builtin_erfcl(-0.707106781186547524400844362104849039L * x); }
WB_HOST long double wb_normcdfinv(long double p) { return -1.41421356237309504880168872420969808L * wb_erfcinv(2.0L * p); }
WB_HOST long double wb_rsqrt(long double x) { return 1.0L / __builtin_sqrtl(x); }
WB_HOST long double wb_rcbrt(long double x) { return 1.0L / __builtin_cbrtl(x); }

#define WB_DEFINE_HOST_FLOAT(name) \
  WB_HOST float name(float x) { return (float)wb_##name(x); }
#define WB_DEFINE_HOST_1(name)                                   \
  WB_HOST double name(double x) { return (double)wb_##name(x); } \
  WB_HOST float name##f(float x) { return (float)wb_##name(x); } \
  WB_DEFINE_HOST_FLOAT(name)
// Some of them C has since 2023, and glibc declares them.
#if __GLIBC_PREREQ(2, 41)
WB_DEFINE_HOST_FLOAT(sinpi)
WB_DEFINE_HOST_FLOAT(cospi)
#else
WB_DEFINE_HOST_1(sinpi)
WB_DEFINE_HOST_1(cospi)
#endif
WB_DEFINE_HOST_1(erfcx)
WB_DEFINE_HOST_1(erfcinv)
WB_DEFINE_HOST_1(erfinv)
WB_DEFINE_HOST_1(normcdf)
WB_DEFINE_HOST_1(normcdfinv)
#if __GLIBC_PREREQ(2, 42)
WB_DEFINE_HOST_FLOAT(rsqrt)
#else
WB_DEFINE_HOST_1(rsqrt)
#endif
WB_DEFINE_HOST_1(rcbrt)

WB_HOST double fdivide(double x, double y) { return x / y; }
WB_HOST float fdividef(float x, float y) { return x / y; }
WB_HOST void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
WB_HOST void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
WB_HOST void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }

// The norms are device functions in CUDA; on the host they are a courtesy.
WB_HOST long double wb_norm(int count, long double x, long double y, long double z, long double w) {
  return count == 3 ? __builtin_sqrtl(x * x + y * y + z * z) : __builtin_sqrtl(x * x + y * y + z * z + w * w);
}
#define WB_DEFINE_HOST_NORMS(T, suffix)                                                                           \
  WB_HOST T norm3d##suffix(T x, T y, T z) { return (T)wb_norm(3, x, y, z, 0); }                                   \
  WB_HOST T norm4d##suffix(T x, T y, T z, T w) { return (T)wb_norm(4, x, y, z, w); }                              \
  WB_HOST T rnorm3d##suffix(T x, T y, T z) { return (T)(1 / wb_norm(3, x, y, z, 0)); }                            \
  WB_HOST T rnorm4d##suffix(T x, T y, T z, T w) { return (T)(1 / wb_norm(4, x, y, z, w)); }                       \
  WB_HOST T rhypot##suffix(T x, T y) { return (T)(1 / wb_norm(3, x, y, 0, 0)); }
WB_DEFINE_HOST_NORMS(double, )
WB_DEFINE_HOST_NORMS(float, f)

#if defined(__USE_GNU)
WB_HOST float exp10(float x) { return ::exp10f(x); }
WB_HOST void sincos(float x, float* sine, float* cosine) { ::sincosf(x, sine, cosine); }
#endif
#if defined(__USE_MISC)
WB_HOST float j0(float x) { return ::j0f(x); }
WB_HOST float j1(float x) { return ::j1f(x); }
WB_HOST float jn(int n, float x) { return ::jnf(n, x); }
WB_HOST float y0(float x) { return ::y0f(x); }
WB_HOST float y1(float x) { return ::y1f(x); }
WB_HOST float yn(int n, float x) { return ::ynf(n, x); }
#endif

#undef WB_DEFINE_HOST_1
#undef WB_DEFINE_HOST_FLOAT
#undef WB_DEFINE_HOST_NORMS

#endif
