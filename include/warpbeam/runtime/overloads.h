// The C++ face of the runtime API: typed pointers instead of void**, kernels and symbols by name, and the signatures
// that newer toolkits changed, kept as overloads so that older sources compile.
#ifndef WARPBEAM_RUNTIME_OVERLOADS_H
#define WARPBEAM_RUNTIME_OVERLOADS_H

#include "driver_functions.h"

// Pointers of any type
template <class T>
__cudart_builtin__ static inline cudaError_t cudaMalloc(T** devPtr, size_t size) {
  return ::cudaMalloc((void**)(void*)devPtr, size);
}

// In C++, page-locked memory can be asked for with cudaHostAlloc's flags.
static inline cudaError_t cudaMallocHost(void** ptr, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(ptr, size, flags);
}

template <class T>
static inline cudaError_t cudaMallocHost(T** ptr, size_t size, unsigned int flags = 0) {
  return ::cudaHostAlloc((void**)(void*)ptr, size, flags);
}

template <class T>
static inline cudaError_t cudaHostAlloc(T** ptr, size_t size, unsigned int flags) {
  return ::cudaHostAlloc((void**)(void*)ptr, size, flags);
}

template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T** pDevice, void* pHost, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void**)(void*)pDevice, pHost, flags);
}

template <class T>
static inline cudaError_t cudaMallocManaged(T** devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)(void*)devPtr, size, flags);
}

template <class T>
static inline cudaError_t cudaMallocPitch(T** devPtr, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)(void*)devPtr, pitch, width, height);
}

template <class T>
static inline cudaError_t cudaMallocAsync(T** devPtr, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)(void*)devPtr, size, stream);
}

static inline cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(devPtr, size, memPool, stream);
}

template <class T>
static inline cudaError_t cudaMallocAsync(T** devPtr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)devPtr, size, memPool, stream);
}

template <class T>
static inline cudaError_t cudaMallocFromPoolAsync(T** devPtr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)devPtr, size, memPool, stream);
}

template <class T>
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* devPtr, size_t length = 0,
                                                   unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, (void*)devPtr, length, flags);
}

// Symbols: the variable itself stands for its handle.
template <class T>
static inline cudaError_t cudaGetSymbolAddress(void** devPtr, const T& symbol) {
  return ::cudaGetSymbolAddress(devPtr, (const void*)&symbol);
}

template <class P, class T>
static inline cudaError_t cudaGetSymbolAddress(P** devPtr, const T& symbol) {
  return ::cudaGetSymbolAddress((void**)(void*)devPtr, (const void*)&symbol);
}

template <class T>
static inline cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return ::cudaGetSymbolSize(size, (const void*)&symbol);
}

template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void*)&symbol, src, count, offset, kind);
}

template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(dst, (const void*)&symbol, count, offset, kind);
}

template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                                  enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                  cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync((const void*)&symbol, src, count, offset, kind, stream);
}

template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                                    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                    cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(dst, (const void*)&symbol, count, offset, kind, stream);
}

// Kernels by name
template <class T>
static inline cudaError_t cudaLaunchKernel(T* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
                                           cudaStream_t stream = 0) {
  return ::cudaLaunchKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}

// Launches as they were before toolkit 7: configuration, arguments one by one, kernel.
template <class T>
static inline cudaError_t cudaSetupArgument(T argument, size_t offset) {
  return ::cudaSetupArgument((const void*)&argument, sizeof(T), offset);
}

template <class T>
static inline cudaError_t cudaLaunch(T* func) {
  return ::cudaLaunch((const void*)func);
}

template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T* func, dim3 gridDim, dim3 blockDim, void** args,
                                                      size_t sharedMem = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}

template <class T>
static inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, T* func, void** args) {
  return ::cudaLaunchKernelExC(config, (const void*)func, args);
}

template <class T>
__cudart_builtin__ static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attr, T* entry) {
  return ::cudaFuncGetAttributes(attr, (const void*)entry);
}

template <class T>
static inline cudaError_t cudaFuncSetAttribute(T* func, enum cudaFuncAttribute attr, int value) {
  return ::cudaFuncSetAttribute((const void*)func, attr, value);
}

