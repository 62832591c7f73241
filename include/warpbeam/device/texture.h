// Texture fetches, on texture objects and on texture references. Every function is one instruction; the table below says
// which, with its operands. References come after objects, and in device code stand for their handle.
#ifndef WARPBEAM_DEVICE_TEXTURE_H
#define WARPBEAM_DEVICE_TEXTURE_H

#include "../runtime/texture_reference.h"
#include "texel.h"

namespace warpbeam_device {

// One instruction for each register type. `operands` begins at %4, the image.
#if defined(__CUDA_ARCH__)
#define WB_FETCH_AS(R, c, t, name, parameters, before, after, operands, inputs)                              \
  WB_DEVICE void name(Quad<R>& q, unsigned long long image, WB_UNPACK parameters) {                          \
    asm(before ".v4." t after " {%0, %1, %2, %3}, " operands ";"                                             \
        : "=" c(q.x), "=" c(q.y), "=" c(q.z), "=" c(q.w)                                                     \
        : "l"(image), WB_UNPACK inputs);                                                                     \
  }
#else
#define WB_FETCH_AS(R, c, t, name, parameters, before, after, operands, inputs) \
  WB_DEVICE void name(Quad<R>& q, unsigned long long, WB_UNPACK parameters) { q = Quad<R>(); }
#endif
#define WB_UNPACK(...) __VA_ARGS__

// name, parameters, arguments, instruction, type of the coordinates, operands, inputs
#define WB_FETCHES(X)                                                                                                                     \
  X(tex1Dfetch, (int x), (x), "tex.1d", ".s32", "[%4, {%5}]", ("r"(x)))                                                                   \
  X(tex1D, (float x), (x), "tex.1d", ".f32", "[%4, {%5}]", ("f"(x)))                                                                      \
  X(tex2D, (float x, float y), (x, y), "tex.2d", ".f32", "[%4, {%5, %6}]", ("f"(x), "f"(y)))                                              \
  X(tex3D, (float x, float y, float z), (x, y, z), "tex.3d", ".f32", "[%4, {%5, %6, %7, %7}]", ("f"(x), "f"(y), "f"(z)))                  \
  X(tex1DLayered, (float x, int layer), (x, layer), "tex.a1d", ".f32", "[%4, {%5, %6}]", ("r"(layer), "f"(x)))                            \
  X(tex2DLayered, (float x, float y, int layer), (x, y, layer), "tex.a2d", ".f32", "[%4, {%5, %6, %7, %7}]",                              \
    ("r"(layer), "f"(x), "f"(y)))                                                                                                         \
  X(texCubemap, (float x, float y, float z), (x, y, z), "tex.cube", ".f32", "[%4, {%5, %6, %7, %7}]", ("f"(x), "f"(y), "f"(z)))           \
  X(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer), "tex.acube", ".f32", "[%4, {%5, %6, %7, %8}]",           \
    ("r"(layer), "f"(x), "f"(y), "f"(z)))                                                                                                 \
  X(tex1DLod, (float x, float level), (x, level), "tex.level.1d", ".f32", "[%4, {%5}], %6", ("f"(x), "f"(level)))                         \
  X(tex2DLod, (float x, float y, float level), (x, y, level), "tex.level.2d", ".f32", "[%4, {%5, %6}], %7",                               \
    ("f"(x), "f"(y), "f"(level)))                                                                                                         \
  X(tex3DLod, (float x, float y, float z, float level), (x, y, z, level), "tex.level.3d", ".f32", "[%4, {%5, %6, %7, %7}], %8",           \
    ("f"(x), "f"(y), "f"(z), "f"(level)))                                                                                                 \
  X(tex1DLayeredLod, (float x, int layer, float level), (x, layer, level), "tex.level.a1d", ".f32", "[%4, {%5, %6}], %7",                 \
    ("r"(layer), "f"(x), "f"(level)))                                                                                                     \
  X(tex2DLayeredLod, (float x, float y, int layer, float level), (x, y, layer, level), "tex.level.a2d", ".f32",                           \
    "[%4, {%5, %6, %7, %7}], %8", ("r"(layer), "f"(x), "f"(y), "f"(level)))                                                               \
  X(texCubemapLod, (float x, float y, float z, float level), (x, y, z, level), "tex.level.cube", ".f32", "[%4, {%5, %6, %7, %7}], %8",    \
    ("f"(x), "f"(y), "f"(z), "f"(level)))                                                                                                 \
  X(texCubemapLayeredLod, (float x, float y, float z, int layer, float level), (x, y, z, layer, level), "tex.level.acube", ".f32",        \
    "[%4, {%5, %6, %7, %8}], %9", ("r"(layer), "f"(x), "f"(y), "f"(z), "f"(level)))                                                       \
  X(tex1DGrad, (float x, float dx, float dy), (x, dx, dy), "tex.grad.1d", ".f32", "[%4, {%5}], {%6}, {%7}",                               \
    ("f"(x), "f"(dx), "f"(dy)))                                                                                                           \
  X(tex2DGrad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy), "tex.grad.2d", ".f32", "[%4, {%5, %6}], {%7, %8}, {%9, %10}",    \
    ("f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))                                                                         \
  X(tex3DGrad, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), "tex.grad.3d", ".f32",                               \
    "[%4, {%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}",                                                                   \
    ("f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))                                           \
  X(tex1DLayeredGrad, (float x, int layer, float dx, float dy), (x, layer, dx, dy), "tex.grad.a1d", ".f32", "[%4, {%5, %6}], {%7}, {%8}", \
    ("r"(layer), "f"(x), "f"(dx), "f"(dy)))                                                                                               \
  X(tex2DLayeredGrad, (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, dx, dy), "tex.grad.a2d", ".f32",                 \
    "[%4, {%5, %6, %7, %7}], {%8, %9}, {%10, %11}", ("r"(layer), "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))             \
  X(texCubemapGrad, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), "tex.grad.cube", ".f32",                        \
    "[%4, {%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}",                                                                   \
    ("f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))                                           \
  X(texCubemapLayeredGrad, (float x, float y, float z, int layer, float4 dx, float4 dy), (x, y, z, layer, dx, dy), "tex.grad.acube",      \
    ".f32", "[%4, {%5, %6, %7, %8}], {%9, %10, %11, %11}, {%12, %13, %14, %14}",                                                          \
    ("r"(layer), "f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))

#define WB_DEFINE_FETCH(name, parameters, arguments, instruction, coordinates, operands, inputs)                     \
  WB_FETCH_AS(float, "f", "f32", name, parameters, instruction, coordinates, operands, inputs)                       \
  WB_FETCH_AS(int, "r", "s32", name, parameters, instruction, coordinates, operands, inputs)                         \
  WB_FETCH_AS(unsigned int, "r", "u32", name, parameters, instruction, coordinates, operands, inputs)
WB_FETCHES(WB_DEFINE_FETCH)

#define WB_DEFINE_GATHER(channel)                                                                                    \
  WB_FETCH_AS(float, "f", "f32", gather_##channel, (float x, float y), "tld4." #channel ".2d", ".f32", "[%4, {%5, %6}]", ("f"(x), "f"(y))) \
  WB_FETCH_AS(int, "r", "s32", gather_##channel, (float x, float y), "tld4." #channel ".2d", ".f32", "[%4, {%5, %6}]", ("f"(x), "f"(y)))   \
  WB_FETCH_AS(unsigned int, "r", "u32", gather_##channel, (float x, float y), "tld4." #channel ".2d", ".f32", "[%4, {%5, %6}]", ("f"(x), "f"(y)))
WB_DEFINE_GATHER(r)
WB_DEFINE_GATHER(g)
WB_DEFINE_GATHER(b)
WB_DEFINE_GATHER(a)

template <class R>
WB_DEVICE void tex2Dgather(Quad<R>& q, unsigned long long image, float x, float y, int channel) {
  switch (channel) {
    case 1: return gather_g(q, image, x, y);
    case 2: return gather_b(q, image, x, y);
    case 3: return gather_a(q, image, x, y);
    default: return gather_r(q, image, x, y);
  }
}

template <class R>
struct Gathered;
template <>
struct Gathered<float> { typedef float4 type; };
template <>
struct Gathered<int> { typedef int4 type; };
template <>
struct Gathered<unsigned int> { typedef uint4 type; };

// A reference in device code is its handle, which only an instruction can take.
template <class Reference>
WB_DEVICE unsigned long long handle_of(Reference reference) {
  unsigned long long handle = 0;
#if defined(__CUDA_ARCH__)
  asm("mov.b64 %0, %1;" : "=l"(handle) : "l"(reference));
#endif
  return handle;
}

// What a fetch by reference gives: the texel, or floats where it is read as such.
template <class T, int mode>
struct Fetched {
  typedef T type;
};
template <class T>
struct Fetched<T, 1> {
  typedef typename Texel<T>::Normalized type;
};

}  // namespace warpbeam_device

#define WB_DEFINE_OBJECT_FETCH(name, parameters, arguments, instruction, coordinates, operands, inputs)              \
  template <class T>                                                                                                 \
  WB_DEVICE T name(cudaTextureObject_t object, WB_UNPACK parameters) {                                               \
    warpbeam_device::Quad<typename warpbeam_device::Texel<T>::Register> q;                                           \
    warpbeam_device::name(q, object, WB_UNPACK arguments);                                                           \
    return warpbeam_device::Texel<T>::make(q);                                                                       \
  }                                                                                                                  \
  template <class T>                                                                                                 \
  WB_DEVICE void name(T* result, cudaTextureObject_t object, WB_UNPACK parameters) {                                 \
    *result = ::name<T>(object, WB_UNPACK arguments);                                                                \
  }
WB_FETCHES(WB_DEFINE_OBJECT_FETCH)

template <class T>
WB_DEVICE T tex2Dgather(cudaTextureObject_t object, float x, float y, int comp = 0) {
  warpbeam_device::Quad<typename warpbeam_device::Texel<T>::Register> q;
  warpbeam_device::tex2Dgather(q, object, x, y, comp);
  return warpbeam_device::Texel<T>::make(q);
}
template <class T>
WB_DEVICE void tex2Dgather(T* result, cudaTextureObject_t object, float x, float y, int comp = 0) {
  *result = ::tex2Dgather<T>(object, x, y, comp);
}

// Sparse textures: everything is resident here.
#define WB_DEFINE_SPARSE_FETCH(name, parameters, arguments)                                     \
  template <class T>                                                                            \
  WB_DEVICE T name(cudaTextureObject_t object, WB_UNPACK parameters, bool* isResident) {        \
    *isResident = true;                                                                         \
    return ::name<T>(object, WB_UNPACK arguments);                                              \
  }
WB_DEFINE_SPARSE_FETCH(tex2D, (float x, float y), (x, y))
WB_DEFINE_SPARSE_FETCH(tex3D, (float x, float y, float z), (x, y, z))
WB_DEFINE_SPARSE_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer))
WB_DEFINE_SPARSE_FETCH(texCubemap, (float x, float y, float z), (x, y, z))
WB_DEFINE_SPARSE_FETCH(tex2DLod, (float x, float y, float level), (x, y, level))
WB_DEFINE_SPARSE_FETCH(tex3DLod, (float x, float y, float z, float level), (x, y, z, level))
WB_DEFINE_SPARSE_FETCH(tex2DGrad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy))

#if defined(WB_TEXTURE_REFERENCES)
// By reference
#define WB_DEFINE_REFERENCE_FETCH(name, shape, parameters, arguments)                                                      \
  template <class T, enum cudaTextureReadMode mode>                                                                        \
  WB_DEVICE typename warpbeam_device::Fetched<T, mode>::type name(texture<T, shape, mode> reference, WB_UNPACK parameters) { \
    typedef typename warpbeam_device::Fetched<T, mode>::type Result;                                                       \
    warpbeam_device::Quad<typename warpbeam_device::Texel<Result>::Register> q;                                            \
    warpbeam_device::name(q, warpbeam_device::handle_of(reference), WB_UNPACK arguments);                                  \
    return warpbeam_device::Texel<Result>::make(q);                                                                        \
  }
WB_DEFINE_REFERENCE_FETCH(tex1Dfetch, cudaTextureType1D, (int x), (x))
WB_DEFINE_REFERENCE_FETCH(tex1D, cudaTextureType1D, (float x), (x))
WB_DEFINE_REFERENCE_FETCH(tex2D, cudaTextureType2D, (float x, float y), (x, y))
WB_DEFINE_REFERENCE_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z))
WB_DEFINE_REFERENCE_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer))
WB_DEFINE_REFERENCE_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer))
WB_DEFINE_REFERENCE_FETCH(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), (x, y, z))
WB_DEFINE_REFERENCE_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer))
WB_DEFINE_REFERENCE_FETCH(tex1DLod, cudaTextureType1D, (float x, float level), (x, level))
WB_DEFINE_REFERENCE_FETCH(tex2DLod, cudaTextureType2D, (float x, float y, float level), (x, y, level))
WB_DEFINE_REFERENCE_FETCH(tex3DLod, cudaTextureType3D, (float x, float y, float z, float level), (x, y, z, level))
WB_DEFINE_REFERENCE_FETCH(tex1DLayeredLod, cudaTextureType1DLayered, (float x, int layer, float level), (x, layer, level))
WB_DEFINE_REFERENCE_FETCH(tex2DLayeredLod, cudaTextureType2DLayered, (float x, float y, int layer, float level), (x, y, layer, level))
WB_DEFINE_REFERENCE_FETCH(texCubemapLod, cudaTextureTypeCubemap, (float x, float y, float z, float level), (x, y, z, level))
WB_DEFINE_REFERENCE_FETCH(tex1DGrad, cudaTextureType1D, (float x, float dx, float dy), (x, dx, dy))
WB_DEFINE_REFERENCE_FETCH(tex2DGrad, cudaTextureType2D, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy))
WB_DEFINE_REFERENCE_FETCH(tex3DGrad, cudaTextureType3D, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy))
template <class T, enum cudaTextureReadMode mode>
WB_DEVICE typename warpbeam_device::Gathered<typename warpbeam_device::Texel<typename warpbeam_device::Fetched<T, mode>::type>::Register>::type
tex2Dgather(texture<T, cudaTextureType2D, mode> reference, float x, float y, int comp = 0) {
  typedef typename warpbeam_device::Texel<typename warpbeam_device::Fetched<T, mode>::type>::Register Register;
  warpbeam_device::Quad<Register> q;
  warpbeam_device::tex2Dgather(q, warpbeam_device::handle_of(reference), x, y, comp);
  return warpbeam_device::Texel<typename warpbeam_device::Gathered<Register>::type>::make(q);
}
#undef WB_DEFINE_REFERENCE_FETCH
#endif

#undef WB_UNPACK
#undef WB_FETCH_AS
#undef WB_FETCHES
#undef WB_DEFINE_FETCH
#undef WB_DEFINE_GATHER
#undef WB_DEFINE_OBJECT_FETCH
#undef WB_DEFINE_SPARSE_FETCH

#endif
