#include "cuda/memory/pool.h"

#include <unistd.h>

#include <algorithm>

#include "cuda/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/streams/ops.h"
#include "observe/own_pool.h"

namespace warpbeam::cuda {

namespace {

constexpr uint64_t kReserveStep = 32 << 20;  // pools grow in steps of this

uint64_t in_steps(uint64_t bytes) {
  return bytes > UINT64_MAX - kReserveStep ? bytes : (bytes + kReserveStep - 1) / kReserveStep * kReserveStep;
}

}  // namespace

Pool::Pool(const cudaMemPoolProps& properties, bool is_default) : properties(properties), is_default(is_default) {
  if (on_device()) readers.insert(properties.location.id);
}

Pool::~Pool() {
  if (file >= 0) close(file);
}

void Pool::count_use(uint64_t bytes) {
  used += bytes;
  used_high = std::max(used_high, used);
  reserved = std::max(reserved, in_steps(used));
  reserved_high = std::max(reserved_high, reserved);
}

uint64_t Pool::threshold() const { return release_threshold / kReserveStep * kReserveStep; }

void Pool::keep_at_most(uint64_t bytes) { reserved = std::max(in_steps(used), std::min(reserved, in_steps(bytes))); }

Pools& pools() {
  static auto* pools = new Pools;
  return *pools;
}

Context& owner_of(const Pool& pool, Context& caller) {
  if (!pool.on_device() || pool.on_device(caller.ordinal)) return caller;
  return *process().contexts[pool.properties.location.id];
}

void show_pooled(const Pool& pool, Context& owner, const vm::Allocation& allocation) {
  if (!pool.on_device() || pool.managed()) return;  // what hosts touch is everyone's
  for_each_context([&](Context& context) {
    if (&context != &owner && pool.readers.contains(context.ordinal)) show(context, allocation);
  });
}

bool is_pooled(uint64_t base) {
  std::lock_guard lock(pools().mutex);
  return pools().parts.contains(base);
}

void release_pooled(Context& owner, const vm::Allocation& allocation) {
  PoolPart part;
  {
    std::lock_guard lock(pools().mutex);
    auto found = pools().parts.find(allocation.base);
    if (found != pools().parts.end()) {
      part = std::move(found->second);
      pools().parts.erase(found);
    }
  }
  release(owner, allocation.base);
  if (!part.pool) return;
  if (part.file_bytes) leave_file(part, allocation.base);
  std::lock_guard lock(part.pool->mutex);
  if (!part.freed) part.pool->used -= part.size;
  part.pool->keep_at_most(part.pool->threshold());
}

void forget_pools(Context& context) {
  for (const vm::Allocation& allocation : context.memory.live())
    if (auto place = locate(reinterpret_cast<void*>(allocation.base)); place && place->owner == &context && is_pooled(allocation.base))
      release_pooled(context, allocation);
  if (!context.primary()) return;
  for (const PoolRef& pool : pools().all.all())
    if (pool->on_device(context.ordinal) && !pool->is_default) pools().all.remove(pool.get());
  std::lock_guard lock(pools().mutex);
  std::erase_if(pools().current, [&](const auto& entry) { return entry.second->on_device(context.ordinal); });
}

namespace {

PoolRef current_pool(Context& context) {
  cudaMemPool_t handle = nullptr;
  return cudaDeviceGetMemPool(&handle, context.ordinal) == cudaSuccess ? pools().all.find(handle) : nullptr;
}

// What was freed in stream order before may be used again, whether the free is done yet or not: pages belong to
// addresses, and addresses are not given out twice.
bool has_room(Pool& pool, uint64_t size) {
  std::lock_guard lock(pool.mutex);
  // Measured: a pool holds whole steps, so the last one may be filled.
  const uint64_t most = (pool.properties.maxSize + kReserveStep - 1) / kReserveStep * kReserveStep, held = pool.used;
  return most == 0 || (held <= most && size <= most - held);
}

cudaError_t allocate_from(const PoolRef& pool, Context& caller, size_t size, cudaStream_t stream, void** pointer) {
  Context& owner = owner_of(*pool, caller);
  StreamRef order = find_stream(owner, stream);
  if (!order) return cudaErrorInvalidResourceHandle;
  if (pool->imported) return cudaErrorInvalidValue;
  if (!has_room(*pool, size)) return cudaErrorMemoryAllocation;
  const auto kind = pool->managed() ? vm::MemoryKind::Managed : pool->on_device() ? vm::MemoryKind::Device : vm::MemoryKind::Pinned;
  const uint32_t flags = pool->managed() ? unsigned{cudaMemAttachGlobal} : 0;
  const uint32_t of_pool = kPooled | (pool->is_default ? 0 : observe::kOwnPool) | (pool->file >= 0 ? kInFile : 0);
  cudaError_t status = allocate(owner, size, kind, "cudaMallocAsync", flags | of_pool, pointer);
  if (status != cudaSuccess || size == 0) return status;
  const vm::Allocation allocation = *owner.memory.find(reinterpret_cast<uint64_t>(*pointer));
  PoolPart part{pool, size};
  {
    std::lock_guard lock(pool->mutex);
    if (pool->file >= 0) {
      status = put_in_file(*pool, allocation, &part);
      owner.memory.pages_replaced(allocation.base);
    }
    if (status == cudaSuccess) {
      pool->count_use(size);
      show_pooled(*pool, owner, allocation);
    }
  }
  if (status != cudaSuccess) {
    release(owner, allocation.base);
    return status;
  }
  {
    std::lock_guard lock(pools().mutex);
    pools().parts[allocation.base] = std::move(part);
  }
  // The memory is there at once; only a watcher asks who may use it.
  if (auto* tool = observe::tool(); tool && tool->checks())
    if (OpRef op = enqueue(owner, order, InternalWork{[] {}})) tool->allocated_by(allocation.base, op->id);
  return cudaSuccess;
}

// In a capturing stream an allocation becomes a memory node.
bool captured(Context& context, int device, size_t size, cudaStream_t handle, void** pointer, cudaError_t* status) {
  StreamRef stream = find_stream(context, handle);
  if (!stream || !stream->capture) return false;
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, device};
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
    if (cudaError_t status; captured(context, context.ordinal, size, stream, pointer, &status)) return status;
    PoolRef pool = current_pool(context);
    return pool ? allocate_from(pool, context, size, stream, pointer) : cudaErrorInvalidValue;
  });
}

