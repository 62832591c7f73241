#include "cuda/textures/texture_references.h"

#include <algorithm>
#include <cstring>

#include "cuda/edge.h"
#include "cuda/memory/memory.h"
#include "cuda/textures/arrays.h"

namespace warpbeam::cuda {

namespace {

cudaTextureDesc description_of(const textureReference& r, bool normalized_read) {
  cudaTextureDesc d{};
  std::copy(std::begin(r.addressMode), std::end(r.addressMode), d.addressMode);
  d.filterMode = r.filterMode;
  d.readMode = normalized_read ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  d.sRGB = r.sRGB;
  d.normalizedCoords = r.normalized;
  d.maxAnisotropy = r.maxAnisotropy;
  d.mipmapFilterMode = r.mipmapFilterMode;
  d.mipmapLevelBias = r.mipmapLevelBias;
  d.minMipmapLevelClamp = r.minMipmapLevelClamp;
  d.maxMipmapLevelClamp = r.maxMipmapLevelClamp;
  return d;
}

// References read floats as they are, whatever their template says.
bool reads_normalized(bool asked, const cudaChannelFormatDesc& channels) { return asked && channels.f != cudaChannelFormatKindFloat; }

cudaChannelFormatDesc channels_of(const cudaResourceDesc& r) {
  switch (r.resType) {
    case cudaResourceTypeArray: return find_array(r.res.array.array)->shape.channels;
    case cudaResourceTypeMipmappedArray: return find_mipmapped_array(r.res.mipmap.mipmap)->shape.channels;
    case cudaResourceTypeLinear: return r.res.linear.desc;
    default: return r.res.pitch2D.desc;
  }
}

bool alive(const cudaResourceDesc& r) {
  if (r.resType == cudaResourceTypeArray) return find_array(r.res.array.array) != nullptr;
  if (r.resType == cudaResourceTypeMipmappedArray) return find_mipmapped_array(r.res.mipmap.mipmap) != nullptr;
  return true;
}

}  // namespace

cudaError_t ReferenceBindings::make(uint64_t handle, Binding& b) {
  if (!alive(b.resource)) return cudaErrorInvalidResourceHandle;
  b.last = *b.host;
  TextureRequest request{b.resource, description_of(b.last, reads_normalized(b.normalized_read, channels_of(b.resource))), nullptr};
  std::shared_ptr<vm::ImageView> view;
  if (cudaError_t status = make_texture(context_, request, &view); status != cudaSuccess) return status;
  context_.memory.images.bind(handle, std::move(view));
  return cudaSuccess;
}

// Kernels that were launched already read what was bound then.
cudaError_t ReferenceBindings::bind(const vm::ProgramReference& reference, const textureReference& host, bool normalized_read,
                                    const cudaResourceDesc& resource, size_t offset) {
  context_.synchronize();
  std::lock_guard lock(mutex_);
  Binding binding{&host, host, normalized_read, resource, offset};
  if (cudaError_t status = make(reference.handle, binding); status != cudaSuccess) return status;
  bindings_[reference.handle] = binding;
  return cudaSuccess;
}

cudaError_t ReferenceBindings::bind_surface(const vm::ProgramReference& reference, const cudaResourceDesc& resource) {
  std::shared_ptr<vm::ImageView> view;
  if (cudaError_t status = make_surface(resource, &view); status != cudaSuccess) return status;
  context_.synchronize();
  context_.memory.images.bind(reference.handle, std::move(view));
  return cudaSuccess;
}

void ReferenceBindings::unbind(const vm::ProgramReference& reference) {
  context_.synchronize();
  std::lock_guard lock(mutex_);
  bindings_.erase(reference.handle);
  context_.memory.images.bind(reference.handle, nullptr);
}

bool ReferenceBindings::offset(const vm::ProgramReference& reference, size_t* offset) const {
  std::lock_guard lock(mutex_);
  auto found = bindings_.find(reference.handle);
  if (found == bindings_.end()) return false;
  *offset = found->second.offset;
  return true;
}

cudaError_t ReferenceBindings::refresh(const vm::Program& program) {
  std::unique_lock lock(mutex_);
  for (const vm::ProgramReference& reference : program.references()) {
    auto found = bindings_.find(reference.handle);
    if (found == bindings_.end() || std::memcmp(found->second.host, &found->second.last, sizeof(textureReference)) == 0) continue;
    lock.unlock();
    context_.synchronize();
    lock.lock();
    if (cudaError_t status = make(reference.handle, found->second); status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

void ReferenceBindings::clear() {
  std::lock_guard lock(mutex_);
  bindings_.clear();
}

namespace {

template <class Body>
cudaError_t with_reference(const void* host, bool surface, Body&& body) {
  return in_context([&](Context& context) -> cudaError_t {
    ReferenceSymbol* symbol = host ? Registry::instance().reference(host) : nullptr;
    if (!symbol || symbol->surface != surface) return surface ? cudaErrorInvalidSurface : cudaErrorInvalidTexture;
    const vm::ProgramReference* reference = nullptr;
    if (cudaError_t status = context.images->reference(*symbol, &reference); status != cudaSuccess) return status;
    return body(context, *symbol, *reference);
  });
}

// Memory may begin anywhere if the caller takes the offset by which its fetches must be shifted.
cudaError_t align(const Context& context, const void* pointer, size_t* offset, std::byte** base) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const uint64_t beyond = address % static_cast<uint64_t>(context.model.texture_alignment);
  if (beyond && !offset) return cudaErrorInvalidValue;
  if (offset) *offset = beyond;
  *base = reinterpret_cast<std::byte*>(address - beyond);
  return cudaSuccess;
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;
using warpbeam::vm::ProgramReference;

extern "C" {

// A size past the end of the memory means all of it: the old default was everything.
cudaError_t cudaBindTexture(size_t* offset, const textureReference* texture, const void* pointer, const cudaChannelFormatDesc* desc,
                            size_t size) {
  return with_reference(texture, false, [&](Context& context, ReferenceSymbol& symbol, const ProgramReference& reference) -> cudaError_t {
    if (!desc || !pointer) return cudaErrorInvalidValue;
    auto place = locate(pointer);
    if (!place) return cudaErrorInvalidValue;
    std::byte* base;
    if (cudaError_t status = align(context, pointer, offset, &base); status != cudaSuccess) return status;
    const size_t beyond = static_cast<size_t>(static_cast<const std::byte*>(pointer) - base);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {base, *desc, std::min<size_t>(size, place->room(pointer)) + beyond};
    return context.images->bindings().bind(reference, *texture, symbol.normalized_read, resource, beyond);
  });
}

cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* texture, const void* pointer, const cudaChannelFormatDesc* desc,
                              size_t width, size_t height, size_t pitch) {
  return with_reference(texture, false, [&](Context& context, ReferenceSymbol& symbol, const ProgramReference& reference) -> cudaError_t {
    if (!desc || !pointer || !locate(pointer)) return cudaErrorInvalidValue;
    std::byte* base;
    if (cudaError_t status = align(context, pointer, offset, &base); status != cudaSuccess) return status;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {base, *desc, width, height, pitch};
    const size_t beyond = static_cast<size_t>(static_cast<const std::byte*>(pointer) - base);
    return context.images->bindings().bind(reference, *texture, symbol.normalized_read, resource, beyond);
  });
}

cudaError_t cudaBindTextureToArray(const textureReference* texture, cudaArray_const_t array, const cudaChannelFormatDesc* desc) {
  return with_reference(texture, false, [&](Context& context, ReferenceSymbol& symbol, const ProgramReference& reference) -> cudaError_t {
    if (!desc) return cudaErrorInvalidValue;
    if (!find_array(array)) return cudaErrorInvalidResourceHandle;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return context.images->bindings().bind(reference, *texture, symbol.normalized_read, resource, 0);
  });
}

cudaError_t cudaBindTextureToMipmappedArray(const textureReference* texture, cudaMipmappedArray_const_t array,
                                            const cudaChannelFormatDesc* desc) {
  return with_reference(texture, false, [&](Context& context, ReferenceSymbol& symbol, const ProgramReference& reference) -> cudaError_t {
    if (!desc) return cudaErrorInvalidValue;
    if (!find_mipmapped_array(array)) return cudaErrorInvalidResourceHandle;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = const_cast<cudaMipmappedArray_t>(array);
    return context.images->bindings().bind(reference, *texture, symbol.normalized_read, resource, 0);
  });
}

cudaError_t cudaUnbindTexture(const textureReference* texture) {
  return with_reference(texture, false, [&](Context& context, ReferenceSymbol&, const ProgramReference& reference) -> cudaError_t {
    context.images->bindings().unbind(reference);
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* texture) {
  return with_reference(texture, false, [&](Context& context, ReferenceSymbol&, const ProgramReference& reference) -> cudaError_t {
    if (!offset) return cudaErrorInvalidValue;
    return context.images->bindings().offset(reference, offset) ? cudaSuccess : cudaErrorInvalidTextureBinding;
  });
}

cudaError_t cudaGetTextureReference(const textureReference** texture, const void* symbol) {
  return edge([&] {
    ReferenceSymbol* found = symbol ? Registry::instance().reference(symbol) : nullptr;
    if (!texture) return cudaErrorInvalidValue;
    if (!found || found->surface) return cudaErrorInvalidTexture;
    *texture = static_cast<const textureReference*>(symbol);
    return cudaSuccess;
  });
}

cudaError_t cudaBindSurfaceToArray(const surfaceReference* surface, cudaArray_const_t array, const cudaChannelFormatDesc* desc) {
  return with_reference(surface, true, [&](Context& context, ReferenceSymbol&, const ProgramReference& reference) -> cudaError_t {
    if (!desc) return cudaErrorInvalidValue;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return context.images->bindings().bind_surface(reference, resource);
  });
}

cudaError_t cudaGetSurfaceReference(const surfaceReference** surface, const void* symbol) {
  return edge([&] {
    ReferenceSymbol* found = symbol ? Registry::instance().reference(symbol) : nullptr;
    if (!surface) return cudaErrorInvalidValue;
    if (!found || !found->surface) return cudaErrorInvalidSurface;
    *surface = static_cast<const surfaceReference*>(symbol);
    return cudaSuccess;
  });
}

WB_TWIN void __cudaRegisterTexture(void** handle, const textureReference* host, const void**, const char* name, int, int normalized, int) {
  if (handle) Registry::instance().add_reference(reinterpret_cast<Image*>(handle), host, name, normalized != 0, false);
}

WB_TWIN void __cudaRegisterSurface(void** handle, const surfaceReference* host, const void**, const char* name, int, int) {
  if (handle) Registry::instance().add_reference(reinterpret_cast<Image*>(handle), host, name, false, true);
}

}  // extern "C"
