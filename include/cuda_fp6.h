// The two 6-bit floating-point formats: conversions, on the device and on the host.
#ifndef WARPBEAM_CUDA_FP6_H
#define WARPBEAM_CUDA_FP6_H
#define __CUDA_FP6_H__
#pragma GCC system_header
#include "warpbeam/hide_macros.h"

#include "cuda_fp8.h"
#include "warpbeam/device/narrow_bits.h"

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

WB_HOST_DEVICE wb_narrow_shape wb_shape_of(__nv_fp6_interpretation_t kind) {
  return kind == __NV_E2M3 ? wb_narrow_shape{2, 3, 1} : wb_narrow_shape{3, 2, 3};
}
WB_NARROW_CONVERSIONS(fp6, __nv_fp6_interpretation_t, __nv_fp6_storage_t, __nv_fp6x2_storage_t, 8)

#define WB_WIDTH fp6
#define WB_STORAGE __nv_fp6_storage_t
#define WB_STORAGE2 __nv_fp6x2_storage_t
#define WB_STORAGE4 __nv_fp6x4_storage_t
#define WB_PAIR_SHIFT 8
#define WB_NARROW(count) __nv_fp6##count##_e2m3
#define WB_KIND __NV_E2M3
#define WB_SHAPE wb_shape_of(WB_KIND)
#include "warpbeam/device/narrow.inc"
#define WB_NARROW(count) __nv_fp6##count##_e3m2
#define WB_KIND __NV_E3M2
#define WB_SHAPE wb_shape_of(WB_KIND)
#include "warpbeam/device/narrow.inc"
#undef WB_WIDTH
#undef WB_STORAGE
#undef WB_STORAGE2
#undef WB_STORAGE4
#undef WB_PAIR_SHIFT

#include "warpbeam/restore_macros.h"
#endif
