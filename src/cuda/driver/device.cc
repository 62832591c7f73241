// Initialisation, and what devices are.
#include <algorithm>
#include <cstring>

#include "cuda/driver/edge.h"

using namespace warpbeam;
using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

namespace {

template <class Body>
CUresult with_device(CUdevice device, Body&& body) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    if (context_of(device, &context) != cudaSuccess) return CUDA_ERROR_INVALID_DEVICE;
    return result_of(body(*context));
  });
}

// Attributes that the runtime has not; nothing for those it has.
std::optional<int> driver_attribute(CUdevice_attribute attribute, const model::Device& model) {
  const bool unified = model.unified_addressing;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER: return model.limits.texture_2d_gather[0] > 0;
    // Waiting for values and writing them in stream order: the first interface and the second.
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR: return 1;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: return unified;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS:
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK:
    case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED: return 0;
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: return model.major >= 9;
    default: return std::nullopt;
  }
}

CUresult uuid(CUuuid* uuid, CUdevice device) {
  return with_device(device, [&](Context&) {
    if (!uuid) return cudaErrorInvalidValue;
    cudaDeviceProp properties;
    cudaError_t status = cudaGetDeviceProperties(&properties, device);
    if (status == cudaSuccess) std::memcpy(uuid->bytes, properties.uuid.bytes, sizeof uuid->bytes);
    return status;
  });
}

CUresult atomics(unsigned* capabilities, const CUatomicOperation* operations, unsigned count, unsigned wide) {
  if (!capabilities || !operations || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    if (operations[i] < 0 || operations[i] >= CU_ATOMIC_OPERATION_MAX) return CUDA_ERROR_INVALID_VALUE;
    capabilities[i] = wide;
  }
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  process();
  return device_count() ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

// A driver runs what every toolkit of its major number makes. Those that think it older make machine code themselves, of which
// nothing comes here (NVIDIA Warp).
CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION / 1000 * 1000 + 90;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  return call([&] {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = device_count();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return with_device(ordinal, [&](Context&) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return with_device(device, [&](Context& context) {
    if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    size_t characters = std::min<size_t>(context.model.name.size(), length - 1);
    std::memcpy(name, context.model.name.data(), characters);
    name[characters] = '\0';
    return CUDA_SUCCESS;
  });
}

WB_TWIN CUresult cuDeviceGetUuid(CUuuid* id, CUdevice device) { return uuid(id, device); }
CUresult cuDeviceGetUuid_v2(CUuuid* id, CUdevice device) { return uuid(id, device); }

// A name that Windows gives to adapters.
CUresult cuDeviceGetLuid(char* luid, unsigned* mask, CUdevice device) {
  return with_device(device, [&](Context&) { return luid && mask ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return with_device(device, [&](Context& context) -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (auto own = driver_attribute(attribute, context.model)) {
      *value = *own;
      return CUDA_SUCCESS;
    }
    return result_of(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return with_device(device, [&](Context& context) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = context.model.memory_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return with_device(device, [&](Context& context) {
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    *major = context.model.major;
    *minor = context.model.minor;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* p, CUdevice device) {
  return with_device(device, [&](Context& context) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    const model::Device& m = context.model;
    p->maxThreadsPerBlock = m.max_threads_per_block;
    std::ranges::copy(m.max_block_dim, p->maxThreadsDim);
    std::ranges::copy(m.max_grid_dim, p->maxGridSize);
    p->sharedMemPerBlock = static_cast<int>(m.shared_per_block);
    p->totalConstantMemory = static_cast<int>(m.constant_bytes);
    p->SIMDWidth = m.warp_size;
    p->memPitch = static_cast<int>(m.max_pitch);
    p->regsPerBlock = m.regs_per_block;
    p->clockRate = static_cast<int>(m.clock_khz);
    p->textureAlign = static_cast<int>(m.texture_alignment);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return call([&] { return cudaDeviceGetByPCIBusId(device, id); });
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return with_device(device, [&](Context&) { return cudaDeviceGetPCIBusId(id, length, device); });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return call([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  return call([&] { return cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(attribute), from, to); });
}

// Atomics of kernels on host memory work where the machine shares its memory with the device; they do so here whatever
// the modelled bus can do, so the model's word decides.
CUresult cuDeviceGetHostAtomicCapabilities(unsigned* capabilities, const CUatomicOperation* operations, unsigned count, CUdevice device) {
  return with_device(device, [&](Context& context) {
    constexpr unsigned kAll = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_REDUCTION |
                              CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
    return atomics(capabilities, operations, count, context.model.host_native_atomics ? kAll : 0);
  });
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned* capabilities, const CUatomicOperation* operations, unsigned count, CUdevice from,
                                          CUdevice to) {
  return call([&]() -> CUresult {
    int native = 0;
    cudaError_t status = cudaDeviceGetP2PAttribute(&native, cudaDevP2PAttrNativeAtomicSupported, from, to);
    if (status != cudaSuccess) return result_of(status);
    constexpr unsigned kAll = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_REDUCTION |
                              CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
    return atomics(capabilities, operations, count, native ? kAll : 0);
  });
}

// Contexts on a part of the multiprocessors exist on MPS servers only.
CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType type, CUdevice device) {
  return with_device(device, [&](Context&) {
    if (!supported || type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX) return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuProfilerStart(void) {
  return in_current([](Context&) { return cudaProfilerStart(); });
}

CUresult cuProfilerStop(void) {
  return in_current([](Context&) { return cudaProfilerStop(); });
}

}  // extern "C"
