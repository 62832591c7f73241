// Stream-ordered allocation. Address space is plentiful here, so an allocation is made at the call; what follows stream
// order is the free. Pools keep accounts and attributes; memory goes back to the host as soon as it is free.
#include <algorithm>
#include <unordered_map>

#include "cuda/capture.h"
#include "cuda/edge.h"
#include "cuda/memory.h"
#include "cuda/ops.h"

namespace warpbeam::cuda {

namespace {

struct Pool {
  Pool(Context& context, bool is_default) : context(context), is_default(is_default) {}
  Context& context;
  const bool is_default;
  std::mutex mutex;
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // event dependencies, opportunistic, internal dependencies
  uint64_t used = 0, used_high = 0, reserved_high = 0;
  cudaMemPool_t handle() { return reinterpret_cast<cudaMemPool_t>(this); }
};
using PoolRef = std::shared_ptr<Pool>;

constexpr uint64_t kReserveStep = 32 << 20;  // pools grow in steps of this

// Every pool, the current one of each device, and which pool an allocation came from.
struct Pools {
  HandleTable<Pool> all;
  std::mutex mutex;
  std::unordered_map<int, PoolRef> standard, current;
  std::unordered_map<uint64_t, std::pair<PoolRef, uint64_t>> origin;  // by address: pool and size
};

Pools& pools() {
  static auto* pools = new Pools;
  return *pools;
}

PoolRef default_pool(Context& context) {
  Pools& p = pools();
  std::lock_guard lock(p.mutex);
  PoolRef& pool = p.standard[context.ordinal];
  if (!pool) {
    pool = std::make_shared<Pool>(context, true);
    p.all.add(pool);
  }
  return pool;
}

PoolRef current_pool(Context& context) {
  PoolRef standard = default_pool(context);
  Pools& p = pools();
  std::lock_guard lock(p.mutex);
  PoolRef& pool = p.current[context.ordinal];
  return pool ? pool : standard;
}

cudaError_t allocate_from(const PoolRef& pool, size_t size, cudaStream_t stream, void** pointer) {
  if (!find_stream(pool->context, stream)) return cudaErrorInvalidResourceHandle;
  cudaError_t status = allocate(pool->context, size, vm::MemoryKind::Device, "cudaMallocAsync", 0, pointer);
  if (status != cudaSuccess || size == 0) return status;
  {
    std::lock_guard lock(pool->mutex);
    pool->used += size;
    pool->used_high = std::max(pool->used_high, pool->used);
    pool->reserved_high = std::max(pool->reserved_high, (pool->used + kReserveStep - 1) / kReserveStep * kReserveStep);
  }
  std::lock_guard lock(pools().mutex);
  pools().origin[reinterpret_cast<uint64_t>(*pointer)] = {pool, size};
  return cudaSuccess;
}

// In a capturing stream an allocation becomes a memory node.
bool captured(Context& context, size_t size, cudaStream_t handle, void** pointer, cudaError_t* status) {
  StreamRef stream = find_stream(context, handle);
  if (!stream || !stream->capture) return false;
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, context.ordinal};
  params.bytesize = size;
  AllocPart part;
  {
    std::lock_guard lock(graphs().mutex);
    *status = alloc_part(&params, &part);
  }
  if (*status != cudaSuccess) return true;
  *pointer = params.dptr;
  capture_part(*stream, std::move(part));
  return true;
}

cudaError_t malloc_async(void** pointer, size_t size, cudaStream_t stream) {
  return in_context([&](Context& context) {
    if (!pointer) return cudaErrorInvalidValue;
    if (!context.model.memory_pools) return cudaErrorNotSupported;
    if (cudaError_t status; captured(context, size, stream, pointer, &status)) return status;
    return allocate_from(current_pool(context), size, stream, pointer);
  });
}

cudaError_t malloc_from_pool(void** pointer, size_t size, cudaMemPool_t handle, cudaStream_t stream) {
  return in_context([&](Context&) {
    PoolRef pool = pools().all.find(handle);
    if (!pointer || !pool) return cudaErrorInvalidValue;
    if (cudaError_t status; captured(pool->context, size, stream, pointer, &status)) return status;
    return allocate_from(pool, size, stream, pointer);
  });
}

cudaError_t free_async(void* pointer, cudaStream_t handle) {
  return in_context([&](Context& context) {
    StreamRef stream = find_stream(context, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!pointer) return cudaSuccess;
    if (stream->capture) {
      FreePart part;
      {
        std::lock_guard lock(graphs().mutex);
        part.memory = find_graph_memory(pointer);
      }
      if (!part.memory) return cudaErrorInvalidValue;
      capture_part(*stream, std::move(part));
      return cudaSuccess;
    }
    if (cudaError_t status; free_graph_memory(pointer, &status)) return status;
    auto place = locate(pointer);
    if (!place || !place->starts_at(pointer) || place->allocation.kind != vm::MemoryKind::Device)
      return bad_free(pointer);
    enqueue(stream->context, stream, InternalWork{[owner = place->owner, base = place->allocation.base] {
              account_free(base);
              release(*owner, base);
            }});
    return cudaSuccess;
  });
}

template <class Body>
cudaError_t with_pool(cudaMemPool_t handle, Body&& body) {
  return edge([&]() -> cudaError_t {
    PoolRef pool = pools().all.find(handle);
    if (!pool) return cudaErrorInvalidValue;
    return body(pool);
  });
}

}  // namespace

