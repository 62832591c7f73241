// Managed memory. There is one copy, which both sides use, so where it should live makes no difference to a program's
// results; arguments, order and what can be asked back are as documented.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "cuda/edge.h"
#include "cuda/memory/memory.h"
#include "cuda/streams/ops.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

// What cudaMemAdvise and prefetches said of a whole allocation. Advice for a part is remembered for all of it.
struct Advice {
  bool read_mostly = false;
  int preferred = cudaInvalidDeviceId;
  int prefetched = cudaInvalidDeviceId;
  std::set<int> accessed_by;
};

std::mutex advice_mutex;

// By serial number of the allocation: addresses come back, serial numbers do not.
std::map<std::pair<Context*, uint64_t>, Advice>& advice() {
  static auto* advice = new std::map<std::pair<Context*, uint64_t>, Advice>;
  return *advice;
}

Advice& advice_of(const Place& place) { return advice()[{place.owner, place.allocation.serial}]; }

bool valid(cudaMemLocation location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice: return location.id >= 0 && location.id < device_count();
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent: return true;
    default: return false;
  }
}

int device_of(cudaMemLocation location) { return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId; }

std::optional<Place> managed_range(const void* pointer, size_t count) {
  auto place = locate(pointer);
  bool inside = place && place->allocation.kind == vm::MemoryKind::Managed && count > 0 && count <= place->room(pointer);
  return inside ? place : std::nullopt;
}

cudaError_t prefetch(const void* pointer, size_t count, cudaMemLocation location, unsigned flags, cudaStream_t stream) {
  return in_context([&](Context& context) {
    auto place = managed_range(pointer, count);
    if (flags != 0 || !place) return cudaErrorInvalidValue;
    if (!valid(location)) return cudaErrorInvalidDevice;
    const StreamRef on = find_stream(context, stream);
    if (!on) return cudaErrorInvalidResourceHandle;
    {
      std::lock_guard lock(advice_mutex);
      advice_of(*place).prefetched = device_of(location);
    }
    if (auto* tool = observe::tool();
        tool && !on->capture && tool->wants_pages(reinterpret_cast<uint64_t>(pointer), count, device_of(location)))
      enqueue(on->context, on, InternalWork{[] {}});
    return cudaSuccess;
  });
}

cudaError_t attach(cudaStream_t stream, void* pointer, size_t length, unsigned flags) {
  return in_context([&](Context& context) {
    auto place = locate(pointer);
    if (!place || place->allocation.kind != vm::MemoryKind::Managed || !place->starts_at(pointer)) return cudaErrorInvalidValue;
    if (length != 0 && length != place->allocation.size) return cudaErrorInvalidValue;
    if (!std::has_single_bit(flags) || flags > cudaMemAttachSingle) return cudaErrorInvalidValue;
    if (flags == cudaMemAttachSingle && (!stream || stream == cudaStreamLegacy)) return cudaErrorInvalidValue;
    return find_stream(context, stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t get_attribute(void* data, size_t size, cudaMemRangeAttribute attribute, const Place& place) {
  if (!data || size == 0 || size % sizeof(int) != 0) return cudaErrorInvalidValue;
  auto* values = static_cast<int*>(data);
  std::lock_guard lock(advice_mutex);
  const Advice& known = advice_of(place);
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    std::fill_n(values, size / sizeof(int), int{cudaInvalidDeviceId});
    size_t i = 0;
    for (int device : known.accessed_by)
      if (i < size / sizeof(int)) values[i++] = device;
    return cudaSuccess;
  }
  if (size != sizeof(int)) return cudaErrorInvalidValue;
  auto type_of = [](int device) {
    return device == cudaInvalidDeviceId ? cudaMemLocationTypeInvalid
           : device == cudaCpuDeviceId   ? cudaMemLocationTypeHost
                                         : cudaMemLocationTypeDevice;
  };
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly: *values = known.read_mostly; return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation: *values = known.preferred; return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation: *values = known.prefetched; return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationType: *values = type_of(known.preferred); return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationId: *values = std::max(known.preferred, 0); return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationType: *values = type_of(known.prefetched); return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationId: *values = std::max(known.prefetched, 0); return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam;
using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
  return in_context([&](Context& context) {
    if (!pointer || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) return cudaErrorInvalidValue;
    if (!context.model.managed_memory) return cudaErrorNotSupported;
    return allocate(context, size, vm::MemoryKind::Managed, "cudaMallocManaged", flags, pointer);
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, cudaMemLocation location, unsigned int flags, cudaStream_t stream) {
  return prefetch(pointer, count, location, flags, stream);
}

WB_TWIN cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, size_t count, cudaMemLocation location, unsigned int flags,
                                              cudaStream_t stream) {
  return prefetch(pointer, count, location, flags, per_thread(stream));
}

cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise wish, cudaMemLocation location) {
  return in_context([&](Context&) {
    auto place = managed_range(pointer, count);
    if (!place) return cudaErrorInvalidValue;
    if (auto* tool = observe::tool()) tool->advised(reinterpret_cast<uint64_t>(pointer), count, wish, device_of(location));
    std::lock_guard lock(advice_mutex);
    Advice& known = advice_of(*place);
    switch (wish) {
      case cudaMemAdviseSetReadMostly: known.read_mostly = true; return cudaSuccess;
      case cudaMemAdviseUnsetReadMostly: known.read_mostly = false; return cudaSuccess;
      case cudaMemAdviseUnsetPreferredLocation: known.preferred = cudaInvalidDeviceId; return cudaSuccess;
      case cudaMemAdviseSetPreferredLocation:
        if (!valid(location)) return cudaErrorInvalidDevice;
        known.preferred = device_of(location);
        return cudaSuccess;
      case cudaMemAdviseSetAccessedBy:
      case cudaMemAdviseUnsetAccessedBy:
        if (!valid(location)) return cudaErrorInvalidDevice;
        if (wish == cudaMemAdviseSetAccessedBy) known.accessed_by.insert(device_of(location));
        else known.accessed_by.erase(device_of(location));
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t size, cudaMemRangeAttribute attribute, const void* pointer, size_t count) {
  return in_context([&](Context&) {
    auto place = managed_range(pointer, count);
    return place ? get_attribute(data, size, attribute, *place) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* sizes, cudaMemRangeAttribute* attributes, size_t count, const void* pointer,
                                      size_t bytes) {
  return in_context([&](Context&) -> cudaError_t {
    auto place = managed_range(pointer, bytes);
    if (!place || !data || !sizes || !attributes || count == 0) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (cudaError_t status = get_attribute(data[i], sizes[i], attributes[i], *place); status != cudaSuccess) return status;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t length, unsigned int flags) {
  return attach(stream, pointer, length, flags);
}

WB_TWIN cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* pointer, size_t length, unsigned int flags) {
  return attach(per_thread(stream), pointer, length, flags);
}

}  // extern "C"
