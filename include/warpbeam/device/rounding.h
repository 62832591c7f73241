// Arithmetic and conversions with the rounding mode in the name: __fadd_rz, __drcp_ru, __float2int_rn … They are never
// contracted into fused operations. CUDA's rn, rz, ru, rd are the instructions' rn, rz, rp, rm.
#ifndef WARPBEAM_DEVICE_ROUNDING_H
#define WARPBEAM_DEVICE_ROUNDING_H

#include "fast_math.h"

#define WB_ROUNDINGS(X, ...) X(rn, rn, __VA_ARGS__) X(rz, rz, __VA_ARGS__) X(ru, rp, __VA_ARGS__) X(rd, rm, __VA_ARGS__)

// __fadd_rn, __fsub_rn … and __dadd_rn …
#define WB_DEFINE_ARITHMETIC(r, ptx, unused)                                                                   \
  WB_DEVICE float __fadd_##r(float x, float y) {                                                               \
    return WB_FTZ(__nvvm_add_##ptx##_f(x, y), __nvvm_add_##ptx##_ftz_f(x, y));                                 \
  }                                                                                                            \
  WB_DEVICE float __fsub_##r(float x, float y) { return __fadd_##r(x, -y); }                                   \
  WB_DEVICE float __fmul_##r(float x, float y) {                                                               \
    return WB_FTZ(__nvvm_mul_##ptx##_f(x, y), __nvvm_mul_##ptx##_ftz_f(x, y));                                 \
  }                                                                                                            \
  WB_DEVICE float __fdiv_##r(float x, float y) {                                                               \
    return WB_FTZ(__nvvm_div_##ptx##_f(x, y), __nvvm_div_##ptx##_ftz_f(x, y));                                 \
  }                                                                                                            \
  WB_DEVICE float __fmaf_##r(float x, float y, float z) {                                                      \
    return WB_FTZ(__nvvm_fma_##ptx##_f(x, y, z), __nvvm_fma_##ptx##_ftz_f(x, y, z));                           \
  }                                                                                                            \
  WB_DEVICE float __fmaf_ieee_##r(float x, float y, float z) { return __nvvm_fma_##ptx##_f(x, y, z); }         \
  WB_DEVICE float __frcp_##r(float x) { return WB_FTZ(__nvvm_rcp_##ptx##_f(x), __nvvm_rcp_##ptx##_ftz_f(x)); } \
  WB_DEVICE float __fsqrt_##r(float x) {                                                                       \
    return WB_FTZ(__nvvm_sqrt_##ptx##_f(x), __nvvm_sqrt_##ptx##_ftz_f(x));                                     \
  }                                                                                                            \
  WB_DEVICE double __dadd_##r(double x, double y) { return __nvvm_add_##ptx##_d(x, y); }                       \
  WB_DEVICE double __dsub_##r(double x, double y) { return __nvvm_add_##ptx##_d(x, -y); }                      \
  WB_DEVICE double __dmul_##r(double x, double y) { return __nvvm_mul_##ptx##_d(x, y); }                       \
  WB_DEVICE double __ddiv_##r(double x, double y) { return __nvvm_div_##ptx##_d(x, y); }                       \
  WB_DEVICE double __fma_##r(double x, double y, double z) { return __nvvm_fma_##ptx##_d(x, y, z); }           \
  WB_DEVICE double __drcp_##r(double x) { return __nvvm_rcp_##ptx##_d(x); }                                    \
  WB_DEVICE double __dsqrt_##r(double x) { return __nvvm_sqrt_##ptx##_d(x); }
WB_ROUNDINGS(WB_DEFINE_ARITHMETIC, )

// Correctly rounded, unlike rsqrtf.
extern "C" __attribute__((nothrow, const)) __device__ float __nv_frsqrt_rn(float x);
WB_DEVICE float __frsqrt_rn(float x) { return __nv_frsqrt_rn(x); }

