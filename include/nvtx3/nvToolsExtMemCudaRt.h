// NVTX: memory of devices, as nvToolsExtMem.h has that of the host.
#ifndef WARPBEAM_NVTOOLSEXTMEMCUDART_H
#define WARPBEAM_NVTOOLSEXTMEMCUDART_H

#include "../cuda.h"
#include "../cuda_runtime.h"
#include "nvToolsExtMem.h"

#define NVTX_MEM_TYPE_CUDA_ARRAY 0x11
#define NVTX_MEM_TYPE_CU_ARRAY 0x12
#define NVTX_MEM_CUDA_PEER_ALL_DEVICES -1

typedef struct nvtxMemCudaArrayRangeDesc_v1 {
  uint16_t extCompatID;
  uint16_t structSize;
  uint32_t reserved0;
  cudaArray_t src;
  size_t offset[3];
  size_t extent[3];
} nvtxMemCudaArrayRangeDesc_v1;
typedef nvtxMemCudaArrayRangeDesc_v1 nvtxMemCudaArrayRangeDesc_t;

typedef struct nvtxMemCuArrayRangeDesc_v1 {
  uint16_t extCompatID;
  uint16_t structSize;
  uint32_t reserved0;
  CUarray src;
  size_t offset[3];
  size_t extent[3];
} nvtxMemCuArrayRangeDesc_v1;
typedef nvtxMemCuArrayRangeDesc_v1 nvtxMemCuArrayRangeDesc_t;

typedef struct nvtxMemMarkInitializedBatch_v1 {
  uint16_t extCompatID;
  uint16_t structSize;
  uint32_t regionType;
  size_t regionDescCount;
  size_t regionDescElementSize;
  const void* regionDescElements;
} nvtxMemMarkInitializedBatch_v1;
typedef nvtxMemMarkInitializedBatch_v1 nvtxMemMarkInitializedBatch_t;

WB_NVTX nvtxMemPermissionsHandle_t nvtxMemCudaGetProcessWidePermissions(nvtxDomainHandle_t domain) {
  return (void)domain, (nvtxMemPermissionsHandle_t)0;
}
WB_NVTX nvtxMemPermissionsHandle_t nvtxMemCudaGetDeviceWidePermissions(nvtxDomainHandle_t domain, int device) {
  return (void)domain, (void)device, (nvtxMemPermissionsHandle_t)0;
}
WB_NVTX void nvtxMemCudaSetPeerAccess(nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t permissions, int peer,
                                      uint32_t flags) {
  (void)domain, (void)permissions, (void)peer, (void)flags;
}
WB_NVTX void nvtxMemCudaMarkInitialized(nvtxDomainHandle_t domain, cudaStream_t stream, uint8_t per_thread_stream,
                                        const nvtxMemMarkInitializedBatch_t* batch) {
  (void)domain, (void)stream, (void)per_thread_stream, (void)batch;
}

#endif
