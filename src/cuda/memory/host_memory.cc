// Host memory that kernels can use: allocated here, or the program's own, registered. Its device address is its host
// address. cudaHostGetFlags always reports it as mapped, as unified addressing makes it so.
#include "cuda/edge.h"
#include "cuda/memory/memory.h"
#include "observe/tool.h"

using namespace warpbeam;
using namespace warpbeam::cuda;

namespace {

constexpr unsigned kAllocFlags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
constexpr unsigned kRegisterFlags = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

cudaError_t allocate_host(void** pointer, size_t size, unsigned flags, const char* origin) {
  return in_context([&](Context& context) {
    if (!pointer || (flags & ~kAllocFlags)) return cudaErrorInvalidValue;
    return allocate(context, size, vm::MemoryKind::Pinned, origin, flags | cudaHostAllocMapped, pointer);
  });
}

bool pinned(const std::optional<Place>& place) {
  return place && (place->allocation.kind == vm::MemoryKind::Pinned || place->allocation.kind == vm::MemoryKind::Registered);
}

}  // namespace

extern "C" {

cudaError_t cudaMallocHost(void** pointer, size_t size) { return allocate_host(pointer, size, cudaHostAllocDefault, "cudaMallocHost"); }

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) { return allocate_host(pointer, size, flags, "cudaHostAlloc"); }

cudaError_t cudaFreeHost(void* pointer) {
  return in_context([&](Context&) {
    if (!pointer) return cudaSuccess;
    auto place = locate(pointer);
    if (!place || place->allocation.kind != vm::MemoryKind::Pinned || !place->starts_at(pointer) || (place->allocation.flags & kPooled))
      return bad_free(pointer);
    place->owner->wait_for_users();
    if (cudaError_t failure = place->owner->failure(); failure != cudaSuccess) return failure;
    release(*place->owner, place->allocation.base);
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  return in_context([&](Context& context) {
    if (!pointer || size == 0 || (flags & ~kRegisterFlags)) return cudaErrorInvalidValue;
    if (auto place = locate(pointer))
      return place->allocation.kind == vm::MemoryKind::Registered ? cudaErrorHostMemoryAlreadyRegistered : cudaErrorInvalidValue;
    auto adopted = context.memory.adopt(pointer, size, vm::MemoryKind::Registered, "cudaHostRegister", flags | cudaHostRegisterMapped);
    if (!adopted) return cudaErrorHostMemoryAlreadyRegistered;
    share(context, *adopted);
    if (auto* tool = observe::tool()) tool->allocated(*adopted, context.ordinal);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return in_context([&](Context&) {
    if (!pointer) return cudaErrorInvalidValue;
    auto place = locate(pointer);
    if (!place) return cudaErrorHostMemoryNotRegistered;
    if (place->allocation.kind != vm::MemoryKind::Registered || !place->starts_at(pointer)) return cudaErrorInvalidValue;
    place->owner->wait_for_users();
    if (cudaError_t failure = place->owner->failure(); failure != cudaSuccess) return failure;
    release(*place->owner, place->allocation.base);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return in_context([&](Context&) {
    if (!device || flags != 0 || !pinned(locate(host))) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  return in_context([&](Context&) {
    auto place = locate(host);
    if (!flags || !pinned(place)) return cudaErrorInvalidValue;
    *flags = place->allocation.flags;
    return cudaSuccess;
  });
}

}  // extern "C"