// __float2int_rn …, __double2int_rn …; towards zero a cast goes, which saturates as well. (Of the builtin for it LLVM makes
// a cast that does not, where it knows the number.)
#define WB_BUILTIN_OR_CAST_rn(T, x, builtin) (T)(builtin)
#define WB_BUILTIN_OR_CAST_rz(T, x, builtin) (T)(x)
#define WB_BUILTIN_OR_CAST_ru(T, x, builtin) (T)(builtin)
#define WB_BUILTIN_OR_CAST_rd(T, x, builtin) (T)(builtin)
#define WB_DEFINE_TO_INTEGER(r, ptx, T, name, code)                                                                \
  WB_DEVICE T __float2##name##_##r(float x) {                                                                      \
    return WB_BUILTIN_OR_CAST_##r(T, x, WB_FTZ(__nvvm_f2##code##_##ptx(x), __nvvm_f2##code##_##ptx##_ftz(x)));     \
  }                                                                                                                \
  WB_DEVICE T __double2##name##_##r(double x) { return WB_BUILTIN_OR_CAST_##r(T, x, __nvvm_d2##code##_##ptx(x)); }
WB_ROUNDINGS(WB_DEFINE_TO_INTEGER, int, int, i)
WB_ROUNDINGS(WB_DEFINE_TO_INTEGER, unsigned int, uint, ui)
WB_ROUNDINGS(WB_DEFINE_TO_INTEGER, long long, ll, ll)
WB_ROUNDINGS(WB_DEFINE_TO_INTEGER, unsigned long long, ull, ull)

// __int2float_rn …; the 32-bit integers are exact in double, so CUDA names only _rn for them. (clang 19's builtins for
// these conversions all round to nearest.)
#define WB_DEFINE_FROM_INTEGER(r, ptx, T, name, type, constraint)                     \
  WB_DEVICE float __##name##2float_##r(T x) {                                         \
    float result;                                                                     \
    asm("cvt." #ptx ".f32." type " %0, %1;" : "=f"(result) : constraint(x));          \
    return result;                                                                    \
  }
#define WB_DEFINE_FROM_LONG(r, ptx, T, name, type)                                    \
  WB_DEVICE double __##name##2double_##r(T x) {                                       \
    double result;                                                                    \
    asm("cvt." #ptx ".f64." type " %0, %1;" : "=d"(result) : "l"(x));                 \
    return result;                                                                    \
  }
WB_ROUNDINGS(WB_DEFINE_FROM_INTEGER, int, int, "s32", "r")
WB_ROUNDINGS(WB_DEFINE_FROM_INTEGER, unsigned int, uint, "u32", "r")
WB_ROUNDINGS(WB_DEFINE_FROM_INTEGER, long long, ll, "s64", "l")
WB_ROUNDINGS(WB_DEFINE_FROM_INTEGER, unsigned long long, ull, "u64", "l")
WB_ROUNDINGS(WB_DEFINE_FROM_LONG, long long, ll, "s64")
WB_ROUNDINGS(WB_DEFINE_FROM_LONG, unsigned long long, ull, "u64")
WB_DEVICE double __int2double_rn(int x) { return (double)x; }
WB_DEVICE double __uint2double_rn(unsigned int x) { return (double)x; }

#define WB_DEFINE_NARROWING(r, ptx, unused)                                \
  WB_DEVICE float __double2float_##r(double x) {                           \
    return WB_FTZ(__nvvm_d2f_##ptx(x), __nvvm_d2f_##ptx##_ftz(x));         \
  }
WB_ROUNDINGS(WB_DEFINE_NARROWING, )

#undef WB_DEFINE_ARITHMETIC
#undef WB_DEFINE_TO_INTEGER
#undef WB_BUILTIN_OR_CAST_rn
#undef WB_BUILTIN_OR_CAST_rz
#undef WB_BUILTIN_OR_CAST_ru
#undef WB_BUILTIN_OR_CAST_rd
#undef WB_DEFINE_FROM_INTEGER
#undef WB_DEFINE_FROM_LONG
#undef WB_DEFINE_NARROWING

// Bits
WB_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
WB_DEVICE unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
WB_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
WB_DEVICE float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
WB_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
WB_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
WB_DEVICE int __double2hiint(double x) { return __nvvm_d2i_hi(x); }
WB_DEVICE int __double2loint(double x) { return __nvvm_d2i_lo(x); }
WB_DEVICE double __hiloint2double(int high, int low) { return __nvvm_lohi_i2d(low, high); }

#endif