void account_free(uint64_t base) {
  Pools& p = pools();
  std::lock_guard lock(p.mutex);
  auto found = p.origin.find(base);
  if (found == p.origin.end()) return;
  auto& [pool, size] = found->second;
  {
    std::lock_guard pool_lock(pool->mutex);
    pool->used -= std::min(pool->used, size);
  }
  p.origin.erase(found);
}

}  // namespace warpbeam::cuda

using namespace warpbeam;
using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return malloc_async(pointer, size, stream);
}

WB_TWIN cudaError_t cudaMallocAsync_ptsz(void** pointer, size_t size, cudaStream_t stream) {
  return malloc_async(pointer, size, per_thread(stream));
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return malloc_from_pool(pointer, size, pool, stream);
}

WB_TWIN cudaError_t cudaMallocFromPoolAsync_ptsz(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return malloc_from_pool(pointer, size, pool, per_thread(stream));
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) { return free_async(pointer, stream); }
WB_TWIN cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return free_async(pointer, per_thread(stream));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return edge([&]() -> cudaError_t {
    Context* context = nullptr;
    if (!pool) return cudaErrorInvalidValue;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    if (!context->model.memory_pools) return cudaErrorNotSupported;
    *pool = default_pool(*context)->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return edge([&]() -> cudaError_t {
    Context* context = nullptr;
    if (!pool) return cudaErrorInvalidValue;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    if (!context->model.memory_pools) return cudaErrorNotSupported;
    *pool = current_pool(*context)->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return with_pool(handle, [&](const PoolRef& pool) -> cudaError_t {
    Context* context = nullptr;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    if (&pool->context != context) return cudaErrorInvalidValue;
    std::lock_guard lock(pools().mutex);
    pools().current[device] = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
  return edge([&]() -> cudaError_t {
    if (!handle || !properties || properties->allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;  // sharing between processes
    if (properties->location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    Context* context = nullptr;
    if (cudaError_t status = context_of(properties->location.id, &context); status != cudaSuccess) return status;
    if (!context->model.memory_pools) return cudaErrorNotSupported;
    auto pool = std::make_shared<Pool>(*context, false);
    *handle = pool->handle();
    pools().all.add(std::move(pool));
    return cudaSuccess;
  });
}

// What was allocated from it stays valid until freed.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return with_pool(handle, [&](const PoolRef& pool) {
    if (pool->is_default) return cudaErrorInvalidValue;
    pools().all.remove(handle);
    std::lock_guard lock(pools().mutex);
    auto current = pools().current.find(pool->context.ordinal);
    if (current != pools().current.end() && current->second == pool) pools().current.erase(current);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t) {
  return with_pool(handle, [](const PoolRef&) { return cudaSuccess; });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](const PoolRef& pool) {
    if (!value) return cudaErrorInvalidValue;
    std::lock_guard lock(pool->mutex);
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold: pool->release_threshold = *static_cast<uint64_t*>(value); return cudaSuccess;
      // High-water marks may only be reset.
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        if (*static_cast<uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        (attribute == cudaMemPoolAttrUsedMemHigh ? pool->used_high : pool->reserved_high) = pool->used;
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](const PoolRef& pool) {
    if (!value) return cudaErrorInvalidValue;
    std::lock_guard lock(pool->mutex);
    auto& number = *static_cast<uint64_t*>(value);
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) = pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold: number = pool->release_threshold; return cudaSuccess;
      case cudaMemPoolAttrReservedMemCurrent:
        number = (pool->used + kReserveStep - 1) / kReserveStep * kReserveStep;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh: number = pool->reserved_high; return cudaSuccess;
      case cudaMemPoolAttrUsedMemCurrent: number = pool->used; return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh: number = pool->used_high; return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

// Access follows peer access between devices; a pool's own device always has it and cannot lose it.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* wishes, size_t count) {
  return with_pool(handle, [&](const PoolRef& pool) {
    if (count && !wishes) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      const cudaMemAccessDesc& wish = wishes[i];
      if (wish.location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
      if (wish.location.id < 0 || wish.location.id >= device_count()) return cudaErrorInvalidDevice;
      if (wish.location.id == pool->context.ordinal) {
        if (wish.flags != cudaMemAccessFlagsProtReadWrite) return cudaErrorInvalidDevice;
        continue;
      }
      if (wish.flags == cudaMemAccessFlagsProtNone) continue;
      Context& reader = *process().contexts[wish.location.id];
      {
        std::lock_guard lock(reader.mutex);
        reader.peers.insert(&pool->context);
      }
      share_device_memory(pool->context, reader);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle, cudaMemLocation* location) {
  return with_pool(handle, [&](const PoolRef& pool) {
    if (!flags || !location || location->type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    if (location->id < 0 || location->id >= device_count()) return cudaErrorInvalidDevice;
    Context& reader = *process().contexts[location->id];
    std::lock_guard lock(reader.mutex);
    bool access = &reader == &pool->context || reader.peers.contains(&pool->context);
    *flags = access ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

}  // extern "C"
