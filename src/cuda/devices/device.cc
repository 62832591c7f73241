// Choosing, configuring, synchronising and resetting devices.
#include <algorithm>

#include "cuda/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/memory/memory.h"
#include "observe/tool.h"
#include "vm/device_heap.h"

namespace warpbeam::cuda {

namespace {

constexpr unsigned kDeviceFlags = cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
constexpr size_t kMinPrintfBytes = 512 << 10;
constexpr size_t kMinHeapBytes = 4 << 20, kHeapUnit = 64 << 10;
constexpr size_t kL2Ways = 16;  // what is set aside is a whole number of them
constexpr size_t kMaxStackBytes = 512 << 10;  // local memory of a thread

bool valid_flags(unsigned flags) {
  unsigned schedule = flags & cudaDeviceScheduleMask;
  return !(flags & ~kDeviceFlags) && (schedule & (schedule - 1)) == 0;
}

size_t printf_bytes(const Context& context) {
  // Drivers size the default by the number of multiprocessors.
  size_t standard = std::max<size_t>(1 << 20, size_t{64 << 10} * context.model.sm_count);
  return context.settings.printf_limit ? context.settings.printf_limit : standard;
}

constexpr size_t kMostSyncDepth = 24;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

cudaError_t set_limit(Context& context, cudaLimit limit, size_t value) {
  std::lock_guard lock(context.mutex);
  DeviceSettings& settings = context.settings;
  switch (limit) {
    case cudaLimitStackSize:
      if (value > kMaxStackBytes) return cudaErrorInvalidValue;
      settings.stack_limit = round_up(value, 16);
      return cudaSuccess;
    case cudaLimitMallocHeapSize:
      if (value > context.model.memory_bytes) return cudaErrorMemoryAllocation;
      if (vm::DeviceHeap::exists(&context.memory)) return cudaErrorInvalidValue;
      settings.heap_limit = std::max(kMinHeapBytes, round_up(value, kHeapUnit));
      return cudaSuccess;
    case cudaLimitPrintfFifoSize: settings.printf_limit = std::max(value, kMinPrintfBytes); return cudaSuccess;
    case cudaLimitDevRuntimePendingLaunchCount: settings.pending_launches = value; return cudaSuccess;
    case cudaLimitMaxL2FetchGranularity:
      if (value > 128) return cudaErrorInvalidValue;
      settings.l2_granularity = value;
      return cudaSuccess;
    case cudaLimitPersistingL2CacheSize:
      if (context.model.persisting_l2_bytes == 0) return cudaErrorUnsupportedLimit;
      settings.persisting_l2 =
          std::min<size_t>(round_up(value, static_cast<size_t>(context.model.l2_bytes) / kL2Ways), context.model.persisting_l2_bytes);
      return cudaSuccess;
    case cudaLimitDevRuntimeSyncDepth:
      if (value > kMostSyncDepth) return cudaErrorInvalidValue;
      settings.sync_depth = static_cast<unsigned>(value);
      return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t get_limit(Context& context, cudaLimit limit, size_t* value) {
  std::lock_guard lock(context.mutex);
  const DeviceSettings& settings = context.settings;
  switch (limit) {
    case cudaLimitStackSize: *value = settings.stack_limit; return cudaSuccess;
    case cudaLimitMallocHeapSize: *value = settings.heap_limit; return cudaSuccess;
    case cudaLimitPrintfFifoSize: *value = printf_bytes(context); return cudaSuccess;
    case cudaLimitDevRuntimePendingLaunchCount: *value = settings.pending_launches; return cudaSuccess;
    case cudaLimitMaxL2FetchGranularity: *value = settings.l2_granularity; return cudaSuccess;
    case cudaLimitPersistingL2CacheSize:
      if (context.model.persisting_l2_bytes == 0) return cudaErrorUnsupportedLimit;
      *value = settings.persisting_l2;
      return cudaSuccess;
    case cudaLimitDevRuntimeSyncDepth: *value = settings.sync_depth; return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

bool can_access(const Context& from, const Context& to) {
  return &from != &to && from.model.unified_addressing && to.model.unified_addressing;
}

cudaError_t mark_recording(bool on) {
  return in_context([&](Context& context) {
    if (auto* tool = observe::tool()) {
      context.synchronize();  // what was launched before belongs to the time before
      tool->recording(on);
    }
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return edge([&] {
    if (!count) return cudaErrorInvalidValue;
    *count = device_count();
    return *count ? cudaSuccess : cudaErrorNoDevice;
  });
}

cudaError_t cudaSetDevice(int device) {
  return edge([&]() -> cudaError_t {
    Context* context = nullptr;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    this_thread().device = device;
    make_current(*context);
    context->activate();
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return edge([&]() -> cudaError_t {
    if (!device) return cudaErrorInvalidValue;
    ThreadState& thread = this_thread();
    if (device_count() == 0) return cudaErrorNoDevice;
    if (thread.context_count) {
      *device = thread.contexts[thread.context_count - 1].context->ordinal;
      return cudaSuccess;
    }
    *device = thread.device >= 0 ? thread.device : thread.valid_device_count ? thread.valid_devices[0] : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return edge([&] {
    if (count < 0 || count > device_count() || (count && !devices)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i)
      if (devices[i] < 0 || devices[i] >= device_count()) return cudaErrorInvalidDevice;
    ThreadState& thread = this_thread();
    std::copy_n(devices, count, thread.valid_devices.begin());
    thread.valid_device_count = count;
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
  return edge([&]() -> cudaError_t {
    Context* context = nullptr;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    if (flags & ~unsigned{cudaInitDeviceFlagsAreValid}) return cudaErrorInvalidValue;
    if (flags) {
      if (!valid_flags(device_flags)) return cudaErrorInvalidValue;
      std::lock_guard lock(context->mutex);
      context->settings.flags = device_flags | cudaDeviceMapHost;
    }
    context->activate();
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return edge([&]() -> cudaError_t {
    if (!valid_flags(flags)) return cudaErrorInvalidValue;
    Context* context = nullptr;
    if (cudaError_t status = current_context(&context); status != cudaSuccess) return status;
    std::lock_guard lock(context->mutex);
    context->settings.flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return edge([&]() -> cudaError_t {
    if (!flags) return cudaErrorInvalidValue;
    Context* context = nullptr;
    if (cudaError_t status = current_context(&context); status != cudaSuccess) return status;
    std::lock_guard lock(context->mutex);
    *flags = context->settings.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize(void) {
  return in_context([](Context& context) {
    forbid_any_capture();
    context.synchronize();
    return context.failure();
  });
}

// Here a reset also mends a context that a kernel broke.
cudaError_t cudaDeviceReset(void) {
  return edge([]() -> cudaError_t {
    Context* context = nullptr;
    if (cudaError_t status = current_context(&context); status != cudaSuccess) return status;
    context->reset();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return in_context([&](Context& context) { return set_limit(context, limit, value); });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return in_context([&](Context& context) { return value ? get_limit(context, limit, value) : cudaErrorInvalidValue; });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return in_context([&](Context& context) {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    std::lock_guard lock(context.mutex);
    context.settings.cache = config;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return in_context([&](Context& context) {
    if (!config) return cudaErrorInvalidValue;
    std::lock_guard lock(context.mutex);
    *config = context.settings.cache;
    return cudaSuccess;
  });
}

// Banks of eight bytes existed on compute capability 3.x only; elsewhere the wish is accepted and changes nothing.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return in_context([&](Context& context) {
    if (config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte) return cudaErrorInvalidValue;
    std::lock_guard lock(context.mutex);
    context.settings.banks = config;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return in_context([&](Context& context) {
    if (!config) return cudaErrorInvalidValue;
    std::lock_guard lock(context.mutex);
    const bool eight = context.model.major == 3 && context.settings.banks == cudaSharedMemBankSizeEightByte;
    *config = eight ? cudaSharedMemBankSizeEightByte : cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return edge([&]() -> cudaError_t {
    if (!can) return cudaErrorInvalidValue;
    Context *from = nullptr, *to = nullptr;
    if (cudaError_t status = context_of(device, &from); status != cudaSuccess) return status;
    if (cudaError_t status = context_of(peer, &to); status != cudaSuccess) return status;
    *can = can_access(*from, *to);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return in_context([&](Context& context) -> cudaError_t {
    Context* other = nullptr;
    if (cudaError_t status = context_of(peer, &other); status != cudaSuccess) return status;
    if (flags != 0) return cudaErrorInvalidValue;
    if (!can_access(context, *other)) return cudaErrorPeerAccessUnsupported;
    {
      std::lock_guard lock(context.mutex);
      if (!context.peers.insert(other).second) return cudaErrorPeerAccessAlreadyEnabled;
    }
    share_device_memory(*other, context);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return in_context([&](Context& context) -> cudaError_t {
    Context* other = nullptr;
    if (cudaError_t status = context_of(peer, &other); status != cudaSuccess) return status;
    {
      std::lock_guard lock(context.mutex);
      if (!context.peers.erase(other)) return cudaErrorPeerAccessNotEnabled;
    }
    context.synchronize();
    unshare_device_memory(*other, context);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from_device, int to_device) {
  return edge([&]() -> cudaError_t {
    Context *from = nullptr, *to = nullptr;
    if (!value) return cudaErrorInvalidValue;
    if (cudaError_t status = context_of(from_device, &from); status != cudaSuccess) return status;
    if (cudaError_t status = context_of(to_device, &to); status != cudaSuccess) return status;
    if (from == to) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevP2PAttrPerformanceRank: *value = 0; return cudaSuccess;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
      case cudaDevP2PAttrCudaArrayAccessSupported: *value = can_access(*from, *to); return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return edge([&] {
    if (!version) return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaProfilerStart(void) { return mark_recording(true); }

cudaError_t cudaProfilerStop(void) { return mark_recording(false); }

}  // extern "C"
