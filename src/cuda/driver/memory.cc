// Memory of devices and of the host, and what addresses are.
#include <algorithm>

#include "cuda/driver/owners.h"
#include "cuda/graphs/capture.h"

namespace warpbeam::cuda::driver {

namespace {

template <class T>
CUresult put(void* data, T value) {
  *static_cast<T*>(data) = value;
  return CUDA_SUCCESS;
}

CUresult pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  if (!data) return CUDA_ERROR_INVALID_VALUE;
  auto place = locate(pointer(ptr));
  if (!place) return CUDA_ERROR_INVALID_VALUE;
  const vm::Allocation& a = place->allocation;
  const bool managed = a.kind == vm::MemoryKind::Managed;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return put(data, handle_of(*place->owner));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(data, place->on_device() || managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(data, ptr);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (place->on_device()) return CUDA_ERROR_INVALID_VALUE;
      return put(data, pointer(ptr));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return put<int>(data, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return put<unsigned long long>(data, a.serial);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put<unsigned>(data, managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put<int>(data, place->owner->ordinal);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return put<int>(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put<CUdeviceptr>(data, a.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put<size_t>(data, a.size);
    case CU_POINTER_ATTRIBUTE_MAPPED: return put<int>(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return put<unsigned long long>(data, 0);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return put<int>(data, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return put<int>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return put<CUmemoryPool>(data, nullptr);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return put<size_t>(data, a.size);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return put<CUdeviceptr>(data, a.base);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

// The attributes of a batch that an address has not, or that no allocation has, read as zero.
void clear_attribute(void* data, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: put<void*>(data, nullptr); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: put<unsigned long long>(data, 0); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: put<int>(data, CU_DEVICE_INVALID); break;
    default: put<int>(data, 0);
  }
}

// Both mean the address range around a device pointer.
CUresult address_range(CUdeviceptr* base, size_t* size, CUdeviceptr ptr) {
  return in_current([&](Context& context) {
    auto place = locate(pointer(ptr));
    if (!place || !reaches(context, *place)) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = place->allocation.base;
    if (size) *size = place->allocation.size;
    return CUDA_SUCCESS;
  });
}

// The older interface names a device, the newer one a place.
cudaMemLocation location_of(CUdevice device) {
  cudaMemLocation location{};
  location.type = device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

cudaMemLocation location_of(const CUmemLocation& location) {
  cudaMemLocation same{};
  same.type = static_cast<cudaMemLocationType>(location.type);
  same.id = location.id;
  return same;
}
static_assert(static_cast<int>(cudaMemLocationTypeDevice) == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(static_cast<int>(cudaMemAdviseUnsetAccessedBy) == CU_MEM_ADVISE_UNSET_ACCESSED_BY);
static_assert(static_cast<int>(cudaMemRangeAttributeLastPrefetchLocationId) == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam;
using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* ptr, size_t bytes) {
  return in_current([&](Context& context) -> CUresult {
    if (!ptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    forbid_unsafe_call();
    void* fresh = nullptr;
    cudaError_t status = allocate(context, bytes, vm::MemoryKind::Device, "cuMemAlloc", 0, &fresh);
    if (status == cudaSuccess) *ptr = address(fresh);
    return result_of(status);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* ptr, size_t* pitch, size_t width, size_t height, unsigned element) {
  return in_current([&](Context&) {
    if (!ptr || width == 0 || height == 0 || (element != 4 && element != 8 && element != 16)) return cudaErrorInvalidValue;
    return cudaMallocPitch(reinterpret_cast<void**>(ptr), pitch, width, height);
  });
}

CUresult cuMemFree_v2(CUdeviceptr ptr) {
  if (!ptr) return call([] { return cudaSuccess; });
  return call([&] {
    return in_context_of(owner_of_memory(pointer(ptr)), CUDA_ERROR_INVALID_VALUE, [&](Context&) { return cudaFree(pointer(ptr)); });
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* ptr, size_t bytes, unsigned flags) {
  return in_current([&](Context&) {
    if (!ptr || bytes == 0) return cudaErrorInvalidValue;
    return cudaMallocManaged(reinterpret_cast<void**>(ptr), bytes, flags);
  });
}

CUresult cuMemAllocHost_v2(void** ptr, size_t bytes) {
  return in_current([&](Context&) { return ptr ? cudaMallocHost(ptr, bytes) : cudaErrorInvalidValue; });
}

WB_TWIN CUresult cuMemAllocHost(void** ptr, size_t bytes) { return cuMemAllocHost_v2(ptr, bytes); }

CUresult cuMemHostAlloc(void** ptr, size_t bytes, unsigned flags) {
  return in_current([&](Context&) { return ptr && bytes ? cudaHostAlloc(ptr, bytes, flags) : cudaErrorInvalidValue; });
}

CUresult cuMemFreeHost(void* ptr) {
  if (!ptr) return call([] { return cudaSuccess; });
  return call([&] { return in_context_of(owner_of_memory(ptr), CUDA_ERROR_INVALID_VALUE, [&](Context&) { return cudaFreeHost(ptr); }); });
}
WB_CALL(cuMemHostGetFlags, (unsigned* flags, void* ptr), cudaHostGetFlags(flags, ptr))
WB_CALL(cuMemHostGetDevicePointer_v2, (CUdeviceptr * device, void* ptr, unsigned flags),
        cudaHostGetDevicePointer(reinterpret_cast<void**>(device), ptr, flags))
WB_CALL(cuMemHostRegister_v2, (void* ptr, size_t bytes, unsigned flags), cudaHostRegister(ptr, bytes, flags))
WB_CALL(cuMemHostRegister, (void* ptr, size_t bytes, unsigned flags), cudaHostRegister(ptr, bytes, flags))
WB_HANDLE_CALL(cuMemHostUnregister, (void* ptr), ptr ? cudaHostUnregister(ptr) : cudaErrorInvalidValue)
WB_CALL(cuMemGetInfo_v2, (size_t* free, size_t* total), cudaMemGetInfo(free, total))

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr ptr) { return address_range(base, size, ptr); }

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  return call([&] { return pointer_attribute(data, attribute, ptr); });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data, CUdeviceptr ptr) {
  return call([&] {
    if (count == 0 || !attributes || !data) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) {
      if (!data[i] || attributes[i] < CU_POINTER_ATTRIBUTE_CONTEXT || attributes[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
        return CUDA_ERROR_INVALID_VALUE;
      if (pointer_attribute(data[i], attributes[i], ptr) != CUDA_SUCCESS) clear_attribute(data[i], attributes[i]);
    }
    return CUDA_SUCCESS;
  });
}

// Every copy here is done or ordered as that attribute would make it.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  return call([&] {
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !locate(pointer(ptr))) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

WB_CALL(cuMemAdvise, (CUdeviceptr ptr, size_t bytes, CUmem_advise advice, CUdevice device),
        cudaMemAdvise(pointer(ptr), bytes, static_cast<cudaMemoryAdvise>(advice), location_of(device)))
WB_CALL(cuMemAdvise_v2, (CUdeviceptr ptr, size_t bytes, CUmem_advise advice, CUmemLocation location),
        cudaMemAdvise(pointer(ptr), bytes, static_cast<cudaMemoryAdvise>(advice), location_of(location)))
WB_STREAM_CALL(cuMemPrefetchAsync, (CUdeviceptr ptr, size_t bytes, CUdevice device, CUstream stream),
               cudaMemPrefetchAsync(pointer(ptr), bytes, location_of(device), 0, stream))
WB_STREAM_CALL(cuMemPrefetchAsync_v2, (CUdeviceptr ptr, size_t bytes, CUmemLocation location, unsigned flags, CUstream stream),
               cudaMemPrefetchAsync(pointer(ptr), bytes, location_of(location), flags, stream))
WB_CALL(cuMemRangeGetAttribute, (void* data, size_t size, CUmem_range_attribute attribute, CUdeviceptr ptr, size_t bytes),
        cudaMemRangeGetAttribute(data, size, static_cast<cudaMemRangeAttribute>(attribute), pointer(ptr), bytes))
WB_CALL(cuMemRangeGetAttributes,
        (void** data, size_t* sizes, CUmem_range_attribute* attributes, size_t count, CUdeviceptr ptr, size_t bytes),
        cudaMemRangeGetAttributes(data, sizes, reinterpret_cast<cudaMemRangeAttribute*>(attributes), count, pointer(ptr), bytes))

}  // extern "C"
