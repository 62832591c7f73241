// The 4-bit floating-point format e2m1: conversions, on the device and on the host.
#ifndef WARPBEAM_CUDA_FP4_H
#define WARPBEAM_CUDA_FP4_H
#define __CUDA_FP4_H__
#pragma GCC system_header
#include "warpbeam/hide_macros.h"

#include "cuda_fp8.h"
#include "warpbeam/device/narrow_bits.h"

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

WB_HOST_DEVICE wb_narrow_shape wb_shape_of(__nv_fp4_interpretation_t) { return {2, 1, 1}; }
WB_NARROW_CONVERSIONS(fp4, __nv_fp4_interpretation_t, __nv_fp4_storage_t, __nv_fp4x2_storage_t, 4)

#define WB_WIDTH fp4
#define WB_STORAGE __nv_fp4_storage_t
#define WB_STORAGE2 __nv_fp4x2_storage_t
#define WB_STORAGE4 __nv_fp4x4_storage_t
#define WB_PAIR_SHIFT 4
#define WB_NARROW(count) __nv_fp4##count##_e2m1
#define WB_KIND __NV_E2M1
#define WB_SHAPE wb_shape_of(WB_KIND)
#include "warpbeam/device/narrow.inc"
#undef WB_WIDTH
#undef WB_STORAGE
#undef WB_STORAGE2
#undef WB_STORAGE4
#undef WB_PAIR_SHIFT

#include "warpbeam/restore_macros.h"
#endif
