// Texture and surface objects: the runtime's, described in the driver's structures.
#include <algorithm>
#include <cstring>

#include "cuda/driver/formats.h"
#include "cuda/textures/textures.h"

namespace warpbeam::cuda::driver {

namespace {

static_assert(static_cast<int>(cudaResourceTypePitch2D) == CU_RESOURCE_TYPE_PITCH2D);
static_assert(static_cast<int>(cudaAddressModeBorder) == CU_TR_ADDRESS_MODE_BORDER);
static_assert(static_cast<int>(cudaFilterModeLinear) == CU_TR_FILTER_MODE_LINEAR);
static_assert(sizeof(CUDA_RESOURCE_VIEW_DESC) == sizeof(cudaResourceViewDesc));

cudaError_t resource_of(const CUDA_RESOURCE_DESC& given, cudaResourceDesc* resource, cudaChannelFormatDesc* channels) {
  *resource = {};
  resource->resType = static_cast<cudaResourceType>(given.resType);
  cudaExtent extent;
  unsigned flags;
  switch (given.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      resource->res.array.array = reinterpret_cast<cudaArray_t>(given.res.array.hArray);
      return cudaArrayGetInfo(channels, &extent, &flags, resource->res.array.array);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      resource->res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(given.res.mipmap.hMipmappedArray);
      cudaArray_t level;
      cudaError_t status = cudaGetMipmappedArrayLevel(&level, resource->res.mipmap.mipmap, 0);
      return status == cudaSuccess ? cudaArrayGetInfo(channels, &extent, &flags, level) : status;
    }
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& from = given.res.linear;
      if (!channels_of(from.format, from.numChannels, channels)) return cudaErrorInvalidValue;
      resource->res.linear = {pointer(from.devPtr), *channels, from.sizeInBytes};
      return cudaSuccess;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& from = given.res.pitch2D;
      if (!channels_of(from.format, from.numChannels, channels)) return cudaErrorInvalidValue;
      resource->res.pitch2D = {pointer(from.devPtr), *channels, from.width, from.height, from.pitchInBytes};
      return cudaSuccess;
    }
    default: return cudaErrorInvalidValue;
  }
}

void resource_of(const cudaResourceDesc& resource, CUDA_RESOURCE_DESC* given) {
  *given = {};
  given->resType = static_cast<CUresourcetype>(resource.resType);
  switch (resource.resType) {
    case cudaResourceTypeArray: given->res.array.hArray = reinterpret_cast<CUarray>(resource.res.array.array); break;
    case cudaResourceTypeMipmappedArray:
      given->res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(resource.res.mipmap.mipmap);
      break;
    case cudaResourceTypeLinear: {
      auto& to = given->res.linear;
      to.devPtr = address(resource.res.linear.devPtr);
      to.sizeInBytes = resource.res.linear.sizeInBytes;
      format_of(resource.res.linear.desc, &to.format, &to.numChannels);
      break;
    }
    case cudaResourceTypePitch2D: {
      auto& to = given->res.pitch2D;
      to.devPtr = address(resource.res.pitch2D.devPtr);
      to.width = resource.res.pitch2D.width;
      to.height = resource.res.pitch2D.height;
      to.pitchInBytes = resource.res.pitch2D.pitchInBytes;
      format_of(resource.res.pitch2D.desc, &to.format, &to.numChannels);
      break;
    }
  }
}