template <class T>
static inline cudaError_t cudaFuncSetCacheConfig(T* func, enum cudaFuncCache cacheConfig) {
  return ::cudaFuncSetCacheConfig((const void*)func, cacheConfig);
}

template <class T>
static inline cudaError_t cudaFuncSetSharedMemConfig(T* func, enum cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig((const void*)func, config);
}

template <class T>
static inline cudaError_t cudaFuncGetName(const char** name, T* func) {
  return ::cudaFuncGetName(name, (const void*)func);
}

template <class T>
static inline cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, T* func) {
  return ::cudaGetKernel(kernelPtr, (const void*)func);
}

template <class T>
static inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t* functionPtr, T* func) {
  return ::cudaGetFuncBySymbol(functionPtr, (const void*)func);
}

// Occupancy
template <class T>
__cudart_builtin__ static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, T* func, int blockSize,
                                                                        size_t dynamicSMemSize) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (const void*)func, blockSize,
                                                                  dynamicSMemSize, cudaOccupancyDefault);
}

template <class T>
__cudart_builtin__ static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, T* func, int blockSize,
                                                                                 size_t dynamicSMemSize,
                                                                                 unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (const void*)func, blockSize,
                                                                  dynamicSMemSize, flags);
}

template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, T* func, int numBlocks,
                                                                    int blockSize) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, (const void*)func, numBlocks, blockSize);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, T* func,
                                                               const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxPotentialClusterSize(clusterSize, (const void*)func, config);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, T* func, const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxActiveClusters(numClusters, (const void*)func, config);
}

// The block size that keeps the most threads resident, walking down in whole warps; ties keep the larger block.
// blockSizeToSMem gives the dynamic shared memory a block of that size needs.
template <class SharedOfBlockSize, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* minGridSize, int* blockSize,
                                                                                  T func,
                                                                                  SharedOfBlockSize blockSizeToSMem,
                                                                                  int blockSizeLimit = 0,
                                                                                  unsigned int flags = 0) {
  if (!minGridSize || !blockSize || !func) return cudaErrorInvalidValue;
  int device = 0, threads_per_sm = 0, warp = 0, device_limit = 0, sms = 0;
  cudaFuncAttributes attributes;
  cudaError_t status = ::cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = ::cudaDeviceGetAttribute(&threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (status == cudaSuccess) status = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (status == cudaSuccess) status = ::cudaDeviceGetAttribute(&device_limit, cudaDevAttrMaxThreadsPerBlock, device);
  if (status == cudaSuccess) status = ::cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess) status = ::cudaFuncGetAttributes(&attributes, (const void*)func);
  if (status != cudaSuccess) return status;

  int limit = attributes.maxThreadsPerBlock < device_limit ? attributes.maxThreadsPerBlock : device_limit;
  if (blockSizeLimit > 0 && blockSizeLimit < limit) limit = blockSizeLimit;
  int best_block = 0, best_blocks = 0, best_threads = 0;
  for (int rounded = (limit + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
    int block = rounded < limit ? rounded : limit, blocks = 0;
    status = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)func, block,
                                                                      blockSizeToSMem(block), flags);
    if (status != cudaSuccess) return status;
    if (block * blocks > best_threads) {
      best_block = block;
      best_blocks = blocks;
      best_threads = block * blocks;
    }
    if (best_threads == threads_per_sm) break;
  }
  *minGridSize = best_blocks * sms;
  *blockSize = best_block;
  return cudaSuccess;
}

template <class SharedOfBlockSize, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize, T func,
                                                                         SharedOfBlockSize blockSizeToSMem,
                                                                         int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, blockSizeToSMem,
                                                                 blockSizeLimit, cudaOccupancyDefault);
}

namespace warpbeam_runtime {
struct SameShared {
  size_t bytes;
  size_t operator()(int) const { return bytes; }
};
}  // namespace warpbeam_runtime

template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, T func,
                                                                      size_t dynamicSMemSize = 0,
                                                                      int blockSizeLimit = 0, unsigned int flags = 0) {
  warpbeam_runtime::SameShared shared = {dynamicSMemSize};
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, shared, blockSizeLimit,
                                                                 flags);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, T func,
                                                             size_t dynamicSMemSize = 0, int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit,
                                                     cudaOccupancyDefault);
}

// Events and streams
static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}

