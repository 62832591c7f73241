// Stream-ordered allocation. A pool's handle, properties and attributes are the runtime's.
#include "cuda/driver/owners.h"

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
static_assert(sizeof(CUmemPoolPtrExportData) == sizeof(cudaMemPoolPtrExportData));
static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));

extern "C" {

WB_STREAM_CALL(cuMemAllocAsync, (CUdeviceptr * ptr, size_t bytes, CUstream stream),
               ptr&& bytes ? cudaMallocAsync(reinterpret_cast<void**>(ptr), bytes, stream) : cudaErrorInvalidValue)
WB_STREAM_CALL(cuMemAllocFromPoolAsync, (CUdeviceptr * ptr, size_t bytes, CUmemoryPool pool, CUstream stream),
               ptr&& bytes ? cudaMallocFromPoolAsync(reinterpret_cast<void**>(ptr), bytes, pool, stream) : cudaErrorInvalidValue)
WB_STREAM_CALL(cuMemFreeAsync, (CUdeviceptr ptr, CUstream stream), cudaFreeAsync(pointer(ptr), stream))

// Of a device, whatever context is current.
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return call([&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return call([&] { return cudaDeviceGetMemPool(pool, device); });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return call([&] { return cudaDeviceSetMemPool(device, pool); });
}
WB_HANDLE_CALL(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps* properties),
               cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties)))
WB_HANDLE_CALL(cuMemPoolDestroy, (CUmemoryPool pool), cudaMemPoolDestroy(pool))
WB_HANDLE_CALL(cuMemPoolTrimTo, (CUmemoryPool pool, size_t keep), cudaMemPoolTrimTo(pool, keep))
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call([&] { return cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value); });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call([&] { return cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value); });
}
WB_HANDLE_CALL(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc* wishes, size_t count),
               cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(wishes), count))
WB_HANDLE_CALL(cuMemPoolGetAccess, (CUmemAccess_flags * flags, CUmemoryPool pool, CUmemLocation* location),
               cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags), pool, reinterpret_cast<cudaMemLocation*>(location)))

#define WB_LOCATION reinterpret_cast<cudaMemLocation*>(location)
WB_HANDLE_CALL(cuMemGetDefaultMemPool, (CUmemoryPool * pool, CUmemLocation* location, CUmemAllocationType type),
               cudaMemGetDefaultMemPool(pool, WB_LOCATION, static_cast<cudaMemAllocationType>(type)))
WB_HANDLE_CALL(cuMemGetMemPool, (CUmemoryPool * pool, CUmemLocation* location, CUmemAllocationType type),
               cudaMemGetMemPool(pool, WB_LOCATION, static_cast<cudaMemAllocationType>(type)))
WB_HANDLE_CALL(cuMemSetMemPool, (CUmemLocation * location, CUmemAllocationType type, CUmemoryPool pool),
               cudaMemSetMemPool(WB_LOCATION, static_cast<cudaMemAllocationType>(type), pool))

// The pool or the address says whose it is.
WB_HANDLE_CALL(cuMemPoolExportToShareableHandle,
               (void* shareable, CUmemoryPool pool, CUmemAllocationHandleType type, unsigned long long flags),
               cudaMemPoolExportToShareableHandle(shareable, pool, static_cast<cudaMemAllocationHandleType>(type),
                                                  static_cast<unsigned>(flags)))
WB_HANDLE_CALL(cuMemPoolImportFromShareableHandle,
               (CUmemoryPool * pool, void* shareable, CUmemAllocationHandleType type, unsigned long long flags),
               cudaMemPoolImportFromShareableHandle(pool, shareable, static_cast<cudaMemAllocationHandleType>(type),
                                                    static_cast<unsigned>(flags)))
WB_HANDLE_CALL(cuMemPoolExportPointer, (CUmemPoolPtrExportData * data, CUdeviceptr ptr),
               cudaMemPoolExportPointer(reinterpret_cast<cudaMemPoolPtrExportData*>(data), pointer(ptr)))
WB_HANDLE_CALL(cuMemPoolImportPointer, (CUdeviceptr * ptr, CUmemoryPool pool, CUmemPoolPtrExportData* data),
               cudaMemPoolImportPointer(reinterpret_cast<void**>(ptr), pool, reinterpret_cast<cudaMemPoolPtrExportData*>(data)))

}  // extern "C"
