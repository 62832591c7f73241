#include "cuda/textures/arrays.h"

#include <algorithm>
#include <bit>

#include "cuda/edge.h"
#include "cuda/memory/memory.h"

namespace warpbeam::cuda {

namespace {

constexpr unsigned kKnownFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather | cudaArraySparse | cudaArrayDeferredMapping;
constexpr size_t kRowAlignment = 32;  // of our layout
constexpr size_t kPageBytes = 64 << 10;  // of sparse and deferred arrays

HandleTable<Array>& arrays() {
  static auto* table = new HandleTable<Array>;
  return *table;
}
HandleTable<MipmappedArray>& mipmapped_arrays() {
  static auto* table = new HandleTable<MipmappedArray>;
  return *table;
}

// Formats that say by their name how many channels of how many bits they have.
struct NamedFormat {
  cudaChannelFormatKind kind;
  vm::TexelKind texels;
  int bits, channels;
};
constexpr NamedFormat kNamedFormats[] = {
    {cudaChannelFormatKindUnsignedNormalized8X1, vm::TexelKind::UnsignedNormal, 8, 1},
    {cudaChannelFormatKindUnsignedNormalized8X2, vm::TexelKind::UnsignedNormal, 8, 2},
    {cudaChannelFormatKindUnsignedNormalized8X4, vm::TexelKind::UnsignedNormal, 8, 4},
    {cudaChannelFormatKindUnsignedNormalized16X1, vm::TexelKind::UnsignedNormal, 16, 1},
    {cudaChannelFormatKindUnsignedNormalized16X2, vm::TexelKind::UnsignedNormal, 16, 2},
    {cudaChannelFormatKindUnsignedNormalized16X4, vm::TexelKind::UnsignedNormal, 16, 4},
    {cudaChannelFormatKindSignedNormalized8X1, vm::TexelKind::SignedNormal, 8, 1},
    {cudaChannelFormatKindSignedNormalized8X2, vm::TexelKind::SignedNormal, 8, 2},
    {cudaChannelFormatKindSignedNormalized8X4, vm::TexelKind::SignedNormal, 8, 4},
    {cudaChannelFormatKindSignedNormalized16X1, vm::TexelKind::SignedNormal, 16, 1},
    {cudaChannelFormatKindSignedNormalized16X2, vm::TexelKind::SignedNormal, 16, 2},
    {cudaChannelFormatKindSignedNormalized16X4, vm::TexelKind::SignedNormal, 16, 4},
};

template <size_t N>
bool within(const std::array<size_t, N>& extents, const std::array<int, N>& limits) {
  for (size_t k = 0; k < N; ++k)
    if (extents[k] > static_cast<size_t>(limits[k])) return false;
  return true;
}

// The limits of the device for this shape; with cudaArraySurfaceLoadStore those of surfaces hold too.
bool fits(const model::TextureLimits& limits, const ArrayShape& s, bool mipmapped) {
  const auto [w, h, d] = s.extent;
  const bool surface = s.flags & cudaArraySurfaceLoadStore;
  using One = std::array<int, 1>;
  if ((s.flags & cudaArrayCubemap) && (s.flags & cudaArrayLayered))
    return within<2>({w, d}, limits.texture_cubemap_layered) && (!surface || within<2>({w, d}, limits.surface_cubemap_layered));
  if (s.flags & cudaArrayCubemap)
    return within<1>({w}, One{limits.texture_cubemap}) && (!surface || within<1>({w}, One{limits.surface_cubemap}));
  if ((s.flags & cudaArrayLayered) && h)
    return within<3>({w, h, d}, limits.texture_2d_layered) && (!surface || within<3>({w, h, d}, limits.surface_2d_layered));
  if (s.flags & cudaArrayLayered)
    return within<2>({w, d}, limits.texture_1d_layered) && (!surface || within<2>({w, d}, limits.surface_1d_layered));
  if (d)
    return (within<3>({w, h, d}, limits.texture_3d) || within<3>({w, h, d}, limits.texture_3d_alt)) &&
           (!surface || within<3>({w, h, d}, limits.surface_3d));
  if (h) {
    if ((s.flags & cudaArrayTextureGather) && !within<2>({w, h}, limits.texture_2d_gather)) return false;
    return within<2>({w, h}, mipmapped ? limits.texture_2d_mipmap : limits.texture_2d) &&
           (!surface || within<2>({w, h}, limits.surface_2d));
  }
  return within<1>({w}, One{mipmapped ? limits.texture_1d_mipmap : limits.texture_1d}) &&
         (!surface || within<1>({w}, One{limits.surface_1d}));
}

cudaError_t check(const Context& context, const ArrayShape& s, bool mipmapped, vm::TexelFormat* format) {
  if (cudaError_t status = format_of(s.channels, format); status != cudaSuccess) return status;
  const auto [w, h, d] = s.extent;
  if (w == 0 || (s.flags & ~kKnownFlags)) return cudaErrorInvalidValue;
  if (s.flags & cudaArrayCubemap) {
    if (w != h || d == 0 || d % 6 || (!(s.flags & cudaArrayLayered) && d != 6)) return cudaErrorInvalidValue;
  } else if (s.flags & cudaArrayLayered) {
    if (d == 0) return cudaErrorInvalidValue;
  } else if (h == 0 && d != 0) {
    return cudaErrorInvalidValue;
  }
  if ((s.flags & cudaArrayTextureGather) && (h == 0 || d != 0)) return cudaErrorInvalidValue;
  if ((s.flags & cudaArraySparse) && !context.model.sparse_arrays) return cudaErrorNotSupported;
  if ((s.flags & cudaArrayDeferredMapping) && !context.model.deferred_mapping_arrays) return cudaErrorNotSupported;
  return fits(context.model.limits, s, mipmapped) ? cudaSuccess : cudaErrorInvalidValue;
}

size_t shrunk(size_t extent, unsigned level) { return extent ? std::max<size_t>(extent >> level, 1) : 0; }

ArrayShape shape_of_level(const ArrayShape& s, unsigned level) {
  ArrayShape out = s;
  out.extent.width = shrunk(s.extent.width, level);
  out.extent.height = shrunk(s.extent.height, level);
  if (!(s.flags & (cudaArrayLayered | cudaArrayCubemap))) out.extent.depth = shrunk(s.extent.depth, level);
  return out;
}

// Lays the levels out one after the other and gets the memory for all of them.
cudaError_t make_levels(Context& context, const ArrayShape& shape, const vm::TexelFormat& format, unsigned count, const char* origin,
                        std::vector<ArrayRef>* levels) {
  uint64_t bytes = 0;
  std::vector<uint64_t> offsets;
  for (unsigned k = 0; k < count; ++k) {
    auto array = std::make_shared<Array>(Array{context, shape_of_level(shape, k), format, nullptr, {}, count > 1});
    vm::ImageLevel& level = array->level;
    level.width = static_cast<uint32_t>(array->shape.extent.width);
    level.height = static_cast<uint32_t>(array->rows());
    level.depth = static_cast<uint32_t>(array->planes());
    level.pitch = (array->row_bytes() + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
    level.plane = level.pitch * level.height;
    offsets.push_back(bytes);
    bytes += (level.plane * level.depth + 511) / 512 * 512;
    levels->push_back(std::move(array));
  }
  void* base = nullptr;
  if (cudaError_t status = allocate(context, bytes, vm::MemoryKind::Device, origin, 0, &base); status != cudaSuccess) return status;
  auto memory = std::make_shared<ArrayMemory>(context, reinterpret_cast<uint64_t>(base), bytes);
  for (unsigned k = 0; k < count; ++k) {
    (*levels)[k]->memory = memory;
    (*levels)[k]->level.base = static_cast<std::byte*>(base) + offsets[k];
  }
  return cudaSuccess;
}

}  // namespace

ArrayMemory::~ArrayMemory() { release(context, base); }

Region Array::region(size_t x, size_t y, size_t z) const {
  return {level.base + z * level.plane + y * level.pitch + x, level.pitch, level.plane};
}

bool Array::holds(size_t x, size_t y, size_t z, size_t bytes, size_t height, size_t depth) const {
  auto part = [](size_t from, size_t count, size_t all) { return from <= all && count <= all - from; };
  return part(x, bytes, row_bytes()) && part(y, height, rows()) && part(z, depth, planes());
}

ArrayRef find_array(cudaArray_const_t handle) { return handle ? arrays().find(handle) : nullptr; }
MipmappedArrayRef find_mipmapped_array(cudaMipmappedArray_const_t handle) { return handle ? mipmapped_arrays().find(handle) : nullptr; }

cudaError_t format_of(const cudaChannelFormatDesc& d, vm::TexelFormat* format) {
  const int widths[] = {d.x, d.y, d.z, d.w};
  int channels = 0;
  while (channels < 4 && widths[channels] != 0) ++channels;
  for (int k = channels; k < 4; ++k)
    if (widths[k] != 0) return cudaErrorInvalidChannelDescriptor;
  for (int k = 1; k < channels; ++k)
    if (widths[k] != widths[0]) return cudaErrorInvalidChannelDescriptor;
  format->bits = static_cast<uint8_t>(d.x);
  format->channels = static_cast<uint8_t>(channels);
  for (const NamedFormat& named : kNamedFormats)
    if (named.kind == d.f) {
      format->kind = named.texels;
      return d.x == named.bits && channels == named.channels ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
    }
  if (d.f == cudaChannelFormatKindNV12) return cudaErrorInvalidValue;
  if (d.f >= cudaChannelFormatKindUnsignedBlockCompressed1 && d.f <= cudaChannelFormatKindUnsignedNormalized1010102)
    return cudaErrorNotSupported;
  if (channels == 0 || channels == 3 || (d.x != 8 && d.x != 16 && d.x != 32)) return cudaErrorInvalidChannelDescriptor;
  switch (d.f) {
    case cudaChannelFormatKindUnsigned: format->kind = vm::TexelKind::Unsigned; return cudaSuccess;
    case cudaChannelFormatKindSigned: format->kind = vm::TexelKind::Signed; return cudaSuccess;
    case cudaChannelFormatKindFloat: format->kind = vm::TexelKind::Float; return d.x == 8 ? cudaErrorInvalidChannelDescriptor : cudaSuccess;
    default: return cudaErrorInvalidChannelDescriptor;
  }
}

cudaError_t make_array(Context& context, const ArrayShape& shape, ArrayRef* array) {
  vm::TexelFormat format;
  if (cudaError_t status = check(context, shape, false, &format); status != cudaSuccess) return status;
  std::vector<ArrayRef> levels;
  if (cudaError_t status = make_levels(context, shape, format, 1, "cudaMallocArray", &levels); status != cudaSuccess) return status;
  *array = levels[0];
  arrays().add(levels[0]);
  return cudaSuccess;
}

cudaError_t make_mipmapped_array(Context& context, const ArrayShape& shape, unsigned levels, MipmappedArrayRef* array) {
  vm::TexelFormat format;
  if (cudaError_t status = check(context, shape, true, &format); status != cudaSuccess) return status;
  const bool solid = !(shape.flags & (cudaArrayLayered | cudaArrayCubemap));
  const size_t longest = std::max({shape.extent.width, shape.extent.height, solid ? shape.extent.depth : size_t{1}});
  const auto most = static_cast<unsigned>(std::bit_width(longest));
  auto mipmap = std::make_shared<MipmappedArray>(MipmappedArray{context, shape, {}});
  if (cudaError_t status = make_levels(context, shape, format, std::clamp(levels, 1u, most), "cudaMallocMipmappedArray", &mipmap->levels);
      status != cudaSuccess)
    return status;
  for (const ArrayRef& level : mipmap->levels) {
    level->of_mipmap = true;
    arrays().add(level);
  }
  mipmapped_arrays().add(mipmap);
  *array = std::move(mipmap);
  return cudaSuccess;
}

cudaError_t free_array(cudaArray_const_t handle) {
  ArrayRef array = find_array(handle);
  if (!array || array->of_mipmap) return cudaErrorInvalidResourceHandle;
  array->context.wait_for_users();
  if (cudaError_t failure = array->context.failure(); failure != cudaSuccess) return failure;
  arrays().remove(handle);
  return cudaSuccess;
}

cudaError_t free_mipmapped_array(cudaMipmappedArray_const_t handle) {
  MipmappedArrayRef mipmap = find_mipmapped_array(handle);
  if (!mipmap) return cudaErrorInvalidResourceHandle;
  mipmap->context.wait_for_users();
  if (cudaError_t failure = mipmap->context.failure(); failure != cudaSuccess) return failure;
  for (const ArrayRef& level : mipmap->levels) arrays().remove(level.get());
  mipmapped_arrays().remove(handle);
  return cudaSuccess;
}

cudaError_t memory_requirements(const ArrayShape& shape, uint64_t bytes, cudaArrayMemoryRequirements* requirements) {
  if (!(shape.flags & cudaArrayDeferredMapping)) return cudaErrorInvalidValue;
  *requirements = {};
  requirements->size = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  requirements->alignment = kPageBytes;
  return cudaSuccess;
}

// A tile is 64 KiB of texels; levels smaller than a tile share the tail.
cudaError_t sparse_properties(const ArrayShape& shape, size_t levels, cudaArraySparseProperties* properties) {
  if (!(shape.flags & cudaArraySparse)) return cudaErrorInvalidValue;
  vm::TexelFormat format;
  if (cudaError_t status = format_of(shape.channels, &format); status != cudaSuccess) return status;
  struct Tile {
    unsigned width, height, depth;
  };
  constexpr Tile kFlat[] = {{256, 256, 1}, {256, 128, 1}, {128, 128, 1}, {128, 64, 1}, {64, 64, 1}};
  constexpr Tile kSolid[] = {{64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
  const bool solid = shape.extent.depth && !(shape.flags & (cudaArrayLayered | cudaArrayCubemap));
  const Tile& tile = (solid ? kSolid : kFlat)[std::countr_zero(format.bytes())];
  *properties = {};
  properties->tileExtent.width = tile.width;
  properties->tileExtent.height = tile.height;
  properties->tileExtent.depth = tile.depth;
  unsigned first = 0;
  auto whole = [&](unsigned level) {
    const cudaExtent e = shape_of_level(shape, level).extent;
    return e.width >= tile.width && e.height >= tile.height && (!solid || e.depth >= tile.depth);
  };
  while (first < levels && whole(first)) ++first;
  properties->miptailFirstLevel = first;
  properties->miptailSize = first < levels ? kPageBytes : 0;
  return cudaSuccess;
}

vm::Image image_of(const Array& array) {
  vm::Image image;
  image.format = array.format;
  image.cube = array.shape.flags & cudaArrayCubemap;
  image.layered = array.shape.flags & cudaArrayLayered;
  image.dimensions = array.shape.extent.depth && !image.cube && !image.layered ? 3 : array.shape.extent.height ? 2 : 1;
  image.levels[0] = array.level;
  return image;
}

vm::Image image_of(const MipmappedArray& mipmap) {
  vm::Image image = image_of(*mipmap.levels[0]);
  image.level_count = static_cast<uint8_t>(mipmap.levels.size());
  for (size_t k = 0; k < mipmap.levels.size(); ++k) image.levels[k] = mipmap.levels[k]->level;
  return image;
}

cudaError_t array_end(const Array& array, const cudaPos& position, const cudaExtent& texels, Region* region) {
  const size_t texel = array.format.bytes();
  if (!array.holds(position.x * texel, position.y, position.z, texels.width * texel, texels.height, texels.depth))
    return cudaErrorInvalidValue;
  *region = array.region(position.x * texel, position.y, position.z);
  return cudaSuccess;
}

}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags) {
  return in_context([&](Context& context) -> cudaError_t {
    if (!array || !desc) return cudaErrorInvalidValue;
    ArrayRef made;
    if (cudaError_t status = make_array(context, {*desc, extent, flags}, &made); status != cudaSuccess) return status;
    *array = made->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, desc, {width, height, 0}, flags);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned levels,
                                     unsigned flags) {
  return in_context([&](Context& context) -> cudaError_t {
    if (!array || !desc) return cudaErrorInvalidValue;
    MipmappedArrayRef made;
    if (cudaError_t status = make_mipmapped_array(context, {*desc, extent, flags}, levels, &made); status != cudaSuccess) return status;
    *array = made->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level_array, cudaMipmappedArray_const_t handle, unsigned level) {
  return edge([&] {
    if (!level_array) return cudaErrorInvalidValue;
    MipmappedArrayRef mipmap = find_mipmapped_array(handle);
    if (!mipmap) return cudaErrorInvalidResourceHandle;
    if (level >= mipmap->levels.size()) return cudaErrorInvalidValue;
    *level_array = mipmap->levels[level]->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return in_context([&](Context&) { return array ? free_array(array) : cudaSuccess; });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return in_context([&](Context&) { return array ? free_mipmapped_array(array) : cudaSuccess; });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t handle) {
  return edge([&] {
    if (desc) *desc = {};
    if (extent) *extent = {};
    if (flags) *flags = 0;
    ArrayRef array = find_array(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    if (desc) *desc = array->shape.channels;
    if (extent) *extent = array->shape.extent;
    if (flags) *flags = array->shape.flags;
    return cudaSuccess;
  });
}

// Only arrays with planes, such as NV12 images, have any; those come from other APIs.
cudaError_t cudaArrayGetPlane(cudaArray_t* plane, cudaArray_t handle, unsigned) {
  return edge([&] {
    if (!plane) return cudaErrorInvalidValue;
    return find_array(handle) ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements, cudaArray_t handle, int device) {
  return edge([&]() -> cudaError_t {
    Context* ignored;
    if (!requirements || !handle) return cudaErrorInvalidValue;
    if (cudaError_t status = context_of(device, &ignored); status != cudaSuccess) return status;
    ArrayRef array = find_array(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    return memory_requirements(array->shape, array->memory->bytes, requirements);
  });
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements, cudaMipmappedArray_t handle, int device) {
  return edge([&]() -> cudaError_t {
    Context* ignored;
    if (!requirements || !handle) return cudaErrorInvalidValue;
    if (cudaError_t status = context_of(device, &ignored); status != cudaSuccess) return status;
    MipmappedArrayRef mipmap = find_mipmapped_array(handle);
    if (!mipmap) return cudaErrorInvalidResourceHandle;
    return memory_requirements(mipmap->shape, mipmap->levels[0]->memory->bytes, requirements);
  });
}

cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties* properties, cudaArray_t handle) {
  return edge([&]() -> cudaError_t {
    if (!properties || !handle) return cudaErrorInvalidValue;
    ArrayRef array = find_array(handle);
    return array ? sparse_properties(array->shape, 1, properties) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* properties, cudaMipmappedArray_t handle) {
  return edge([&]() -> cudaError_t {
    if (!properties || !handle) return cudaErrorInvalidValue;
    MipmappedArrayRef mipmap = find_mipmapped_array(handle);
    return mipmap ? sparse_properties(mipmap->shape, mipmap->levels.size(), properties) : cudaErrorInvalidResourceHandle;
  });
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) { return {x, y, z, w, kind}; }

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t handle) {
  return edge([&] {
    if (!desc) return cudaErrorInvalidValue;
    ArrayRef array = find_array(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    *desc = array->shape.channels;
    return cudaSuccess;
  });
}

}  // extern "C"