// Graphs: signatures of toolkits 10 to 12
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* graphExec, cudaGraph_t graph, cudaGraphNode_t*, char*,
                                               size_t) {
  return ::cudaGraphInstantiate(graphExec, graph, 0);
}

static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, size_t numDependencies) {
  return ::cudaGraphAddDependencies(graph, from, to, nullptr, numDependencies);
}

static inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to, size_t numDependencies) {
  return ::cudaGraphRemoveDependencies(graph, from, to, nullptr, numDependencies);
}

static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                            size_t* numEdges) {
  return ::cudaGraphGetEdges(graph, from, to, nullptr, numEdges);
}

static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                                       size_t* pNumDependencies) {
  return ::cudaGraphNodeGetDependencies(node, pDependencies, nullptr, pNumDependencies);
}

static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes,
                                                         size_t* pNumDependentNodes) {
  return ::cudaGraphNodeGetDependentNodes(node, pDependentNodes, nullptr, pNumDependentNodes);
}

static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                              cudaGraphNode_t* hErrorNode_out,
                                              enum cudaGraphExecUpdateResult* updateResult_out) {
  cudaGraphExecUpdateResultInfo info;
  cudaError_t status = ::cudaGraphExecUpdate(hGraphExec, hGraph, &info);
  if (hErrorNode_out) *hErrorNode_out = info.errorNode;
  if (updateResult_out) *updateResult_out = info.result;
  return status;
}

static inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* status,
                                                   unsigned long long* id, cudaGraph_t* graph,
                                                   const cudaGraphNode_t** dependencies, size_t* numDependencies) {
  return ::cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, numDependencies);
}

static inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                              size_t numDependencies, unsigned int flags = 0) {
  return ::cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr, numDependencies, flags);
}

static inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                           size_t numDependencies, struct cudaGraphNodeParams* params) {
  return ::cudaGraphAddNode(node, graph, dependencies, nullptr, numDependencies, params);
}

static inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus* status,
                                                      unsigned long long* id = nullptr, cudaGraph_t* graph = nullptr,
                                                      const cudaGraphNode_t** dependencies = nullptr,
                                                      size_t* numDependencies = nullptr) {
  return ::cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, numDependencies);
}

// Managed memory: until toolkit 12 the place was a device number, cudaCpuDeviceId meaning the host.
namespace warpbeam_runtime {
static inline cudaMemLocation location_of(int device) {
  cudaMemLocation location;
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}
}  // namespace warpbeam_runtime

static inline cudaError_t cudaMemPrefetchAsync(const void* devPtr, size_t count, int dstDevice,
                                               cudaStream_t stream = 0) {
  return ::cudaMemPrefetchAsync(devPtr, count, warpbeam_runtime::location_of(dstDevice), 0, stream);
}

static inline cudaError_t cudaMemAdvise(const void* devPtr, size_t count, enum cudaMemoryAdvise advice, int device) {
  return ::cudaMemAdvise(devPtr, count, advice, warpbeam_runtime::location_of(device));
}

static inline cudaError_t cudaMemPrefetchAsync_v2(const void* devPtr, size_t count, struct cudaMemLocation location,
                                                  unsigned int flags, cudaStream_t stream = 0) {
  return ::cudaMemPrefetchAsync(devPtr, count, location, flags, stream);
}

static inline cudaError_t cudaMemAdvise_v2(const void* devPtr, size_t count, enum cudaMemoryAdvise advice,
                                           struct cudaMemLocation location) {
  return ::cudaMemAdvise(devPtr, count, advice, location);
}

template <class T>
static inline cudaError_t cudaGetDriverEntryPoint(const char* symbol, T** funcPtr, unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* driverStatus = nullptr) {
  return ::cudaGetDriverEntryPoint(symbol, (void**)(void*)funcPtr, flags, driverStatus);
}

#if __cplusplus >= 201103L
// A launch with attributes whose arguments are checked against the kernel's parameters.
template <class... Params, class... Args>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                                             Args&&... args) {
  return [&](Params... converted) {
    void* pointers[sizeof...(Params) + 1] = {(void*)&converted..., nullptr};
    return ::cudaLaunchKernelExC(config, (const void*)kernel, pointers);
  }(static_cast<Args&&>(args)...);
}
#endif

#endif
