// bfloat16: __nv_bfloat16 and __nv_bfloat162, on the device and on the host.
#ifndef WARPBEAM_CUDA_BF16_H
#define WARPBEAM_CUDA_BF16_H
#define __CUDA_BF16_H__
#pragma GCC system_header
#include "warpbeam/hide_macros.h"

#include "cuda_fp16.h"

#ifndef __cplusplus
typedef struct __attribute__((aligned(2))) __nv_bfloat16_raw { unsigned short x; } __nv_bfloat16_raw;
typedef struct __attribute__((aligned(4))) __nv_bfloat162_raw { unsigned short x, y; } __nv_bfloat162_raw;
typedef __nv_bfloat16_raw __nv_bfloat16;
typedef __nv_bfloat162_raw __nv_bfloat162;
#else

#define WB_H __nv_bfloat16
#define WB_H2 __nv_bfloat162
#define WB_RAW __nv_bfloat16_raw
#define WB_RAW2 __nv_bfloat162_raw
#define WB_N bfloat16
#define WB_OTHER __half
#define WB_BITS wb_narrow_float<7>
#define WB_PTX "bf16"
#define WB_CVT_ARCH 900
#define WB_CVT_FLOAT_ARCH 800
#define WB_WIDEN_BY_CVT 0
#define WB_ARITHMETIC_ARCH 900
#define WB_FMA_ARCH 800
#define WB_PTX_SAT 0
#define WB_TANH_ARCH 900
#define WB_ATOMIC_ARCH 900
#define WB_ATOMIC_PAIR_ARCH 900
#if defined(__CUDA_NO_BFLOAT16_CONVERSIONS__)
#define WB_NO_CONVERSIONS
#endif
#if defined(__CUDA_NO_BFLOAT16_OPERATORS__)
#define WB_NO_OPERATORS
#endif

#include "warpbeam/device/half_type.inc"
WB_HOST_DEVICE __nv_bfloat162 __bfloat162bfloat162(const __nv_bfloat16 h) { return __nv_bfloat162(h, h); }
#include "warpbeam/device/half_arithmetic.inc"
#if defined(__CUDA__)
#include "warpbeam/device/half_device.inc"
#endif
#include "warpbeam/device/half_end.inc"

inline __host__ __device__ __half::__half(const __nv_bfloat16 other)
    : __x(__float2half_rn(__bfloat162float(other)).__x) {}
inline __host__ __device__ __nv_bfloat16::__nv_bfloat16(const __half other)
    : __x(__float2bfloat16_rn(__half2float(other)).__x) {}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fu)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000u)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80u)
#endif

#include "warpbeam/restore_macros.h"
#endif
