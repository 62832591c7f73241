// NVTX names for the runtime API's objects.
#ifndef WARPBEAM_NVTOOLSEXTCUDART_H
#define WARPBEAM_NVTOOLSEXTCUDART_H

#include "driver_types.h"
#include "nvToolsExt.h"

WB_NVTX void nvtxNameCudaDeviceA(int device, const char* name) { (void)device, (void)name; }
WB_NVTX void nvtxNameCudaStreamA(cudaStream_t stream, const char* name) { (void)stream, (void)name; }
WB_NVTX void nvtxNameCudaEventA(cudaEvent_t event, const char* name) { (void)event, (void)name; }
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA

#endif
