#include "cuda/memory/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/host_memory.h"
#include "cuda/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/memory/ipc.h"
#include "cuda/memory/pool.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

constexpr uint32_t kMapping = 1u << 30;  // Allocation::flags of virtual memory management

constexpr size_t kPitchAlignment = 512;  // of cudaMallocPitch on every device since cc 2.0
constexpr size_t kAlignment = 256;

bool host_visible(vm::MemoryKind kind) {
  using enum vm::MemoryKind;
  return kind == Pinned || kind == Registered || kind == Managed;
}

// Who enables peer access to `owner` sees this.
bool for_peers(const vm::Allocation& allocation) {
  return !host_visible(allocation.kind) && !allocation.foreign && !(allocation.flags & kPooled);
}

cudaError_t allocate_pitched(Context& context, void** pointer, size_t* pitch, size_t width, size_t rows) {
  *pitch = 0;
  if (width == 0 || rows == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  if (width > context.model.max_pitch) return cudaErrorInvalidValue;
  size_t row = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  if (rows > SIZE_MAX / row) return cudaErrorMemoryAllocation;
  cudaError_t status = allocate(context, row * rows, vm::MemoryKind::Device, "cudaMallocPitch", 0, pointer);
  if (status == cudaSuccess) *pitch = row;
  return status;
}

}  // namespace

void show(Context& reader, const vm::Allocation& allocation) {
  (void)reader.memory.adopt(reinterpret_cast<void*>(allocation.base), allocation.size, allocation.kind, allocation.origin, allocation.flags,
                            true);
}

void share(Context& owner, const vm::Allocation& allocation) {
  for_each_context([&](Context& context) {
    if (&context == &owner) return;
    bool sees = host_visible(allocation.kind);
    if (!sees && for_peers(allocation)) {
      std::lock_guard lock(context.mutex);
      sees = context.peers.contains(&owner);
    }
    if (sees) show(context, allocation);
  });
}

std::optional<Place> locate(const void* address) {
  std::optional<Place> place;
  for_each_context([&](Context& context) {
    if (place) return;
    auto allocation = context.memory.find(reinterpret_cast<uint64_t>(address));
    if (allocation && !allocation->foreign) place = Place{&context, std::move(*allocation)};
  });
  return place;
}

bool reaches(Context& context, const Place& place) {
  return place.owner->ordinal == context.ordinal || context.memory.find(place.allocation.base);
}

namespace {

// WARPBEAM_HOST_MEMORY, or what is available when the first to ask asks, less a part for the program itself.
uint64_t host_share() {
  static const uint64_t share = [] {
    const uint64_t available = available_host_memory(), own = available - available / 16;
    const char* text = std::getenv("WARPBEAM_HOST_MEMORY");
    if (!text || !*text) return own;
    char* end = nullptr;
    uint64_t bytes = std::strtoull(text, &end, 10);
    if (*end == 'M') bytes <<= 20, ++end;
    else if (*end == 'G') bytes <<= 30, ++end;
    if (!*end && *text != '-') return bytes;
    fmt::print(stderr, "warpbeam: WARPBEAM_HOST_MEMORY={}: a number of bytes was needed, as 16G; it is {}\n", text, own);
    return own;
  }();
  return share;
}

}  // namespace

uint64_t left_on_host() {
  uint64_t used = 0;
  for (int device = 0; device < device_count(); ++device) used += process().contexts[static_cast<size_t>(device)]->created_bytes;
  for_each_context([&](Context& context) { used += context.memory.used(); });
  return host_share() - std::min(host_share(), used);
}

bool host_can_give(size_t size, const std::string& what) {
  const uint64_t left = left_on_host();
  if (size <= left) return true;
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return false;  // who asks for less and less says it once
  fmt::print(
      stderr,
      "warpbeam: {} of {} bytes is refused: of {} bytes that the host can give to all devices {} are left. WARPBEAM_HOST_MEMORY=200G grants as "
      "much, to a program that leaves most of it untouched\n",
      what, size, host_share(), left);
  return false;
}

