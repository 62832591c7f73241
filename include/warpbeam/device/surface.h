// Surface reads and writes, on surface objects and on surface references. The first coordinate counts bytes; what happens
// outside is said by a cudaSurfaceBoundaryMode.
#ifndef WARPBEAM_DEVICE_SURFACE_H
#define WARPBEAM_DEVICE_SURFACE_H

#include "texture.h"

namespace warpbeam_device {

// Any type of 1, 2, 4, 8 or 16 bytes goes through registers of its size.
struct SurfacePair {
  unsigned long long x, y;
};
template <int bytes>
struct SurfaceWord;
template <>
struct SurfaceWord<1> { typedef unsigned char type; };
template <>
struct SurfaceWord<2> { typedef unsigned short type; };
template <>
struct SurfaceWord<4> { typedef unsigned int type; };
template <>
struct SurfaceWord<8> { typedef unsigned long long type; };
template <>
struct SurfaceWord<16> { typedef SurfacePair type; };

#define WB_UNPACK(...) __VA_ARGS__

// A statement in each of the modes.
#if defined(__CUDA_ARCH__)
#define WB_IN_MODE(before, after, outputs, ...)                                                              \
  if (mode == cudaBoundaryModeZero) asm volatile(before ".zero " after : WB_UNPACK outputs : __VA_ARGS__ : "memory"); \
  else if (mode == cudaBoundaryModeClamp) asm volatile(before ".clamp " after : WB_UNPACK outputs : __VA_ARGS__ : "memory"); \
  else asm volatile(before ".trap " after : WB_UNPACK outputs : __VA_ARGS__ : "memory")
#else
#define WB_IN_MODE(before, after, outputs, ...)
#endif

#define WB_SURFACE_WORDS(shape, place, parameters, inputs)                           \
  WB_SURFACE_WORD(unsigned char, unsigned short, "h", "b8", shape, place, parameters, inputs)   \
  WB_SURFACE_WORD(unsigned short, unsigned short, "h", "b16", shape, place, parameters, inputs) \
  WB_SURFACE_WORD(unsigned int, unsigned int, "r", "b32", shape, place, parameters, inputs)     \
  WB_SURFACE_WORD(unsigned long long, unsigned long long, "l", "b64", shape, place, parameters, inputs) \
  WB_SURFACE_PAIR(shape, place, parameters, inputs)
#define WB_SURFACE_WORD(W, R, c, t, shape, place, parameters, inputs)                                                                       \
  WB_DEVICE void WB_NAME(load)(W& word, unsigned long long image, cudaSurfaceBoundaryMode mode, WB_UNPACK parameters) {                     \
    R v = 0;                                                                                                                                \
    WB_IN_MODE("suld.b." shape "." t, "%[v], [%[image], " place "];", ([v] "=" c(v)), [image] "l"(image), WB_UNPACK inputs);                  \
    word = (W)v;                                                                                                                            \
  }                                                                                                                                         \
  WB_DEVICE void WB_NAME(store)(W word, unsigned long long image, cudaSurfaceBoundaryMode mode, WB_UNPACK parameters) {                     \
    WB_IN_MODE("sust.b." shape "." t, "[%[image], " place "], %[v];", (), [v] c((R)word), [image] "l"(image), WB_UNPACK inputs);              \
  }
#define WB_SURFACE_PAIR(shape, place, parameters, inputs)                                                                                   \
  WB_DEVICE void WB_NAME(load)(SurfacePair& word, unsigned long long image, cudaSurfaceBoundaryMode mode, WB_UNPACK parameters) {           \
    word.x = word.y = 0;                                                                                                                    \
    WB_IN_MODE("suld.b." shape ".v2.b64", "{%[v], %[w]}, [%[image], " place "];", ([v] "=l"(word.x), [w] "=l"(word.y)),            \
               [image] "l"(image), WB_UNPACK inputs);                                                                                       \
  }                                                                                                                                         \
  WB_DEVICE void WB_NAME(store)(SurfacePair word, unsigned long long image, cudaSurfaceBoundaryMode mode, WB_UNPACK parameters) {           \
    WB_IN_MODE("sust.b." shape ".v2.b64", "[%[image], " place "], {%[v], %[w]};", (), [v] "l"(word.x), [w] "l"(word.y), [image] "l"(image),   \
               WB_UNPACK inputs);                                                                                                           \
  }

#define WB_NAME(what) what##_1d
WB_SURFACE_WORDS("1d", "{%[x]}", (int x), ([x] "r"(x)))
#undef WB_NAME
#define WB_NAME(what) what##_2d
WB_SURFACE_WORDS("2d", "{%[x], %[y]}", (int x, int y), ([x] "r"(x), [y] "r"(y)))
#undef WB_NAME
#define WB_NAME(what) what##_3d
WB_SURFACE_WORDS("3d", "{%[x], %[y], %[z], %[z]}", (int x, int y, int z), ([x] "r"(x), [y] "r"(y), [z] "r"(z)))
#undef WB_NAME
#define WB_NAME(what) what##_a1d
WB_SURFACE_WORDS("a1d", "{%[layer], %[x]}", (int x, int layer), ([x] "r"(x), [layer] "r"(layer)))
#undef WB_NAME
#define WB_NAME(what) what##_a2d
WB_SURFACE_WORDS("a2d", "{%[layer], %[x], %[y], %[y]}", (int x, int y, int layer), ([x] "r"(x), [y] "r"(y), [layer] "r"(layer)))
#undef WB_NAME

}  // namespace warpbeam_device

