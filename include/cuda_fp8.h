// The two 8-bit floating-point formats: conversions, on the device and on the host.
#ifndef WARPBEAM_CUDA_FP8_H
#define WARPBEAM_CUDA_FP8_H
#define __CUDA_FP8_H__
#pragma GCC system_header
#include "warpbeam/hide_macros.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"
#include "vector_functions.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#ifdef __cplusplus  // C sees the types

// Rounded once, from double, which holds every source exactly. e4m3 has no infinities: its largest pattern is NaN, and
// the one below it the largest number. Of a NaN it keeps the sign; e5m2 also keeps the bits that it has.
WB_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                         const __nv_fp8_interpretation_t kind) {
  const int significand = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  const unsigned int largest = kind == __NV_E4M3 ? 0x7e : 0x7b;
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
  const unsigned int sign = (unsigned int)(bits >> 56) & 0x80;
  if (x != x) return (__nv_fp8_storage_t)(sign | (kind == __NV_E4M3 ? 0x7f : 0x7e | (bits >> 50 & 3)));
  const int biased = (int)(bits >> 52) & 0x7ff;
  int exponent = biased - 1023, cut = 52 - significand;
  const unsigned long long fraction = (bits & 0xfffffffffffffull) | (biased ? 1ull << 52 : 0);
  unsigned int magnitude = 0;
  if (exponent > 200) {
    magnitude = 0xff;
  } else {
    const bool subnormal = exponent < 1 - bias;
    if (subnormal) cut += 1 - bias - exponent;
    if (cut <= 54) {
      const unsigned long long kept = fraction >> cut, rest = fraction & ((1ull << cut) - 1), half = 1ull << (cut - 1);
      const unsigned int rounded = (unsigned int)kept + (rest > half || (rest == half && (kept & 1)));
      magnitude = subnormal ? rounded : rounded + ((unsigned int)(exponent + bias - 1) << significand);
    }
  }
  if (magnitude > largest) {
    magnitude = saturate == __NV_SATFINITE ? largest : largest + 1;
  }
  return (__nv_fp8_storage_t)(sign | magnitude);
}

// Both formats fit into half: e5m2 is its upper byte.
WB_HOST_DEVICE __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t kind) {
  __half_raw result;
  const unsigned int sign = (unsigned int)(x & 0x80) << 8, magnitude = x & 0x7f;
  if (kind == __NV_E5M2) {
    result.x = (unsigned short)(magnitude > 0x7c ? 0x7fff : x << 8);
  } else if (magnitude == 0x7f) {
    result.x = 0x7fff;
  } else if (magnitude >= 8) {
    result.x = (unsigned short)(sign | ((magnitude << 7) + (8 << 10)));
  } else {
    // Subnormal, in units of 2^-9, which half has as a normal number.
    unsigned int significand = magnitude, exponent = 15 - 6;
    if (significand == 0) {
      result.x = (unsigned short)sign;
      return result;
    }
    while (!(significand & 8)) {
      significand <<= 1;
      exponent--;
    }
    result.x = (unsigned short)(sign | exponent << 10 | (significand & 7) << 7);
  }
  return result;
}

// A narrower NaN becomes the same whatever it was, as with the instruction.
WB_HOST_DEVICE __nv_fp8_storage_t wb_cvt_number_to_fp8(const float x, const __nv_saturation_t saturate, const __nv_fp8_interpretation_t kind) {
  return x == x ? __nv_cvt_double_to_fp8((double)x, saturate, kind) : 0x7f;
}

WB_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t saturate,
                                                             const __nv_fp8_interpretation_t kind) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if (saturate == __NV_SATFINITE) {
    unsigned short bits;
    if (kind == __NV_E4M3) {
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(x.y), "f"(x.x));
    } else {
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(x.y), "f"(x.x));
    }
    return bits;
  }
#endif
  return (__nv_fp8x2_storage_t)(wb_cvt_number_to_fp8(x.x, saturate, kind) | wb_cvt_number_to_fp8(x.y, saturate, kind) << 8);
}
WB_HOST_DEVICE __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x, const __nv_fp8_interpretation_t kind) {
  __half2_raw result;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  unsigned int bits;
  if (kind == __NV_E4M3) {
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(bits) : "h"(x));
  } else {
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(bits) : "h"(x));
  }
  result.x = (unsigned short)bits;
  result.y = (unsigned short)(bits >> 16);
#else
  result.x = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x;
  result.y = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x;
#endif
  return result;
}

WB_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                        const __nv_fp8_interpretation_t kind) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  return (__nv_fp8_storage_t)__nv_cvt_float2_to_fp8x2(make_float2(x, 0.0f), saturate, kind);
#else
  return wb_cvt_number_to_fp8(x, saturate, kind);
#endif
}
WB_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x, const __nv_saturation_t saturate,
                                                              const __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(x.x, saturate, kind) |
                                __nv_cvt_double_to_fp8(x.y, saturate, kind) << 8);
}
WB_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
                                                          const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__half2float(__half(x)), saturate, kind);
}
WB_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t saturate,
                                                               const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturate, kind);
}
WB_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
                                                              const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(x)), saturate, kind);
}
WB_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                                   const __nv_saturation_t saturate,
                                                                   const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(x)), saturate, kind);
}

#define WB_F8 __nv_fp8_e4m3
#define WB_F8X2 __nv_fp8x2_e4m3
#define WB_F8X4 __nv_fp8x4_e4m3
#define WB_KIND __NV_E4M3
#include "warpbeam/device/fp8.inc"
#define WB_F8 __nv_fp8_e5m2
#define WB_F8X2 __nv_fp8x2_e5m2
#define WB_F8X4 __nv_fp8x4_e5m2
#define WB_KIND __NV_E5M2
#include "warpbeam/device/fp8.inc"

#include "warpbeam/device/e8m0.h"

#endif
#include "warpbeam/restore_macros.h"
#endif