cudaError_t allocate(Context& context, size_t size, vm::MemoryKind kind, std::string origin, uint32_t flags, void** pointer) {
  if (size == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  if (size <= context.memory.capacity() && !host_can_give(size, origin)) return cudaErrorMemoryAllocation;
  auto allocation = context.memory.allocate(size, kAlignment, kind, std::move(origin), flags);
  if (!allocation) return cudaErrorMemoryAllocation;
  share(context, *allocation);
  if (auto* tool = observe::tool()) tool->allocated(*allocation, context.ordinal);
  *pointer = reinterpret_cast<void*>(allocation->base);
  return cudaSuccess;
}

void release(Context& owner, uint64_t base) {
  if (auto* tool = observe::tool())
    if (auto allocation = owner.memory.find(base)) tool->freed(*allocation, owner.ordinal);
  for_each_context([&](Context& context) {
    if (&context != &owner) context.memory.free(base);
  });
  forget_exported(base);
  owner.memory.free(base);
}

void release_all(Context& owner) {
  for (const vm::Allocation& allocation : owner.memory.live())
    if (allocation.foreign) owner.memory.free(allocation.base);
    else release(owner, allocation.base);
}

uint64_t memory_in_use(int device) {
  uint64_t used = process().contexts[device]->created_bytes;
  for_each_context([&](Context& context) {
    if (context.ordinal == device) used += context.memory.used();
  });
  return used;
}

void show_mapping(Context& owner, Context& reader, uint64_t address, uint64_t size) {
  (void)reader.memory.adopt(reinterpret_cast<void*>(address), size, vm::MemoryKind::Device, "cuMemMap", kMapping, &owner != &reader);
}

bool is_mapping(const vm::Allocation& allocation) { return allocation.flags & kMapping; }

void share_host_memory(Context& reader) {
  for_each_context([&](Context& owner) {
    if (&owner == &reader) return;
    for (const vm::Allocation& allocation : owner.memory.live())
      if (host_visible(allocation.kind) && !allocation.foreign) show(reader, allocation);
  });
}

void share_device_memory(Context& owner, Context& reader) {
  for (const vm::Allocation& allocation : owner.memory.live())
    if (for_peers(allocation)) show(reader, allocation);
}

void unshare_device_memory(Context& owner, Context& reader) {
  for (const vm::Allocation& allocation : owner.memory.live())
    if (for_peers(allocation)) reader.memory.free(allocation.base);
}

}  // namespace warpbeam::cuda

using namespace warpbeam;
using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return in_context([&](Context& context) {
    forbid_unsafe_call();
    if (!pointer) return cudaErrorInvalidValue;
    return allocate(context, size, vm::MemoryKind::Device, "cudaMalloc", 0, pointer);
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return in_context([&](Context& context) {
    forbid_unsafe_call();
    if (!pointer || !pitch) return cudaErrorInvalidValue;
    return allocate_pitched(context, pointer, pitch, width, height);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return in_context([&](Context& context) {
    forbid_unsafe_call();
    if (!pitched) return cudaErrorInvalidValue;
    if (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth) return cudaErrorMemoryAllocation;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return allocate_pitched(context, &pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth);
  });
}

// Frees wait for the device: work already queued may use the memory.
cudaError_t cudaFree(void* pointer) {
  return in_context([&](Context&) {
    forbid_unsafe_call();
    if (!pointer) return cudaSuccess;
    if (cudaError_t status; free_graph_memory(pointer, &status)) return status;
    auto place = locate(pointer);
    if (!place || !place->starts_at(pointer)) return bad_free(pointer);
    if (place->allocation.kind != vm::MemoryKind::Device && place->allocation.kind != vm::MemoryKind::Managed &&
        !is_pooled(place->allocation.base))
      return bad_free(pointer);
    if (is_mapping(place->allocation)) return bad_free(pointer);
    place->owner->wait_for_users();
    if (cudaError_t failure = place->owner->failure(); failure != cudaSuccess) return failure;
    if (!place->owner->memory.promise_free(place->allocation.base)) return bad_free(pointer);  // freed in a stream
    release_pooled(*place->owner, place->allocation);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return in_context([&](Context& context) {
    const size_t all = context.memory.capacity();
    if (total) *total = all;
    if (free) *free = std::min(all - std::min<size_t>(memory_in_use(context.ordinal), all), left_on_host());
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return edge([&] {
    if (!attributes) return cudaErrorInvalidValue;
    *attributes = {};
    auto place = locate(pointer);
    if (!place) {
      attributes->type = attributes->memoryType = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = const_cast<void*>(pointer);
      return cudaSuccess;
    }
    attributes->device = place->owner->ordinal;
    attributes->devicePointer = const_cast<void*>(pointer);
    if (!place->on_device()) attributes->hostPointer = const_cast<void*>(pointer);
    attributes->isManaged = place->allocation.kind == vm::MemoryKind::Managed;
    attributes->type = attributes->isManaged ? cudaMemoryTypeManaged : place->on_device() ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    attributes->memoryType = attributes->type;
    return cudaSuccess;
  });
}

}  // extern "C"
