// NVTX names for the runtime API's objects.
#ifndef WARPBEAM_NVTOOLSEXTCUDART_H
#define WARPBEAM_NVTOOLSEXTCUDART_H

#include "cuda.h"
#include "driver_types.h"
#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDART 5
typedef enum nvtxResourceCUDARTType_t {
  NVTX_RESOURCE_TYPE_CUDART_DEVICE = NVTX_RESOURCE_MAKE_TYPE(CUDART, 0),
  NVTX_RESOURCE_TYPE_CUDART_STREAM = NVTX_RESOURCE_MAKE_TYPE(CUDART, 1),
  NVTX_RESOURCE_TYPE_CUDART_EVENT = NVTX_RESOURCE_MAKE_TYPE(CUDART, 2)
} nvtxResourceCUDARTType_t;

WB_NVTX void nvtxNameCudaDeviceA(int device, const char* name) { (void)device, (void)name; }
WB_NVTX void nvtxNameCudaDeviceW(int device, const wchar_t* name) { (void)device, (void)name; }
WB_NVTX void nvtxNameCudaStreamA(cudaStream_t stream, const char* name) { (void)stream, (void)name; }
WB_NVTX void nvtxNameCudaStreamW(cudaStream_t stream, const wchar_t* name) { (void)stream, (void)name; }
WB_NVTX void nvtxNameCudaEventA(cudaEvent_t event, const char* name) { (void)event, (void)name; }
WB_NVTX void nvtxNameCudaEventW(cudaEvent_t event, const wchar_t* name) { (void)event, (void)name; }
#ifdef UNICODE
#define nvtxNameCudaDevice nvtxNameCudaDeviceW
#define nvtxNameCudaStream nvtxNameCudaStreamW
#define nvtxNameCudaEvent nvtxNameCudaEventW
#else
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif

#endif
