// Device properties as toolkits 11 and 12 lay them out, for programs that were built with those.
#include <algorithm>
#include <cstring>

#include "cuda/edge.h"

namespace warpbeam::cuda {

namespace {

// Names and order are toolkit 12's; toolkit 11's structure ends behind reservedSharedMemPerBlock.
struct Properties12 {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
  int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;
  int unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
  int reserved[63];
};
constexpr size_t kBytes11 = 728;
static_assert(offsetof(Properties12, hostRegisterSupported) == kBytes11 && sizeof(Properties12) == 1032);

Properties12 older(const cudaDeviceProp& p) {
  Properties12 q{};
#define WB_SAME(field)                             \
  static_assert(sizeof q.field == sizeof p.field); \
  std::memcpy(&q.field, &p.field, sizeof q.field);
  WB_SAME(name)
  WB_SAME(uuid) WB_SAME(luid) WB_SAME(luidDeviceNodeMask) WB_SAME(totalGlobalMem) WB_SAME(sharedMemPerBlock) WB_SAME(
      regsPerBlock) WB_SAME(warpSize) WB_SAME(memPitch) WB_SAME(maxThreadsPerBlock) WB_SAME(maxThreadsDim)
      WB_SAME(maxGridSize) WB_SAME(clockRate) WB_SAME(totalConstMem) WB_SAME(major) WB_SAME(minor) WB_SAME(
          textureAlignment) WB_SAME(texturePitchAlignment) WB_SAME(deviceOverlap) WB_SAME(multiProcessorCount)
          WB_SAME(kernelExecTimeoutEnabled) WB_SAME(integrated) WB_SAME(canMapHostMemory) WB_SAME(computeMode) WB_SAME(
              maxTexture1D) WB_SAME(maxTexture1DMipmap) WB_SAME(maxTexture1DLinear) WB_SAME(maxTexture2D)
              WB_SAME(maxTexture2DMipmap) WB_SAME(maxTexture2DLinear) WB_SAME(maxTexture2DGather) WB_SAME(
                  maxTexture3D) WB_SAME(maxTexture3DAlt) WB_SAME(maxTextureCubemap) WB_SAME(maxTexture1DLayered)
                  WB_SAME(maxTexture2DLayered) WB_SAME(maxTextureCubemapLayered) WB_SAME(maxSurface1D) WB_SAME(
                      maxSurface2D) WB_SAME(maxSurface3D) WB_SAME(maxSurface1DLayered) WB_SAME(maxSurface2DLayered)
                      WB_SAME(maxSurfaceCubemap) WB_SAME(maxSurfaceCubemapLayered) WB_SAME(surfaceAlignment) WB_SAME(
                          concurrentKernels) WB_SAME(ECCEnabled) WB_SAME(pciBusID) WB_SAME(pciDeviceID)
                          WB_SAME(pciDomainID) WB_SAME(tccDriver) WB_SAME(asyncEngineCount) WB_SAME(
                              unifiedAddressing) WB_SAME(memoryClockRate) WB_SAME(memoryBusWidth) WB_SAME(l2CacheSize)
                              WB_SAME(persistingL2CacheMaxSize) WB_SAME(maxThreadsPerMultiProcessor) WB_SAME(
                                  streamPrioritiesSupported) WB_SAME(globalL1CacheSupported)
                                  WB_SAME(localL1CacheSupported) WB_SAME(sharedMemPerMultiprocessor) WB_SAME(
                                      regsPerMultiprocessor) WB_SAME(managedMemory) WB_SAME(isMultiGpuBoard)
                                      WB_SAME(multiGpuBoardGroupID) WB_SAME(hostNativeAtomicSupported) WB_SAME(
                                          singleToDoublePrecisionPerfRatio) WB_SAME(pageableMemoryAccess)
                                          WB_SAME(concurrentManagedAccess) WB_SAME(computePreemptionSupported) WB_SAME(
                                              canUseHostPointerForRegisteredMem) WB_SAME(cooperativeLaunch)
                                              WB_SAME(cooperativeMultiDeviceLaunch) WB_SAME(sharedMemPerBlockOptin)
                                                  WB_SAME(pageableMemoryAccessUsesHostPageTables)
                                                      WB_SAME(directManagedMemAccessFromHost) WB_SAME(
                                                          maxBlocksPerMultiProcessor) WB_SAME(accessPolicyMaxWindowSize)
                                                          WB_SAME(reservedSharedMemPerBlock) WB_SAME(
                                                              hostRegisterSupported) WB_SAME(sparseCudaArraySupported)
                                                              WB_SAME(hostRegisterReadOnlySupported)
                                                                  WB_SAME(timelineSemaphoreInteropSupported) WB_SAME(
                                                                      memoryPoolsSupported)
                                                                      WB_SAME(gpuDirectRDMASupported) WB_SAME(
                                                                          gpuDirectRDMAFlushWritesOptions)
                                                                          WB_SAME(gpuDirectRDMAWritesOrdering) WB_SAME(
                                                                              memoryPoolSupportedHandleTypes)
                                                                              WB_SAME(deferredMappingCudaArraySupported)
                                                                                  WB_SAME(ipcEventSupported)
                                                                                      WB_SAME(clusterLaunch) WB_SAME(
                                                                                          unifiedFunctionPointers)
#undef WB_SAME
                                                                                          return q;
}

cudaError_t properties(void* to, size_t bytes, int device) {
  return edge([&]() -> cudaError_t {
    if (!to) return cudaErrorInvalidValue;
    cudaDeviceProp now;
    if (cudaError_t status = cudaGetDeviceProperties(&now, device); status != cudaSuccess) return status;
    Properties12 then = older(now);
    std::memcpy(to, &then, bytes);
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

// The name that toolkit 12's header gives to the function.
WB_TWIN cudaError_t cudaGetDeviceProperties_v2(void* to, int device) {
  return properties(to, sizeof(Properties12), device);
}

// What libcudart.so.11.0 has under the function's own name.
WB_TWIN cudaError_t __warpbeamDeviceProperties11(void* to, int device) { return properties(to, kBytes11, device); }

// For this project's libraries: where libcudart.so.12 comes first, the function's own name is what toolkit 12 meant by it.
WB_TWIN cudaError_t __warpbeamDeviceProperties(cudaDeviceProp* to, int device) { return cudaGetDeviceProperties(to, device); }

// Toolkit 12's names for what takes a place instead of a device. The headers have inline functions of these names,
// hence the labels.
WB_TWIN cudaError_t advise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                           cudaMemLocation location) __asm__("cudaMemAdvise_v2");
cudaError_t advise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return cudaMemAdvise(pointer, bytes, advice, location);
}

WB_TWIN cudaError_t prefetch(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags,
                             cudaStream_t stream) __asm__("cudaMemPrefetchAsync_v2");
cudaError_t prefetch(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags, cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, location, flags, stream);
}

WB_TWIN cudaError_t prefetch_ptsz(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags,
                                  cudaStream_t stream) __asm__("cudaMemPrefetchAsync_v2_ptsz");
cudaError_t prefetch_ptsz(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags,
                          cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, location, flags, per_thread(stream));
}

}  // extern "C"
