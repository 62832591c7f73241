// Device properties and attributes, read from the device table.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/devices/visible_devices.h"
#include "cuda/edge.h"

namespace warpbeam::cuda {

namespace {

// Facts of the machine a card is plugged into, which the runtime makes up.
struct Plugged {
  int ordinal;
  int domain = 0, bus, slot = 0;
  explicit Plugged(int number) : ordinal(place_of_device(number)), bus(ordinal + 1) {}
};

template <size_t N>
void put(int (&field)[N], const std::array<int, N>& value) {
  std::ranges::copy(value, field);
}

void fill(cudaDeviceProp& p, const Context& context) {
  const model::Device& m = context.model;
  const Plugged at(context.ordinal);
  p = {};
  std::strncpy(p.name, m.name.c_str(), sizeof p.name - 1);
  p.uuid = uuid_of(context.model.key, place_of_device(context.ordinal));
  p.totalGlobalMem = m.memory_bytes;
  p.sharedMemPerBlock = m.shared_per_block;
  p.regsPerBlock = m.regs_per_block;
  p.warpSize = m.warp_size;
  p.memPitch = m.max_pitch;
  p.maxThreadsPerBlock = m.max_threads_per_block;
  put(p.maxThreadsDim, m.max_block_dim);
  put(p.maxGridSize, m.max_grid_dim);
  p.totalConstMem = m.constant_bytes;
  p.major = m.major;
  p.minor = m.minor;
  p.textureAlignment = m.texture_alignment;
  p.texturePitchAlignment = m.texture_pitch_alignment;
  p.multiProcessorCount = m.sm_count;
  p.integrated = m.integrated;
  p.canMapHostMemory = m.can_map_host_memory;

  const model::TextureLimits& limits = m.limits;
  p.maxTexture1D = limits.texture_1d;
  p.maxTexture1DLinear = limits.texture_1d_linear;
  p.maxTexture1DMipmap = limits.texture_1d_mipmap;
  put(p.maxTexture2D, limits.texture_2d);
  put(p.maxTexture2DMipmap, limits.texture_2d_mipmap);
  put(p.maxTexture2DLinear, limits.texture_2d_linear);
  put(p.maxTexture2DGather, limits.texture_2d_gather);
  put(p.maxTexture3D, limits.texture_3d);
  put(p.maxTexture3DAlt, limits.texture_3d_alt);
  p.maxTextureCubemap = limits.texture_cubemap;
  put(p.maxTexture1DLayered, limits.texture_1d_layered);
  put(p.maxTexture2DLayered, limits.texture_2d_layered);
  put(p.maxTextureCubemapLayered, limits.texture_cubemap_layered);
  p.maxSurface1D = limits.surface_1d;
  put(p.maxSurface2D, limits.surface_2d);
  put(p.maxSurface3D, limits.surface_3d);
  put(p.maxSurface1DLayered, limits.surface_1d_layered);
  put(p.maxSurface2DLayered, limits.surface_2d_layered);
  p.maxSurfaceCubemap = limits.surface_cubemap;
  put(p.maxSurfaceCubemapLayered, limits.surface_cubemap_layered);
  p.surfaceAlignment = m.surface_alignment;

  p.concurrentKernels = m.concurrent_kernels > 1;
  p.ECCEnabled = m.ecc;
  p.pciBusID = at.bus;
  p.pciDeviceID = at.slot;
  p.pciDomainID = at.domain;
  p.tccDriver = m.tcc;
  p.asyncEngineCount = m.copy_engines.value_or(0);
  p.unifiedAddressing = m.unified_addressing;
  p.memoryBusWidth = m.memory_bus_bits;
  p.l2CacheSize = m.l2_bytes;
  p.persistingL2CacheMaxSize = m.persisting_l2_bytes;
  p.maxThreadsPerMultiProcessor = m.max_threads_per_sm;
  p.streamPrioritiesSupported = m.stream_priorities;
  p.globalL1CacheSupported = m.global_l1_cache;
  p.localL1CacheSupported = m.local_l1_cache;
  p.sharedMemPerMultiprocessor = m.shared_per_sm;
  p.regsPerMultiprocessor = m.regs_per_sm;
  p.managedMemory = m.managed_memory;
  p.multiGpuBoardGroupID = at.ordinal;
  p.hostNativeAtomicSupported = m.host_native_atomics;
  p.pageableMemoryAccess = m.pageable_memory_access;
  p.concurrentManagedAccess = m.concurrent_managed_access;
  p.computePreemptionSupported = m.compute_preemption;
  p.canUseHostPointerForRegisteredMem = m.can_use_host_pointer_for_registered;
  p.cooperativeLaunch = m.cooperative_launch;
  p.sharedMemPerBlockOptin = m.shared_per_block_optin;
  p.pageableMemoryAccessUsesHostPageTables = m.pageable_memory_access_uses_host_page_tables;
  p.directManagedMemAccessFromHost = m.direct_managed_memory_access_from_host;
  p.maxBlocksPerMultiProcessor = m.max_blocks_per_sm;
  p.accessPolicyMaxWindowSize = m.access_policy_window_bytes;
  p.reservedSharedMemPerBlock = m.shared_reserved_per_block;
  p.hostRegisterSupported = m.host_register;
  p.sparseCudaArraySupported = m.sparse_arrays;
  p.hostRegisterReadOnlySupported = m.host_register_read_only;
  p.timelineSemaphoreInteropSupported = m.timeline_semaphores;
  p.memoryPoolsSupported = m.memory_pools;
  p.gpuDirectRDMASupported = m.gpu_direct_rdma;
  p.gpuDirectRDMAFlushWritesOptions = m.gpu_direct_rdma_flush_options;
  p.gpuDirectRDMAWritesOrdering = m.gpu_direct_rdma_write_ordering;
  p.memoryPoolSupportedHandleTypes = m.memory_pool_handle_types;
  p.deferredMappingCudaArraySupported = m.deferred_mapping_arrays;
  p.ipcEventSupported = m.ipc_events;
  p.clusterLaunch = m.cluster_launch;
  p.unifiedFunctionPointers = m.unified_function_pointers;
  p.deviceNumaConfig = cudaDeviceNumaConfigNone;
  p.deviceNumaId = -1;
  p.gpuPciDeviceID = m.pci_id.value_or(0);
  p.gpuPciSubsystemID = m.pci_subsystem_id.value_or(0);

  // Fields older programs read.
  p.clockRate = m.clock_khz;
  p.memoryClockRate = m.memory_clock_khz;
  p.deviceOverlap = m.copy_engines.value_or(0) > 0;
  p.computeMode = cudaComputeModeDefault;
  p.singleToDoublePrecisionPerfRatio = m.fp32_fp64_ratio;
  p.cooperativeMultiDeviceLaunch = m.cooperative_launch;
}

bool attribute(cudaDeviceAttr which, const Context& context, int* value) {
  const model::Device& m = context.model;
  const Plugged at(context.ordinal);
  switch (which) {
#define WB_ATTRIBUTE(name, expression) \
  case name: *value = static_cast<int>(expression); return true;
#include "cuda/devices/attributes.inc"
#undef WB_ATTRIBUTE
    case cudaDevAttrReserved92:  // numbers of attributes that are gone; they read as no
    case cudaDevAttrReserved93:
    case cudaDevAttrReserved94:
    case cudaDevAttrReserved96: *value = 0; return true;
    default: return false;
  }
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return edge([&]() -> cudaError_t {
    if (!properties) return cudaErrorInvalidValue;
    Context* context = nullptr;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    fill(*properties, *context);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return edge([&]() -> cudaError_t {
    if (!value) return cudaErrorInvalidValue;
    Context* context = nullptr;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    return attribute(which, *context, value) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return edge([&]() -> cudaError_t {
    if (!text || length <= 0) return cudaErrorInvalidValue;
    Context* context = nullptr;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    Plugged at(device);
    std::string id = fmt::format("{:04x}:{:02x}:{:02x}.0", at.domain, at.bus, at.slot);
    if (static_cast<int>(id.size()) >= length) return cudaErrorInvalidValue;
    std::strcpy(text, id.c_str());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return edge([&] {
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    if (!device || !text) return cudaErrorInvalidValue;
    if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
      domain = 0;
      if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return cudaErrorInvalidValue;
    }
    for (int i = 0; i < device_count(); ++i) {
      Plugged at(i);
      if (domain != static_cast<unsigned>(at.domain) || bus != static_cast<unsigned>(at.bus) || slot != static_cast<unsigned>(at.slot))
        continue;
      *device = i;
      return cudaSuccess;
    }
    return cudaErrorInvalidDevice;
  });
}

// The device that agrees with the wish in most of what it names, and of those the first.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wish) {
  return edge([&] {
    if (!device || !wish) return cudaErrorInvalidValue;
    if (device_count() == 0) return cudaErrorNoDevice;
    int best = -1;
    for (int i = 0; i < device_count(); ++i) {
      cudaDeviceProp have;
      fill(have, *process().contexts[i]);
      int score = 0;
      score += wish->major && (have.major > wish->major || (have.major == wish->major && have.minor >= wish->minor));
      score += wish->totalGlobalMem && have.totalGlobalMem >= wish->totalGlobalMem;
      score += wish->multiProcessorCount && have.multiProcessorCount >= wish->multiProcessorCount;
      score += wish->name[0] && std::strncmp(have.name, wish->name, sizeof have.name) == 0;
      if (score <= best) continue;
      best = score;
      *device = i;
    }
    return cudaSuccess;
  });
}

}  // extern "C"