#define WB_DEFINE_SURFACE(name, shape, parameters, arguments)                                                                               \
  template <class T>                                                                                                                   \
  WB_DEVICE T name##read(cudaSurfaceObject_t object, WB_UNPACK parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {      \
    typename warpbeam_device::SurfaceWord<sizeof(T)>::type word;                                                                       \
    warpbeam_device::load_##shape(word, object, mode, WB_UNPACK arguments);                                                            \
    return __builtin_bit_cast(T, word);                                                                                                \
  }                                                                                                                                    \
  template <class T>                                                                                                                   \
  WB_DEVICE void name##read(T* result, cudaSurfaceObject_t object, WB_UNPACK parameters,                                               \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                     \
    *result = ::name##read<T>(object, WB_UNPACK arguments, mode);                                                                      \
  }                                                                                                                                    \
  template <class T>                                                                                                                   \
  WB_DEVICE void name##write(T value, cudaSurfaceObject_t object, WB_UNPACK parameters,                                                \
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                    \
    warpbeam_device::store_##shape(__builtin_bit_cast(typename warpbeam_device::SurfaceWord<sizeof(T)>::type, value), object, mode,    \
                                   WB_UNPACK arguments);                                                                               \
  }
#define WB_DEFINE_SURFACE_REFERENCE(name, dimension, parameters, arguments)                                                             \
  template <class T>                                                                                                                   \
  WB_DEVICE T name##read(surface<void, dimension> reference, WB_UNPACK parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
    return ::name##read<T>(cudaSurfaceObject_t(warpbeam_device::handle_of(reference)), WB_UNPACK arguments, mode);                     \
  }                                                                                                                                    \
  template <class T>                                                                                                                   \
  WB_DEVICE void name##read(T* result, surface<void, dimension> reference, WB_UNPACK parameters,                                            \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                     \
    *result = ::name##read<T>(cudaSurfaceObject_t(warpbeam_device::handle_of(reference)), WB_UNPACK arguments, mode);                  \
  }                                                                                                                                    \
  template <class T>                                                                                                                   \
  WB_DEVICE void name##write(T value, surface<void, dimension> reference, WB_UNPACK parameters,                                             \
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                    \
    ::name##write(value, cudaSurfaceObject_t(warpbeam_device::handle_of(reference)), WB_UNPACK arguments, mode);                       \
  }
WB_DEFINE_SURFACE(surf1D, 1d, (int x), (x))
WB_DEFINE_SURFACE(surf2D, 2d, (int x, int y), (x, y))
WB_DEFINE_SURFACE(surf3D, 3d, (int x, int y, int z), (x, y, z))
WB_DEFINE_SURFACE(surf1DLayered, a1d, (int x, int layer), (x, layer))
WB_DEFINE_SURFACE(surf2DLayered, a2d, (int x, int y, int layer), (x, y, layer))
// The faces of a cube map are layers.
WB_DEFINE_SURFACE(surfCubemap, a2d, (int x, int y, int face), (x, y, face))
WB_DEFINE_SURFACE(surfCubemapLayered, a2d, (int x, int y, int layerFace), (x, y, layerFace))

#if defined(WB_TEXTURE_REFERENCES)
WB_DEFINE_SURFACE_REFERENCE(surf1D, cudaSurfaceType1D, (int x), (x))
WB_DEFINE_SURFACE_REFERENCE(surf2D, cudaSurfaceType2D, (int x, int y), (x, y))
WB_DEFINE_SURFACE_REFERENCE(surf3D, cudaSurfaceType3D, (int x, int y, int z), (x, y, z))
WB_DEFINE_SURFACE_REFERENCE(surf1DLayered, cudaSurfaceType1DLayered, (int x, int layer), (x, layer))
WB_DEFINE_SURFACE_REFERENCE(surf2DLayered, cudaSurfaceType2DLayered, (int x, int y, int layer), (x, y, layer))
WB_DEFINE_SURFACE_REFERENCE(surfCubemap, cudaSurfaceTypeCubemap, (int x, int y, int face), (x, y, face))
WB_DEFINE_SURFACE_REFERENCE(surfCubemapLayered, cudaSurfaceTypeCubemapLayered, (int x, int y, int layerFace), (x, y, layerFace))
#endif

#undef WB_IN_MODE
#undef WB_UNPACK
#undef WB_SURFACE_WORDS
#undef WB_SURFACE_WORD
#undef WB_SURFACE_PAIR
#undef WB_DEFINE_SURFACE
#undef WB_DEFINE_SURFACE_REFERENCE

#endif