cudaError_t malloc_from_pool(void** pointer, size_t size, cudaMemPool_t handle, cudaStream_t stream) {
  return in_context([&](Context& context) {
    PoolRef pool = pools().all.find(handle);
    if (!pointer || !pool || pool->imported) return cudaErrorInvalidValue;
    if (pool->on_device() && !pool->managed())
      if (cudaError_t status; captured(context, pool->properties.location.id, size, stream, pointer, &status)) return status;
    return allocate_from(pool, context, size, stream, pointer);
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
    if (!place || !place->starts_at(pointer) || is_mapping(place->allocation)) return bad_free(pointer);
    const bool pooled = is_pooled(place->allocation.base);
    if (!pooled && place->allocation.kind != vm::MemoryKind::Device) return bad_free(pointer);
    if (!place->owner->memory.promise_free(place->allocation.base)) return bad_free(pointer);  // freed before
    if (pooled) {
      std::lock_guard lock(pools().mutex);
      PoolPart& part = pools().parts.at(place->allocation.base);
      std::lock_guard pool_lock(part.pool->mutex);
      part.pool->used -= part.size;
      part.freed = true;
    }
    enqueue(stream->context, stream,
            InternalWork{[owner = place->owner, allocation = place->allocation] { release_pooled(*owner, allocation); }});
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam;
using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) { return malloc_async(pointer, size, stream); }

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
WB_TWIN cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) { return free_async(pointer, per_thread(stream)); }

}  // extern "C"
