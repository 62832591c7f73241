#include "cuda/textures/textures.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "cuda/edge.h"
#include "cuda/textures/arrays.h"

namespace warpbeam::cuda {

namespace {

std::mutex objects_mutex;
std::unordered_map<unsigned long long, ObjectDescription>& objects() {
  static auto* map = new std::unordered_map<unsigned long long, ObjectDescription>;
  return *map;
}

bool whole_numbers(vm::TexelKind kind) { return kind == vm::TexelKind::Unsigned || kind == vm::TexelKind::Signed; }

void cover(const ArrayMemory& memory, vm::ImageView& view) {
  view.begin = memory.base;
  view.bytes = memory.bytes;
}

// The texels of a view format: size and channels of the array's, read as something else.
cudaError_t reinterpret(const cudaResourceViewDesc& d, vm::Image& image) {
  if (d.format == cudaResViewFormatNone) return cudaSuccess;
  const int at = static_cast<int>(d.format) - 1;
  if (at < 0 || at >= 24) return d.format <= cudaResViewFormatUnsignedBlockCompressed7 ? cudaErrorNotSupported : cudaErrorInvalidValue;
  struct Family {
    vm::TexelKind kind;
    uint8_t bits;
  };
  constexpr Family kFamilies[] = {{vm::TexelKind::Unsigned, 8}, {vm::TexelKind::Signed, 8},    {vm::TexelKind::Unsigned, 16},
                                  {vm::TexelKind::Signed, 16},  {vm::TexelKind::Unsigned, 32}, {vm::TexelKind::Signed, 32},
                                  {vm::TexelKind::Float, 16},   {vm::TexelKind::Float, 32}};
  const Family& family = kFamilies[at / 3];
  const vm::TexelFormat format{family.kind, family.bits, static_cast<uint8_t>(1 << at % 3)};
  if (format.bytes() != image.format.bytes()) return cudaErrorInvalidValue;
  image.format = format;
  return cudaSuccess;
}

// Levels and layers outside of the view are as if they were not there.
cudaError_t narrow(const cudaResourceViewDesc& d, vm::Image& image) {
  if (cudaError_t status = reinterpret(d, image); status != cudaSuccess) return status;
  const vm::ImageLevel& base = image.levels[0];
  const bool layers = image.layered || image.cube;
  const size_t height = image.dimensions >= 2 ? base.height : 0, depth = image.dimensions == 3 || layers ? base.depth : 0;
  if (d.width != base.width || d.height != height || d.depth != depth) return cudaErrorInvalidValue;
  if (d.firstMipmapLevel > d.lastMipmapLevel || d.lastMipmapLevel >= image.level_count) return cudaErrorInvalidValue;
  if (d.firstLayer > d.lastLayer || d.lastLayer >= (layers ? base.depth : 1)) return cudaErrorInvalidValue;
  for (unsigned k = d.firstMipmapLevel; k <= d.lastMipmapLevel; ++k) {
    vm::ImageLevel& to = image.levels[k - d.firstMipmapLevel];
    to = image.levels[k];
    if (layers && d.lastLayer) {
      to.base += d.firstLayer * to.plane;
      to.depth = d.lastLayer - d.firstLayer + 1;
    }
  }
  image.level_count = static_cast<uint8_t>(d.lastMipmapLevel - d.firstMipmapLevel + 1);
  return cudaSuccess;
}

// Linear memory must begin where textures may; what the device cannot see is found out when a kernel reads it.
cudaError_t plain_memory(const Context& context, void* pointer, const cudaChannelFormatDesc& channels, vm::Image& image) {
  if (cudaError_t status = format_of(channels, &image.format); status != cudaSuccess) return status;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (!address || address % static_cast<uint64_t>(context.model.texture_alignment)) return cudaErrorInvalidValue;
  image.levels[0].base = static_cast<std::byte*>(pointer);
  return cudaSuccess;
}

cudaError_t resource_image(const Context& context, const TextureRequest& request, vm::ImageView& view) {
  const cudaResourceDesc& r = request.resource;
  vm::Image& image = view.texture.image;
  switch (r.resType) {
    case cudaResourceTypeArray: {
      ArrayRef array = find_array(r.res.array.array);
      if (!array) return cudaErrorInvalidResourceHandle;
      image = image_of(*array);
      cover(*array->memory, view);
      return request.view ? narrow(*request.view, image) : cudaSuccess;
    }
    case cudaResourceTypeMipmappedArray: {
      MipmappedArrayRef mipmap = find_mipmapped_array(r.res.mipmap.mipmap);
      if (!mipmap) return cudaErrorInvalidResourceHandle;
      image = image_of(*mipmap);
      cover(*mipmap->levels[0]->memory, view);
      return request.view ? narrow(*request.view, image) : cudaSuccess;
    }
    case cudaResourceTypeLinear: {
      const auto& m = r.res.linear;
      if (cudaError_t status = plain_memory(context, m.devPtr, m.desc, image); status != cudaSuccess) return status;
      const size_t texels = m.sizeInBytes / image.format.bytes();
      if (texels > static_cast<size_t>(context.model.limits.texture_1d_linear) * (16 / image.format.bytes())) return cudaErrorInvalidValue;
      image.buffer = true;
      image.levels[0].width = static_cast<uint32_t>(texels);
      view.begin = reinterpret_cast<uint64_t>(m.devPtr);
      view.bytes = texels * image.format.bytes();
      return cudaSuccess;
    }
    case cudaResourceTypePitch2D: {
      const auto& m = r.res.pitch2D;
      if (cudaError_t status = plain_memory(context, m.devPtr, m.desc, image); status != cudaSuccess) return status;
      const auto& limits = context.model.limits.texture_2d_linear;
      if (m.width > static_cast<size_t>(limits[0]) || m.height > static_cast<size_t>(limits[1]) ||
          m.pitchInBytes > static_cast<size_t>(limits[2]) || m.pitchInBytes % static_cast<size_t>(context.model.texture_pitch_alignment))
        return cudaErrorInvalidValue;
      image.dimensions = 2;
      image.levels[0].width = static_cast<uint32_t>(std::max<size_t>(m.width, 1));
      image.levels[0].height = static_cast<uint32_t>(std::max<size_t>(m.height, 1));
      image.levels[0].pitch = m.pitchInBytes;
      view.begin = reinterpret_cast<uint64_t>(m.devPtr);
      view.bytes = m.pitchInBytes * (image.levels[0].height - 1) + size_t{image.levels[0].width} * image.format.bytes();
      return cudaSuccess;
    }
  }
  return cudaErrorInvalidValue;
}

cudaError_t sampler_of(const TextureRequest& request, const vm::TexelFormat& format, vm::Sampler& s) {
  const cudaTextureDesc& d = request.texture;
  for (cudaTextureAddressMode mode : d.addressMode)
    if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return cudaErrorInvalidValue;
  auto filter = [](cudaTextureFilterMode mode) { return mode == cudaFilterModePoint || mode == cudaFilterModeLinear; };
  if (!filter(d.filterMode) || !filter(d.mipmapFilterMode)) return cudaErrorInvalidValue;
  if (d.readMode != cudaReadModeElementType && d.readMode != cudaReadModeNormalizedFloat) return cudaErrorInvalidValue;
  const bool normalized = d.readMode == cudaReadModeNormalizedFloat;
  if (whole_numbers(format.kind)) {
    const bool blended = d.filterMode == cudaFilterModeLinear && !request.blends_integers;
    if (blended && (!normalized || format.bits == 32)) return cudaErrorInvalidFilterSetting;
    if (normalized && format.bits == 32) return cudaErrorInvalidNormSetting;
  } else if (normalized != (format.kind != vm::TexelKind::Float)) {
    return cudaErrorInvalidNormSetting;
  }
  for (int k = 0; k < 3; ++k) s.address[k] = static_cast<vm::AddressMode>(d.addressMode[k]);
  s.linear = d.filterMode == cudaFilterModeLinear;
  s.normalized_coordinates = d.normalizedCoords != 0;
  s.normalized_read = normalized;
  s.srgb = d.sRGB != 0;
  std::copy(std::begin(d.borderColor), std::end(d.borderColor), s.border.begin());
  s.linear_levels = d.mipmapFilterMode == cudaFilterModeLinear;
  s.level_bias = d.mipmapLevelBias;
  s.min_level = d.minMipmapLevelClamp;
  s.max_level = d.maxMipmapLevelClamp;
  s.anisotropy = d.maxAnisotropy;
  s.seamless = d.seamlessCubemap != 0;
  return cudaSuccess;
}

}  // namespace

cudaError_t make_texture(Context& context, const TextureRequest& request, std::shared_ptr<vm::ImageView>* view) {
  auto made = std::make_shared<vm::ImageView>();
  made->use = vm::ImageUse::Texture;
  if (cudaError_t status = resource_image(context, request, *made); status != cudaSuccess) return status;
  if (cudaError_t status = sampler_of(request, made->texture.image.format, made->texture.sampler); status != cudaSuccess) return status;
  *view = std::move(made);
  return cudaSuccess;
}

cudaError_t make_surface(const cudaResourceDesc& resource, std::shared_ptr<vm::ImageView>* view) {
  if (resource.resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
  ArrayRef array = find_array(resource.res.array.array);
  if (!array) return cudaErrorInvalidResourceHandle;
  auto made = std::make_shared<vm::ImageView>();
  made->use = vm::ImageUse::Surface;
  made->texture.image = image_of(*array);
  cover(*array->memory, *made);
  *view = std::move(made);
  return cudaSuccess;
}

namespace {

cudaError_t remember_object(Context& context, std::shared_ptr<vm::ImageView> view, const ObjectDescription& description,
                            unsigned long long* object) {
  const uint64_t handle = context.memory.images.add(std::move(view));
  if (!handle) return cudaErrorMemoryAllocation;
  std::lock_guard lock(objects_mutex);
  objects()[handle] = description;
  *object = handle;
  return cudaSuccess;
}

}  // namespace

cudaError_t create_texture_object(Context& context, const TextureRequest& request, cudaTextureObject_t* object) {
  std::shared_ptr<vm::ImageView> view;
  if (cudaError_t status = make_texture(context, request, &view); status != cudaSuccess) return status;
  return remember_object(context, std::move(view),
                         {vm::ImageUse::Texture, request.resource, request.texture, request.view ? *request.view : cudaResourceViewDesc{}},
                         object);
}

cudaError_t create_surface_object(Context& context, const cudaResourceDesc& resource, cudaSurfaceObject_t* object) {
  std::shared_ptr<vm::ImageView> view;
  if (cudaError_t status = make_surface(resource, &view); status != cudaSuccess) return status;
  const Context& owner = find_array(resource.res.array.array)->context;
  if (&owner != &context) {
    std::lock_guard lock(context.mutex);
    if (!context.peers.contains(&owner)) return cudaErrorPeerAccessNotEnabled;
  }
  return remember_object(context, std::move(view), {vm::ImageUse::Surface, resource, {}, {}}, object);
}

void destroy_object(unsigned long long object) {
  {
    std::lock_guard lock(objects_mutex);
    if (!objects().erase(object)) return;
  }
  // Programs launch a kernel and destroy at once what it samples. A GPU does not mind.
  for (const auto& context : process().contexts) {
    if (context->active()) context->wait_for_users();
    context->memory.images.remove(object);
  }
}

bool describe_object(unsigned long long object, ObjectDescription* description) {
  std::lock_guard lock(objects_mutex);
  auto found = objects().find(object);
  if (found == objects().end()) return false;
  *description = found->second;
  return true;
}

namespace {

template <class Field>
cudaError_t get_description(unsigned long long object, vm::ImageUse use, Field ObjectDescription::* field, Field* out) {
  return edge([&] {
    ObjectDescription d;
    if (!out || !describe_object(object, &d) || d.use != use) return cudaErrorInvalidValue;
    *out = d.*field;
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;
using warpbeam::vm::ImageUse;

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource, const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return in_context([&](Context& context) -> cudaError_t {
    if (!object || !resource) return cudaErrorInvalidValue;
    if (!texture) return cudaErrorInvalidResourceHandle;
    return create_texture_object(context, {*resource, *texture, view, false}, object);
  });
}

// Destroying what is no object is no error.
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return in_context([&](Context&) {
    destroy_object(object);
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t object) {
  return get_description(object, ImageUse::Texture, &ObjectDescription::resource, out);
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t object) {
  return get_description(object, ImageUse::Texture, &ObjectDescription::texture, out);
}
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out, cudaTextureObject_t object) {
  return get_description(object, ImageUse::Texture, &ObjectDescription::view, out);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return in_context([&](Context& context) -> cudaError_t {
    if (!object || !resource) return cudaErrorInvalidValue;
    return create_surface_object(context, *resource, object);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return in_context([&](Context&) {
    destroy_object(object);
    return cudaSuccess;
  });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t object) {
  return get_description(object, ImageUse::Surface, &ObjectDescription::resource, out);
}

// Small texels are limited by how many of them there may be, large ones by their bytes.
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* width, const cudaChannelFormatDesc* desc, int device) {
  return edge([&]() -> cudaError_t {
    Context* context = nullptr;
    if (!width || !desc) return cudaErrorInvalidValue;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    warpbeam::vm::TexelFormat format;
    if (cudaError_t status = format_of(*desc, &format); status != cudaSuccess) return status;
    const auto widest = static_cast<size_t>(context->model.limits.texture_1d_linear) * 16;
    *width = std::min(widest / format.bytes(), widest / 4);
    return cudaSuccess;
  });
}

}  // extern "C"
