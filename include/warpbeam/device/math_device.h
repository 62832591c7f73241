// The mathematical functions in device code. Included before <cmath>: libstdc++'s constexpr functions count as host and
// device functions unless a device function of the same signature is known already, and these are better.
//
// What is one instruction, or a few, is written out; the rest are calls of the device library, under the names and with
// the signatures of libdevice, which the machine provides.
#ifndef WARPBEAM_DEVICE_MATH_DEVICE_H
#define WARPBEAM_DEVICE_MATH_DEVICE_H

#include "fast_math.h"

#if defined(__USE_FAST_MATH__) || defined(__CLANG_GPU_APPROX_TRANSCENDENTALS__)
#define WB_FAST_OR(fast, exact) fast
#else
#define WB_FAST_OR(fast, exact) exact
#endif
#if defined(__USE_FAST_MATH__) || defined(__WARPBEAM_APPROX_SQRT__)
#define WB_SQRT(x) wb_sqrt_approx(x)
#else
#define WB_SQRT(x) __builtin_sqrtf(x)
#endif

#define WB_LIBRARY extern "C" __attribute__((nothrow, const)) __device__
#define WB_LIBRARY_WRITES extern "C" __attribute__((nothrow)) __device__

// name: of the standard library, so also in std, with an overload for float.
#define WB_STANDARD_1(X)                                                                                            \
  X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(cosh) X(erf) X(erfc) X(expm1) X(lgamma) X(log1p)     \
  X(logb) X(sinh) X(tgamma)
// As those, where fast math has another float version.
#define WB_STANDARD_FAST_1(X) X(cos) X(exp) X(log) X(log10) X(log2) X(sin) X(tan)
#define WB_STANDARD_2(X) X(atan2) X(fdim) X(fmod) X(hypot) X(nextafter) X(remainder)
// name: CUDA's own, with an overload for float.
#define WB_CUDA_1(X) \
  X(rcbrt) X(sinpi) X(cospi) X(erfinv) X(erfcinv) X(erfcx) X(normcdf) X(normcdfinv) X(cyl_bessel_i0) X(cyl_bessel_i1) \
  X(j0) X(j1) X(y0) X(y1)
// name: one instruction each, by clang's builtin.
#define WB_INSTRUCTION_1(X) X(ceil) X(fabs) X(floor) X(nearbyint) X(rint) X(round) X(trunc)
#define WB_INSTRUCTION_2(X) X(fmax) X(fmin)

