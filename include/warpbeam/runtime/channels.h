// Channel descriptions of the types that texels are made of: cudaCreateChannelDesc<T>.
#ifndef WARPBEAM_RUNTIME_CHANNELS_H
#define WARPBEAM_RUNTIME_CHANNELS_H

#include "texture_types.h"
#include "vector_types.h"

#if defined(__CUDA__) && defined(__clang__)
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
// Formats whose kind says everything.
template <cudaChannelFormatKind kind>
struct NamedFormat {
  static const int place = kind - cudaChannelFormatKindUnsignedNormalized8X1;
  static const bool exists = kind >= cudaChannelFormatKindUnsignedNormalized8X1 && kind <= cudaChannelFormatKindSignedNormalized16X4;
  static const int bits = place % 6 < 3 ? 8 : 16, count = 1 << place % 3;
};
}  // namespace warpbeam_runtime

template <cudaChannelFormatKind kind>
WB_CHANNELS cudaChannelFormatDesc cudaCreateChannelDesc() {
  typedef warpbeam_runtime::NamedFormat<kind> Format;
  return Format::exists ? warpbeam_runtime::channels(Format::bits, Format::count, kind)
                        : warpbeam_runtime::channels(0, 0, cudaChannelFormatKindNone);
}

#undef WB_CHANNELS

#endif
