// Channel descriptions of the types that texels are made of: cudaCreateChannelDesc<T>.
#ifndef WARPBEAM_RUNTIME_CHANNELS_H
#define WARPBEAM_RUNTIME_CHANNELS_H

#include "texture_types.h"
#include "vector_types.h"

#if defined(__CUDA__)
#define WB_CHANNELS static __inline__ __attribute__((unused)) __host__
#else
#define WB_CHANNELS static inline
#endif

namespace warpbeam_runtime {

WB_CHANNELS cudaChannelFormatDesc channels(int bits, int count, cudaChannelFormatKind kind) {
  cudaChannelFormatDesc d = {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
  return d;
}

template <class T>
struct Channels {  // void, and what is no texel
  static const int bits = 0, count = 0;
  static const cudaChannelFormatKind kind = cudaChannelFormatKindNone;
};
#define WB_CHANNEL(T, n, k)                                                 \
  template <>                                                               \
  struct Channels<T> {                                                      \
    static const int bits = sizeof(T) * 8 / (n), count = n;                 \
    static const cudaChannelFormatKind kind = cudaChannelFormatKind##k;     \
  };
#define WB_CHANNEL_FAMILY(V, T, k) \
  WB_CHANNEL(T, 1, k)              \
  WB_CHANNEL(V##1, 1, k)           \
  WB_CHANNEL(V##2, 2, k)           \
  WB_CHANNEL(V##4, 4, k)
template <>
struct Channels<char> {
  static const int bits = 8, count = 1;
  static const cudaChannelFormatKind kind = char(-1) < 0 ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned;
};
WB_CHANNEL_FAMILY(char, signed char, Signed)
WB_CHANNEL_FAMILY(uchar, unsigned char, Unsigned)
WB_CHANNEL_FAMILY(short, short, Signed)
WB_CHANNEL_FAMILY(ushort, unsigned short, Unsigned)
WB_CHANNEL_FAMILY(int, int, Signed)
WB_CHANNEL_FAMILY(uint, unsigned int, Unsigned)
WB_CHANNEL_FAMILY(float, float, Float)
#undef WB_CHANNEL
#undef WB_CHANNEL_FAMILY

template <class T>
WB_CHANNELS cudaChannelFormatDesc channels_of() {
  return channels(Channels<T>::bits, Channels<T>::count, Channels<T>::kind);
}

}  // namespace warpbeam_runtime

template <class T>
WB_CHANNELS cudaChannelFormatDesc cudaCreateChannelDesc() {
  return warpbeam_runtime::channels_of<T>();
}

WB_CHANNELS cudaChannelFormatDesc cudaCreateChannelDescHalf() { return warpbeam_runtime::channels(16, 1, cudaChannelFormatKindFloat); }
WB_CHANNELS cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return warpbeam_runtime::channels(16, 1, cudaChannelFormatKindFloat); }
WB_CHANNELS cudaChannelFormatDesc cudaCreateChannelDescHalf2() { return warpbeam_runtime::channels(16, 2, cudaChannelFormatKindFloat); }
WB_CHANNELS cudaChannelFormatDesc cudaCreateChannelDescHalf4() { return warpbeam_runtime::channels(16, 4, cudaChannelFormatKindFloat); }

namespace warpbeam_runtime {
// Formats whose kind says everything: the bits of each channel.
template <cudaChannelFormatKind kind>
struct NamedFormat {
  static cudaChannelFormatDesc get() { return channels(0, 0, cudaChannelFormatKindNone); }
};
#define WB_FORMAT(k, x, y, z, w)                                            \
  template <>                                                               \
  struct NamedFormat<cudaChannelFormatKind##k> {                            \
    static cudaChannelFormatDesc get() {                                    \
      cudaChannelFormatDesc d = {x, y, z, w, cudaChannelFormatKind##k};     \
      return d;                                                             \
    }                                                                       \
  };
#define WB_NORMALIZED(k, bits)                 \
  WB_FORMAT(k##X1, bits, 0, 0, 0)              \
  WB_FORMAT(k##X2, bits, bits, 0, 0)           \
  WB_FORMAT(k##X4, bits, bits, bits, bits)
WB_NORMALIZED(UnsignedNormalized8, 8)
WB_NORMALIZED(SignedNormalized8, 8)
WB_NORMALIZED(UnsignedNormalized16, 16)
WB_NORMALIZED(SignedNormalized16, 16)
WB_FORMAT(UnsignedNormalized1010102, 10, 10, 10, 2)
WB_FORMAT(NV12, 8, 8, 8, 0)
WB_FORMAT(UnsignedBlockCompressed1, 8, 8, 8, 8)
WB_FORMAT(UnsignedBlockCompressed1SRGB, 8, 8, 8, 8)
WB_FORMAT(UnsignedBlockCompressed2, 8, 8, 8, 8)
WB_FORMAT(UnsignedBlockCompressed2SRGB, 8, 8, 8, 8)
WB_FORMAT(UnsignedBlockCompressed3, 8, 8, 8, 8)
WB_FORMAT(UnsignedBlockCompressed3SRGB, 8, 8, 8, 8)
WB_FORMAT(UnsignedBlockCompressed4, 8, 0, 0, 0)
WB_FORMAT(SignedBlockCompressed4, 8, 0, 0, 0)
WB_FORMAT(UnsignedBlockCompressed5, 8, 8, 0, 0)
WB_FORMAT(SignedBlockCompressed5, 8, 8, 0, 0)
WB_FORMAT(UnsignedBlockCompressed6H, 16, 16, 16, 0)
WB_FORMAT(SignedBlockCompressed6H, 16, 16, 16, 0)
WB_FORMAT(UnsignedBlockCompressed7, 8, 8, 8, 8)
WB_FORMAT(UnsignedBlockCompressed7SRGB, 8, 8, 8, 8)
#undef WB_NORMALIZED
#undef WB_FORMAT
}  // namespace warpbeam_runtime

template <cudaChannelFormatKind kind>
WB_CHANNELS cudaChannelFormatDesc cudaCreateChannelDesc() {
  return warpbeam_runtime::NamedFormat<kind>::get();
}
WB_CHANNELS cudaChannelFormatDesc cudaCreateChannelDescNV12() { return cudaCreateChannelDesc<cudaChannelFormatKindNV12>(); }

#undef WB_CHANNELS

#endif
