// Binding texture and surface references by the variable itself.
#ifndef WARPBEAM_RUNTIME_BIND_TEXTURE_H
#define WARPBEAM_RUNTIME_BIND_TEXTURE_H

#include "texture_reference.h"

template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, dim, mode>& tex, const void* devPtr,
                                          const cudaChannelFormatDesc& desc, size_t size = (size_t)0xffffffffu) {
  return ::cudaBindTexture(offset, (const textureReference*)&tex, devPtr, &desc, size);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, dim, mode>& tex, const void* devPtr,
                                          size_t size = (size_t)0xffffffffu) {
  return cudaBindTexture(offset, tex, devPtr, tex.channelDesc, size);
}

template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, dim, mode>& tex, const void* devPtr,
                                            const cudaChannelFormatDesc& desc, size_t width, size_t height, size_t pitch) {
  return ::cudaBindTexture2D(offset, (const textureReference*)&tex, devPtr, &desc, width, height, pitch);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, dim, mode>& tex, const void* devPtr, size_t width,
                                            size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, tex, devPtr, tex.channelDesc, width, height, pitch);
}

template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode>& tex, cudaArray_const_t array,
                                                 const cudaChannelFormatDesc& desc) {
  return ::cudaBindTextureToArray((const textureReference*)&tex, array, &desc);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode>& tex, cudaArray_const_t array) {
  cudaChannelFormatDesc desc;
  const cudaError_t status = ::cudaGetChannelDesc(&desc, array);
  return status == cudaSuccess ? cudaBindTextureToArray(tex, array, desc) : status;
}

template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToMipmappedArray(const texture<T, dim, mode>& tex, cudaMipmappedArray_const_t mipmappedArray,
                                                          const cudaChannelFormatDesc& desc) {
  return ::cudaBindTextureToMipmappedArray((const textureReference*)&tex, mipmappedArray, &desc);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToMipmappedArray(const texture<T, dim, mode>& tex, cudaMipmappedArray_const_t mipmappedArray) {
  cudaArray_t level;
  cudaChannelFormatDesc desc;
  cudaError_t status = ::cudaGetMipmappedArrayLevel(&level, mipmappedArray, 0);
  if (status == cudaSuccess) status = ::cudaGetChannelDesc(&desc, level);
  return status == cudaSuccess ? cudaBindTextureToMipmappedArray(tex, mipmappedArray, desc) : status;
}

template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(const texture<T, dim, mode>& tex) {
  return ::cudaUnbindTexture((const textureReference*)&tex);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const texture<T, dim, mode>& tex) {
  return ::cudaGetTextureAlignmentOffset(offset, (const textureReference*)&tex);
}

template <class T, int dim>
static inline cudaError_t cudaBindSurfaceToArray(const surface<T, dim>& surf, cudaArray_const_t array, const cudaChannelFormatDesc& desc) {
  return ::cudaBindSurfaceToArray((const surfaceReference*)&surf, array, &desc);
}
template <class T, int dim>
static inline cudaError_t cudaBindSurfaceToArray(const surface<T, dim>& surf, cudaArray_const_t array) {
  cudaChannelFormatDesc desc;
  const cudaError_t status = ::cudaGetChannelDesc(&desc, array);
  return status == cudaSuccess ? cudaBindSurfaceToArray(surf, array, desc) : status;
}

#endif