// Without a word to the contrary integers of 8 and 16 bits are read as fractions.
bool reads_fractions(unsigned flags, const cudaChannelFormatDesc& channels) {
  return !(flags & CU_TRSF_READ_AS_INTEGER) && channels.f != cudaChannelFormatKindFloat && channels.x <= 16;
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& given, const cudaChannelFormatDesc& channels) {
  cudaTextureDesc texture{};
  for (int i = 0; i < 3; ++i) texture.addressMode[i] = static_cast<cudaTextureAddressMode>(given.addressMode[i]);
  texture.filterMode = static_cast<cudaTextureFilterMode>(given.filterMode);
  texture.readMode = reads_fractions(given.flags, channels) ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  texture.normalizedCoords = (given.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  texture.sRGB = (given.flags & CU_TRSF_SRGB) != 0;
  texture.disableTrilinearOptimization = (given.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  texture.seamlessCubemap = (given.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  texture.maxAnisotropy = given.maxAnisotropy;
  texture.mipmapFilterMode = static_cast<cudaTextureFilterMode>(given.mipmapFilterMode);
  texture.mipmapLevelBias = given.mipmapLevelBias;
  texture.minMipmapLevelClamp = given.minMipmapLevelClamp;
  texture.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
  std::ranges::copy(given.borderColor, texture.borderColor);
  return texture;
}

void texture_of(const cudaTextureDesc& texture, CUDA_TEXTURE_DESC* given) {
  *given = {};
  for (int i = 0; i < 3; ++i) given->addressMode[i] = static_cast<CUaddress_mode>(texture.addressMode[i]);
  given->filterMode = static_cast<CUfilter_mode>(texture.filterMode);
  given->flags = (texture.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
                 (texture.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (texture.sRGB ? CU_TRSF_SRGB : 0) |
                 (texture.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
                 (texture.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
  given->maxAnisotropy = texture.maxAnisotropy;
  given->mipmapFilterMode = static_cast<CUfilter_mode>(texture.mipmapFilterMode);
  given->mipmapLevelBias = texture.mipmapLevelBias;
  given->minMipmapLevelClamp = texture.minMipmapLevelClamp;
  given->maxMipmapLevelClamp = texture.maxMipmapLevelClamp;
  std::ranges::copy(texture.borderColor, given->borderColor);
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return in_current([&](Context& context) {
    if (!object || !resource || !texture) return cudaErrorInvalidValue;
    cudaResourceDesc what;
    cudaChannelFormatDesc channels{};
    if (cudaError_t status = resource_of(*resource, &what, &channels); status != cudaSuccess) return status;
    const TextureRequest request{what, texture_of(*texture, channels), reinterpret_cast<const cudaResourceViewDesc*>(view), true};
    return create_texture_object(context, request, object);
  });
}

WB_CALL(cuTexObjectDestroy, (CUtexObject object), cudaDestroyTextureObject(object))

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject object) {
  return in_current([&](Context&) {
    if (!resource) return cudaErrorInvalidValue;
    cudaResourceDesc what;
    cudaError_t status = cudaGetTextureObjectResourceDesc(&what, object);
    if (status == cudaSuccess) resource_of(what, resource);
    return status;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* texture, CUtexObject object) {
  return in_current([&](Context&) {
    if (!texture) return cudaErrorInvalidValue;
    cudaTextureDesc how;
    cudaError_t status = cudaGetTextureObjectTextureDesc(&how, object);
    if (status == cudaSuccess) texture_of(how, texture);
    return status;
  });
}

WB_CALL(cuTexObjectGetResourceViewDesc, (CUDA_RESOURCE_VIEW_DESC * view, CUtexObject object),
        cudaGetTextureObjectResourceViewDesc(reinterpret_cast<cudaResourceViewDesc*>(view), object))

CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return in_current([&](Context&) {
    if (!object || !resource) return cudaErrorInvalidValue;
    cudaResourceDesc what;
    cudaChannelFormatDesc channels{};
    if (cudaError_t status = resource_of(*resource, &what, &channels); status != cudaSuccess) return status;
    return cudaCreateSurfaceObject(object, &what);
  });
}

WB_CALL(cuSurfObjectDestroy, (CUsurfObject object), cudaDestroySurfaceObject(object))

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject object) {
  return in_current([&](Context&) {
    if (!resource) return cudaErrorInvalidValue;
    cudaResourceDesc what;
    cudaError_t status = cudaGetSurfaceObjectResourceDesc(&what, object);
    if (status == cudaSuccess) resource_of(what, resource);
    return status;
  });
}

}  // extern "C"
