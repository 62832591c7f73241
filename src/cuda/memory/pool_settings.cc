// Which pools there are, which one is current at a place, what may be set, and who sees the memory.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cuda/edge.h"
#include "cuda/memory/pool.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

template <class Body>
cudaError_t with_pool(cudaMemPool_t handle, Body&& body) {
  return edge([&]() -> cudaError_t {
    PoolRef pool = pools().all.find(handle);
    if (!pool) return cudaErrorInvalidValue;
    return body(pool);
  });
}

bool is_numa_node(int node) {
  return node == 0 || (node > 0 && access(fmt::format("/sys/devices/system/node/node{}", node).c_str(), F_OK) == 0);
}

// Whether pools can be at a place.
cudaError_t check_place(cudaMemAllocationType type, cudaMemLocation location) {
  if (type != cudaMemAllocationTypePinned && type != cudaMemAllocationTypeManaged) return cudaErrorInvalidValue;
  if (device_count() == 0) return cudaErrorNoDevice;
  const model::Device& first = process().contexts[0]->model;
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      if (location.id < 0 || location.id >= device_count()) return cudaErrorInvalidDevice;
      return process().contexts[location.id]->model.memory_pools ? cudaSuccess : cudaErrorNotSupported;
    case cudaMemLocationTypeHost: return first.host_memory_pools ? cudaSuccess : cudaErrorNotSupported;
    case cudaMemLocationTypeHostNuma:
      if (!is_numa_node(location.id)) return cudaErrorInvalidValue;
      return first.host_numa_memory_pools ? cudaSuccess : cudaErrorNotSupported;
    case cudaMemLocationTypeNone:
      if (type != cudaMemAllocationTypeManaged) return cudaErrorInvalidValue;
      return first.memory_pools ? cudaSuccess : cudaErrorNotSupported;
    default: return cudaErrorInvalidValue;
  }
}

Pools::Place key_of(cudaMemAllocationType type, cudaMemLocation location) {
  const bool numbered = location.type == cudaMemLocationTypeDevice || location.type == cudaMemLocationTypeHostNuma;
  return {type, location.type, numbered ? location.id : 0};
}

PoolRef default_pool(cudaMemAllocationType type, cudaMemLocation location) {
  Pools& p = pools();
  std::lock_guard lock(p.mutex);
  PoolRef& pool = p.standard[key_of(type, location)];
  if (!pool) {
    cudaMemPoolProps properties{};
    properties.allocType = type;
    properties.location = location;
    pool = std::make_shared<Pool>(properties, true);
    p.all.add(pool);
  }
  return pool;
}

PoolRef current_pool(cudaMemAllocationType type, cudaMemLocation location) {
  PoolRef standard = default_pool(type, location);
  Pools& p = pools();
  std::lock_guard lock(p.mutex);
  auto chosen = p.current.find(key_of(type, location));
  return chosen == p.current.end() ? standard : chosen->second;
}

cudaError_t get_pool(cudaMemPool_t* pool, cudaMemAllocationType type, cudaMemLocation location, bool standard) {
  return edge([&]() -> cudaError_t {
    if (!pool) return cudaErrorInvalidValue;
    if (cudaError_t status = check_place(type, location); status != cudaSuccess) return status;
    *pool = (standard ? default_pool(type, location) : current_pool(type, location))->handle();
    return cudaSuccess;
  });
}

// Imported pools allocate nothing, so they cannot be anybody's current one.
cudaError_t set_pool(cudaMemAllocationType type, cudaMemLocation location, cudaMemPool_t handle) {
  return with_pool(handle, [&](const PoolRef& pool) -> cudaError_t {
    if (cudaError_t status = check_place(type, location); status != cudaSuccess) return status;
    if (pool->imported || key_of(pool->properties.allocType, pool->properties.location) != key_of(type, location))
      return cudaErrorInvalidValue;
    std::lock_guard lock(pools().mutex);
    pools().current[key_of(type, location)] = pool;
    return cudaSuccess;
  });
}

cudaError_t check_handles(const cudaMemPoolProps& properties) {
  if (properties.handleTypes == cudaMemHandleTypeNone) return cudaSuccess;
  if (properties.location.type == cudaMemLocationTypeHost || properties.allocType != cudaMemAllocationTypePinned)
    return cudaErrorInvalidValue;
  return properties.handleTypes == cudaMemHandleTypePosixFileDescriptor ? cudaSuccess : cudaErrorNotSupported;
}

// Shows the pool's memory to another device's kernels, or hides it from them.
void set_reader(const PoolRef& pool, int device, bool may_read) {
  std::lock_guard lock(pools().mutex);
  std::lock_guard pool_lock(pool->mutex);
  if (!(may_read ? pool->readers.insert(device).second : pool->readers.erase(device) > 0)) return;
  if (!pool->on_device()) return;  // what hosts touch is everyone's
  for (const auto& [address, part] : pools().parts) {
    if (part.pool != pool) continue;
    auto place = locate(reinterpret_cast<void*>(address));
    if (!place) continue;
    if (may_read) {
      show_pooled(*pool, *place->owner, place->allocation);
      continue;
    }
    for_each_context([&](Context& context) {
      if (&context != place->owner && context.ordinal == device) context.memory.free(address);
    });
  }
}