#define WB_DEFINE_DOUBLE_1(name)            \
  WB_LIBRARY double __nv_##name(double x);  \
  WB_LIBRARY float __nv_##name##f(float x); \
  WB_DEVICE double name(double x) { return __nv_##name(x); }
#define WB_DEFINE_FLOAT_1(name, call)             \
  WB_DEVICE float name##f(float x) { return call(x); } \
  WB_DEVICE float name(float x) { return name##f(x); }
#define WB_DEFINE_1(name) WB_DEFINE_DOUBLE_1(name) WB_DEFINE_FLOAT_1(name, __nv_##name##f)
WB_STANDARD_1(WB_DEFINE_1)
WB_CUDA_1(WB_DEFINE_1)

WB_STANDARD_FAST_1(WB_DEFINE_DOUBLE_1)
WB_DEFINE_FLOAT_1(cos, WB_FAST_OR(__cosf, __nv_cosf))
WB_DEFINE_FLOAT_1(sin, WB_FAST_OR(__sinf, __nv_sinf))
WB_DEFINE_FLOAT_1(tan, WB_FAST_OR(__tanf, __nv_tanf))
WB_DEFINE_FLOAT_1(exp, WB_FAST_OR(__expf, __nv_expf))
WB_DEFINE_FLOAT_1(log, WB_FAST_OR(__logf, __nv_logf))
WB_DEFINE_FLOAT_1(log2, WB_FAST_OR(__log2f, __nv_log2f))
WB_DEFINE_FLOAT_1(log10, WB_FAST_OR(__log10f, __nv_log10f))
WB_DEFINE_DOUBLE_1(exp10)
WB_DEFINE_FLOAT_1(exp10, WB_FAST_OR(__exp10f, __nv_exp10f))
WB_DEFINE_DOUBLE_1(tanh)
#if WB_HAS_ARCH(750)
WB_DEFINE_FLOAT_1(tanh, WB_FAST_OR(__tanhf, __nv_tanhf))
#else
WB_DEFINE_FLOAT_1(tanh, __nv_tanhf)
#endif
WB_DEFINE_DOUBLE_1(exp2)
WB_DEFINE_FLOAT_1(exp2, wb_exp2_approx)
WB_DEFINE_DOUBLE_1(rsqrt)
WB_DEFINE_FLOAT_1(rsqrt, wb_rsqrt_approx)

#define WB_DEFINE_INSTRUCTION_1(name)                               \
  WB_DEVICE double name(double x) { return __builtin_##name(x); }   \
  WB_DEVICE float name##f(float x) { return __builtin_##name##f(x); } \
  WB_DEVICE float name(float x) { return __builtin_##name##f(x); }
WB_INSTRUCTION_1(WB_DEFINE_INSTRUCTION_1)
WB_DEVICE double sqrt(double x) { return __builtin_sqrt(x); }
WB_DEFINE_FLOAT_1(sqrt, WB_SQRT)

#define WB_DEFINE_2(name)                                                            \
  WB_LIBRARY double __nv_##name(double x, double y);                                 \
  WB_LIBRARY float __nv_##name##f(float x, float y);                                 \
  WB_DEVICE double name(double x, double y) { return __nv_##name(x, y); }            \
  WB_DEVICE float name##f(float x, float y) { return __nv_##name##f(x, y); }         \
  WB_DEVICE float name(float x, float y) { return __nv_##name##f(x, y); }
WB_STANDARD_2(WB_DEFINE_2)
WB_DEFINE_2(rhypot)
#define WB_DEFINE_INSTRUCTION_2(name)                                                \
  WB_DEVICE double name(double x, double y) { return __builtin_##name(x, y); }       \
  WB_DEVICE float name##f(float x, float y) { return __builtin_##name##f(x, y); }    \
  WB_DEVICE float name(float x, float y) { return __builtin_##name##f(x, y); }
WB_INSTRUCTION_2(WB_DEFINE_INSTRUCTION_2)

// On the bits: through abs and neg it would flush denormals with -ftz=true.
WB_DEVICE double copysign(double x, double y) {
  const unsigned long long sign = 1ull << 63;
  return __builtin_bit_cast(double, (__builtin_bit_cast(unsigned long long, x) & ~sign) |
                                        (__builtin_bit_cast(unsigned long long, y) & sign));
}
WB_DEVICE float copysignf(float x, float y) {
  const unsigned int sign = 1u << 31;
  return __builtin_bit_cast(float, (__builtin_bit_cast(unsigned int, x) & ~sign) |
                                       (__builtin_bit_cast(unsigned int, y) & sign));
}
WB_DEVICE float copysign(float x, float y) { return copysignf(x, y); }

WB_LIBRARY double __nv_pow(double x, double y);
WB_LIBRARY float __nv_powf(float x, float y);
WB_DEVICE double pow(double x, double y) { return __nv_pow(x, y); }
WB_DEVICE float powf(float x, float y) { return WB_FAST_OR(__powf, __nv_powf)(x, y); }
WB_DEVICE float pow(float x, float y) { return powf(x, y); }

WB_DEVICE double fdivide(double x, double y) { return x / y; }
WB_DEVICE float fdividef(float x, float y) { return WB_FAST_OR(__fdividef(x, y), x / y); }
WB_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
WB_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WB_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

// Integers in or out.
WB_LIBRARY int __nv_ilogb(double x);
WB_LIBRARY int __nv_ilogbf(float x);
WB_DEVICE int ilogb(double x) { return __nv_ilogb(x); }
WB_DEVICE int ilogbf(float x) { return __nv_ilogbf(x); }
WB_DEVICE int ilogb(float x) { return __nv_ilogbf(x); }
#define WB_DEFINE_TO_INTEGER(T, name, convert_f, convert_d)          \
  WB_DEVICE T name(double x) { return (T)convert_d; }                \
  WB_DEVICE T name##f(float x) { return (T)convert_f; }              \
  WB_DEVICE T name(float x) { return (T)convert_f; }
WB_DEFINE_TO_INTEGER(long, lrint, __nvvm_f2ll_rn(x), __nvvm_d2ll_rn(x))
WB_DEFINE_TO_INTEGER(long long, llrint, __nvvm_f2ll_rn(x), __nvvm_d2ll_rn(x))
// Casts saturate.
WB_DEFINE_TO_INTEGER(long, lround, roundf(x), round(x))
WB_DEFINE_TO_INTEGER(long long, llround, roundf(x), round(x))
#define WB_DEFINE_SCALE(name)                                                      \
  WB_LIBRARY double __nv_##name(double x, int n);                                  \
  WB_LIBRARY float __nv_##name##f(float x, int n);                                 \
  WB_DEVICE double name(double x, int n) { return __nv_##name(x, n); }             \
  WB_DEVICE float name##f(float x, int n) { return __nv_##name##f(x, n); }         \
  WB_DEVICE float name(float x, int n) { return __nv_##name##f(x, n); }
WB_DEFINE_SCALE(ldexp)
WB_DEFINE_SCALE(scalbn)
// Beyond ±10000 every finite number has over- or underflown.
WB_DEVICE int wb_clamp_exponent(long n) { return (int)(n > 10000 ? 10000 : n < -10000 ? -10000 : n); }
WB_DEVICE double scalbln(double x, long n) { return scalbn(x, wb_clamp_exponent(n)); }
WB_DEVICE float scalblnf(float x, long n) { return scalbnf(x, wb_clamp_exponent(n)); }
WB_DEVICE float scalbln(float x, long n) { return scalbnf(x, wb_clamp_exponent(n)); }
#define WB_DEFINE_ORDER(name)                                                 \
  WB_LIBRARY double __nv_##name(int n, double x);                             \
  WB_LIBRARY float __nv_##name##f(int n, float x);                            \
  WB_DEVICE double name(int n, double x) { return __nv_##name(n, x); }        \
  WB_DEVICE float name##f(int n, float x) { return __nv_##name##f(n, x); }    \
  WB_DEVICE float name(int n, float x) { return __nv_##name##f(n, x); }
WB_DEFINE_ORDER(jn)
WB_DEFINE_ORDER(yn)

// A second result through a pointer. Those of float come in one value, the integer above, so that its place need not be in memory.
WB_DEVICE float wb_split(unsigned long long both, int* second) {
  *second = (int)(both >> 32);
  return __builtin_bit_cast(float, (unsigned int)both);
}
WB_LIBRARY_WRITES double __nv_frexp(double x, int* exponent);
WB_LIBRARY_WRITES float __nv_frexpf(float x, int* exponent);
WB_LIBRARY unsigned long long __nv_frexpf_both(float x);
WB_DEVICE double frexp(double x, int* exponent) { return __nv_frexp(x, exponent); }
WB_DEVICE float frexpf(float x, int* exponent) { return wb_split(__nv_frexpf_both(x), exponent); }
WB_DEVICE float frexp(float x, int* exponent) { return frexpf(x, exponent); }
// Plain arithmetic, so that the place of the second result need not be in memory. NaNs of double are x's, those of float have no sign.
#define WB_DEFINE_MODF(T, name)                                                    \
  WB_DEVICE T name(T x, T* whole) {                                                \
    const T w = trunc(x), rest = copysign(__builtin_isinf(x) ? T(0) : x - w, x);   \
    *whole = w;                                                                    \
    return sizeof(T) == 4 && x != x ? x + x : rest;                                \
  }
WB_DEFINE_MODF(double, modf)
WB_DEFINE_MODF(float, modff)
WB_DEFINE_MODF(float, modf)
WB_LIBRARY_WRITES double __nv_remquo(double x, double y, int* quotient);
WB_LIBRARY_WRITES float __nv_remquof(float x, float y, int* quotient);
WB_LIBRARY unsigned long long __nv_remquof_both(float x, float y);
WB_DEVICE double remquo(double x, double y, int* quotient) { return __nv_remquo(x, y, quotient); }
WB_DEVICE float remquof(float x, float y, int* quotient) { return wb_split(__nv_remquof_both(x, y), quotient); }
WB_DEVICE float remquo(float x, float y, int* quotient) { return remquof(x, y, quotient); }
#define WB_DEFINE_SINCOS(name, fast)                                                                   \
  WB_LIBRARY_WRITES void __nv_##name(double x, double* sine, double* cosine);                          \
  WB_LIBRARY_WRITES void __nv_##name##f(float x, float* sine, float* cosine);                          \
  WB_DEVICE void name(double x, double* sine, double* cosine) { __nv_##name(x, sine, cosine); }        \
  WB_DEVICE void name##f(float x, float* sine, float* cosine) { fast(x, sine, cosine); }               \
  WB_DEVICE void name(float x, float* sine, float* cosine) { name##f(x, sine, cosine); }
// Both in one value, the cosine above.
#define WB_DEFINE_BOTH(name)                                                                           \
  WB_LIBRARY unsigned long long __nv_##name##_both(float x);                                           \
  WB_DEVICE void wb_##name(float x, float* sine, float* cosine) {                                      \
    const unsigned long long both = __nv_##name##_both(x);                                             \
    *sine = __builtin_bit_cast(float, (unsigned int)both);                                             \
    *cosine = __builtin_bit_cast(float, (unsigned int)(both >> 32));                                   \
  }
WB_DEFINE_BOTH(sincosf)
WB_DEFINE_BOTH(sincospif)
WB_DEFINE_SINCOS(sincos, WB_FAST_OR(__sincosf, wb_sincosf))
WB_DEFINE_SINCOS(sincospi, wb_sincospif)

// Norms.
#define WB_DEFINE_NORMS(r)                                                                             \
  WB_LIBRARY double __nv_##r##norm3d(double x, double y, double z);                                    \
  WB_LIBRARY float __nv_##r##norm3df(float x, float y, float z);                                       \
  WB_LIBRARY double __nv_##r##norm4d(double x, double y, double z, double w);                          \
  WB_LIBRARY float __nv_##r##norm4df(float x, float y, float z, float w);                              \
  WB_LIBRARY_WRITES double __nv_##r##norm(int count, const double* values);                            \
  WB_LIBRARY_WRITES float __nv_##r##normf(int count, const float* values);                             \
  WB_DEVICE double r##norm3d(double x, double y, double z) { return __nv_##r##norm3d(x, y, z); }       \
  WB_DEVICE float r##norm3df(float x, float y, float z) { return __nv_##r##norm3df(x, y, z); }         \
  WB_DEVICE double r##norm4d(double x, double y, double z, double w) { return __nv_##r##norm4d(x, y, z, w); } \
  WB_DEVICE float r##norm4df(float x, float y, float z, float w) { return __nv_##r##norm4df(x, y, z, w); }    \
  WB_DEVICE double r##norm(int count, const double* values) { return __nv_##r##norm(count, values); }  \
  WB_DEVICE float r##normf(int count, const float* values) { return __nv_##r##normf(count, values); }

WB_DEFINE_NORMS()
WB_DEFINE_NORMS(r)


// The least number is its own.
WB_DEVICE int abs(int x) { return x < 0 ? (int)(0u - (unsigned int)x) : x; }
WB_DEVICE long labs(long x) { return x < 0 ? (long)(0ul - (unsigned long)x) : x; }
WB_DEVICE long long llabs(long long x) { return x < 0 ? (long long)(0ull - (unsigned long long)x) : x; }
WB_DEVICE long abs(long x) { return labs(x); }
WB_DEVICE long long abs(long long x) { return llabs(x); }
WB_DEVICE double abs(double x) { return __builtin_fabs(x); }
WB_DEVICE float abs(float x) { return __builtin_fabsf(x); }
// The tag is ignored, as CUDA does.
WB_DEVICE double nan(const char*) { return __builtin_bit_cast(double, 0xfff8000000000000ull); }
WB_DEVICE float nanf(const char*) { return __builtin_bit_cast(float, 0x7fffffffu); }

// The C library's names for the classes of numbers.
#define WB_DEFINE_CLASS(T, f, signbit)                                            \
  WB_DEVICE int __isnan##f(T x) { return __builtin_isnan(x); }                    \
  WB_DEVICE int __isinf##f(T x) { return __builtin_isinf(x); }                    \
  WB_DEVICE int __finite##f(T x) { return __builtin_isfinite(x); }                \
  WB_DEVICE int signbit(T x) { return __builtin_signbit(x) != 0; }
WB_DEFINE_CLASS(double, , __signbit)
WB_DEFINE_CLASS(float, f, __signbitf)
WB_DEVICE int __isfinited(double x) { return __builtin_isfinite(x); }
WB_DEVICE int __signbitd(double x) { return __builtin_signbit(x) != 0; }
#undef WB_DEFINE_CLASS

namespace std {
#define WB_USING(name) using ::name;
#define WB_USING_F(name) using ::name##f;
WB_STANDARD_1(WB_USING) WB_STANDARD_1(WB_USING_F)
WB_STANDARD_FAST_1(WB_USING) WB_STANDARD_FAST_1(WB_USING_F)
WB_STANDARD_2(WB_USING) WB_STANDARD_2(WB_USING_F)
WB_INSTRUCTION_1(WB_USING) WB_INSTRUCTION_1(WB_USING_F)
WB_INSTRUCTION_2(WB_USING) WB_INSTRUCTION_2(WB_USING_F)
#define WB_OTHER_STANDARD(X)                                                                              \
  X(copysign) X(exp2) X(tanh) X(sqrt) X(pow) X(fma) X(ilogb) X(lrint) X(llrint) X(lround) X(llround) X(ldexp) X(scalbn) \
  X(scalbln) X(frexp) X(modf) X(remquo) X(nan)
WB_OTHER_STANDARD(WB_USING) WB_OTHER_STANDARD(WB_USING_F)
WB_USING(abs) WB_USING(labs) WB_USING(llabs)
#undef WB_USING
#undef WB_USING_F
}  // namespace std

#undef WB_DEFINE_DOUBLE_1
#undef WB_DEFINE_FLOAT_1
#undef WB_DEFINE_1
#undef WB_DEFINE_INSTRUCTION_1
#undef WB_DEFINE_2
#undef WB_DEFINE_INSTRUCTION_2
#undef WB_DEFINE_TO_INTEGER
#undef WB_DEFINE_SCALE
#undef WB_DEFINE_ORDER
#undef WB_DEFINE_SPLIT
#undef WB_DEFINE_SINCOS
#undef WB_DEFINE_NORMS

#endif
