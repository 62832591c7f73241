// Half precision: __half and __half2, on the device and on the host.
#ifndef WARPBEAM_CUDA_FP16_H
#define WARPBEAM_CUDA_FP16_H
#define __CUDA_FP16_H__
#pragma GCC system_header
#include "warpbeam/hide_macros.h"

#include "vector_functions.h"
#include "vector_types.h"

#ifndef __cplusplus
// C sees the bits: what functions of libraries take by address.
typedef struct __attribute__((aligned(2))) __half_raw { unsigned short x; } __half_raw;
typedef struct __attribute__((aligned(4))) __half2_raw { unsigned short x, y; } __half2_raw;
typedef __half_raw __half;
typedef __half2_raw __half2;
#else
#include "warpbeam/device/half_bits.h"

#define WB_H __half
#define WB_H2 __half2
#define WB_RAW __half_raw
#define WB_RAW2 __half2_raw
#define WB_N half
#define WB_OTHER __nv_bfloat16
#define WB_BITS wb_narrow_float<10>
#define WB_PTX "f16"
#define WB_CVT_ARCH 200
#define WB_CVT_FLOAT_ARCH 200
#define WB_WIDEN_BY_CVT 1
#define WB_ARITHMETIC_ARCH 530
#define WB_FMA_ARCH 530
#define WB_PTX_SAT 1
#define WB_TANH_ARCH 750
#define WB_ATOMIC_ARCH 700
#define WB_ATOMIC_PAIR_ARCH 600
#if defined(__CUDA_NO_HALF_CONVERSIONS__)
#define WB_NO_CONVERSIONS
#endif
#if defined(__CUDA_NO_HALF_OPERATORS__)
#define WB_NO_OPERATORS
#endif

#include "warpbeam/device/half_type.inc"
WB_HOST_DEVICE __half2 __half2half2(const __half h) { return __half2(h, h); }
#include "warpbeam/device/half_arithmetic.inc"
#if defined(__CUDA__)
#include "warpbeam/device/half_device.inc"
#endif
#include "warpbeam/device/half_end.inc"

typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;
#if !defined(CUDA_NO_HALF)
typedef __half half;
typedef __half2 half2;
#endif

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00u)
#endif

#include "warpbeam/restore_macros.h"
#endif
