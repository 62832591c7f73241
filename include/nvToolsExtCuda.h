// NVTX names for the driver API's objects.
#ifndef WARPBEAM_NVTOOLSEXTCUDA_H
#define WARPBEAM_NVTOOLSEXTCUDA_H

#include "cuda.h"
#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDA 4
typedef enum nvtxResourceCUDAType_t {
  NVTX_RESOURCE_TYPE_CUDA_DEVICE = NVTX_RESOURCE_MAKE_TYPE(CUDA, 1),
  NVTX_RESOURCE_TYPE_CUDA_CONTEXT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 2),
  NVTX_RESOURCE_TYPE_CUDA_STREAM = NVTX_RESOURCE_MAKE_TYPE(CUDA, 3),
  NVTX_RESOURCE_TYPE_CUDA_EVENT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 4)
} nvtxResourceCUDAType_t;

WB_NVTX void nvtxNameCuDeviceA(CUdevice device, const char* name) { (void)device, (void)name; }
WB_NVTX void nvtxNameCuDeviceW(CUdevice device, const wchar_t* name) { (void)device, (void)name; }
WB_NVTX void nvtxNameCuContextA(CUcontext context, const char* name) { (void)context, (void)name; }
WB_NVTX void nvtxNameCuContextW(CUcontext context, const wchar_t* name) { (void)context, (void)name; }
WB_NVTX void nvtxNameCuStreamA(CUstream stream, const char* name) { (void)stream, (void)name; }
WB_NVTX void nvtxNameCuStreamW(CUstream stream, const wchar_t* name) { (void)stream, (void)name; }
WB_NVTX void nvtxNameCuEventA(CUevent event, const char* name) { (void)event, (void)name; }
WB_NVTX void nvtxNameCuEventW(CUevent event, const wchar_t* name) { (void)event, (void)name; }
#ifdef UNICODE
#define nvtxNameCuDevice nvtxNameCuDeviceW
#define nvtxNameCuContext nvtxNameCuContextW
#define nvtxNameCuStream nvtxNameCuStreamW
#define nvtxNameCuEvent nvtxNameCuEventW
#else
#define nvtxNameCuDevice nvtxNameCuDeviceA
#define nvtxNameCuContext nvtxNameCuContextA
#define nvtxNameCuStream nvtxNameCuStreamA
#define nvtxNameCuEvent nvtxNameCuEventA
#endif

#endif