cudaError_t check_wish(const Pool& pool, const cudaMemAccessDesc& wish) {
  const bool readable = wish.flags == cudaMemAccessFlagsProtReadWrite;
  if (!readable && wish.flags != cudaMemAccessFlagsProtNone) return cudaErrorInvalidValue;
  if (wish.location.type == cudaMemLocationTypeHost && !pool.on_device()) return readable ? cudaSuccess : cudaErrorInvalidValue;
  if (wish.location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
  if (wish.location.id < 0 || wish.location.id >= device_count()) return cudaErrorInvalidDevice;
  if (!pool.on_device()) return cudaSuccess;
  // A pool's own device always has access and cannot lose it.
  if (pool.on_device(wish.location.id)) return readable ? cudaSuccess : cudaErrorInvalidDevice;
  int can = 0;
  cudaError_t status = cudaDeviceCanAccessPeer(&can, wish.location.id, pool.properties.location.id);
  return status == cudaSuccess && !can ? cudaErrorInvalidDevice : status;
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam;
using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return get_pool(pool, cudaMemAllocationTypePinned, {cudaMemLocationTypeDevice, device}, true);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return get_pool(pool, cudaMemAllocationTypePinned, {cudaMemLocationTypeDevice, device}, false);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return set_pool(cudaMemAllocationTypePinned, {cudaMemLocationTypeDevice, device}, handle);
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return location ? get_pool(pool, type, *location, true) : remember(cudaErrorInvalidValue);
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return location ? get_pool(pool, type, *location, false) : remember(cudaErrorInvalidValue);
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t handle) {
  return location ? set_pool(type, *location, handle) : remember(cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
  return edge([&]() -> cudaError_t {
    if (!handle || !properties) return cudaErrorInvalidValue;
    if (cudaError_t status = check_place(properties->allocType, properties->location); status != cudaSuccess) return status;
    if (cudaError_t status = check_handles(*properties); status != cudaSuccess) return status;
    auto pool = std::make_shared<Pool>(*properties, false);
    if (properties->handleTypes != cudaMemHandleTypeNone && !begin_file(*pool)) return cudaErrorMemoryAllocation;
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
    std::erase_if(pools().current, [&](const auto& entry) { return entry.second == pool; });
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep) {
  return with_pool(handle, [&](const PoolRef& pool) {
    std::lock_guard lock(pool->mutex);
    pool->keep_at_most(keep);
    return cudaSuccess;
  });
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
      case cudaMemPoolAttrReleaseThreshold:
        pool->release_threshold = *static_cast<uint64_t*>(value);
        if (auto* tool = observe::tool()) tool->pool_keeps(pool->release_threshold, !pool->is_default);
        return cudaSuccess;
      // High-water marks may only be reset.
      case cudaMemPoolAttrReservedMemHigh:
        if (*static_cast<uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        pool->reserved_high = pool->reserved;
        return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh:
        if (*static_cast<uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        pool->used_high = pool->used;
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](const PoolRef& pool) {
    if (!value) return cudaErrorInvalidValue;
    std::lock_guard lock(pool->mutex);
    const auto number = [&](uint64_t n) {
      *static_cast<uint64_t*>(value) = n;
      return cudaSuccess;
    };
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) = pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold: return number(pool->release_threshold);
      case cudaMemPoolAttrReservedMemCurrent: return number(pool->reserved);
      case cudaMemPoolAttrReservedMemHigh: return number(pool->reserved_high);
      case cudaMemPoolAttrUsedMemCurrent: return number(pool->used);
      case cudaMemPoolAttrUsedMemHigh: return number(pool->used_high);
      default: return cudaErrorInvalidValue;
    }
  });
}

// Nothing is set when one wish is wrong.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* wishes, size_t count) {
  return with_pool(handle, [&](const PoolRef& pool) {
    if (count && !wishes) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (cudaError_t status = check_wish(*pool, wishes[i]); status != cudaSuccess) return status;
    for (size_t i = 0; i < count; ++i) {
      if (wishes[i].location.type != cudaMemLocationTypeDevice) continue;
      const bool may_read = wishes[i].flags == cudaMemAccessFlagsProtReadWrite;
      if (!may_read) process().contexts[wishes[i].location.id]->synchronize();
      set_reader(pool, wishes[i].location.id, may_read);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle, cudaMemLocation* location) {
  return with_pool(handle, [&](const PoolRef& pool) {
    if (!flags || !location) return cudaErrorInvalidValue;
    if (location->type == cudaMemLocationTypeHost && !pool->on_device()) {
      *flags = cudaMemAccessFlagsProtReadWrite;
      return cudaSuccess;
    }
    if (location->type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    if (location->id < 0 || location->id >= device_count()) return cudaErrorInvalidDevice;
    std::lock_guard lock(pool->mutex);
    *flags = pool->readers.contains(location->id) ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

}  // extern "C"
