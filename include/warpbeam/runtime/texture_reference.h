// Texture and surface references: variables at file scope that the host binds to memory and kernels read. Toolkit 12
// removed them; older programs are full of them.
#ifndef WARPBEAM_RUNTIME_TEXTURE_REFERENCE_H
#define WARPBEAM_RUNTIME_TEXTURE_REFERENCE_H

#include "surface_types.h"
#include "texture_types.h"

struct textureReference {
  int normalized;
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureAddressMode addressMode[3];
  struct cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned int maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int reserved[14];
};

struct surfaceReference {
  struct cudaChannelFormatDesc channelDesc;
};

#if defined(__cplusplus) && defined(__CUDA__) && defined(__clang__) && !defined(WARPBEAM_NO_TEXTURE_REFERENCES)
#define WB_TEXTURE_REFERENCES
#include "channels.h"

// clang knows these two templates by their attributes: in device code a variable of them is a handle, and host code
// registers its own variable of the same name.
template <class T, int texType = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
  __host__ texture(int norm = 0, enum cudaTextureFilterMode fMode = cudaFilterModePoint,
                   enum cudaTextureAddressMode aMode = cudaAddressModeClamp) {
    set(norm, fMode, aMode, warpbeam_runtime::channels_of<T>());
  }
  __host__ texture(int norm, enum cudaTextureFilterMode fMode, enum cudaTextureAddressMode aMode, struct cudaChannelFormatDesc desc) {
    set(norm, fMode, aMode, desc);
  }

 private:
  __host__ void set(int norm, enum cudaTextureFilterMode fMode, enum cudaTextureAddressMode aMode, const struct cudaChannelFormatDesc& desc) {
    textureReference& self = *this;
    self = textureReference();
    normalized = norm;
    filterMode = fMode;
    addressMode[0] = addressMode[1] = addressMode[2] = aMode;
    channelDesc = desc;
  }
};

template <class T, int dim = 1>
struct __attribute__((device_builtin_surface_type)) surface : public surfaceReference {
  __host__ surface() { channelDesc = warpbeam_runtime::channels_of<T>(); }
};

#endif
#endif
