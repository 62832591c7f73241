// Images and how they are sampled: what texture units do, as an sm_90 device does it.
//
// A texture coordinate becomes a fixed-point number of texels with 8 bits of fraction. A filter blends 2, 4 or 8 texels
// (twice that between two mipmap levels) with weights of 8 bits that always sum to 256; see texture.cc for the rounding.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpbeam::vm {

enum class TexelKind : uint8_t { Unsigned, Signed, Float, UnsignedNormal, SignedNormal };

struct TexelFormat {
  TexelKind kind{};
  uint8_t bits = 8;  // of a channel: 8, 16 or 32
  uint8_t channels = 1;
  uint32_t bytes() const { return bits / 8u * channels; }
};

// The numbers are those of cudaTextureAddressMode.
enum class AddressMode : uint8_t { Wrap, Clamp, Mirror, Border };

struct ImageLevel {
  std::byte* base = nullptr;
  uint32_t width = 1, height = 1, depth = 1;  // texels; depth: slices of a volume, or layers
  uint64_t pitch = 0, plane = 0;              // bytes
};

inline constexpr int kMaxLevels = 20;

// Who is asked whether texels may be read that lie past the end of the memory there is.
class PastTheEnd {
 public:
  virtual void asks(const std::byte* texel) = 0;  // throws where it must not be read

 protected:
  ~PastTheEnd() = default;
};

struct Image {
  TexelFormat format;
  uint8_t dimensions = 1;  // 1, 2 or 3
  bool buffer = false;     // linear memory: no edges, what lies outside reads as zero
  bool layered = false;    // the last extent counts layers (of a cube map: faces)
  bool cube = false;
  uint8_t level_count = 1;
  std::array<ImageLevel, kMaxLevels> levels;
  std::vector<const std::byte*>* touched = nullptr;  // for a watcher: every texel that is read is added
  const std::byte* end = nullptr;  // of the memory, where there is less of it than the extents say
  PastTheEnd* past_the_end = nullptr;
};

struct Sampler {
  std::array<AddressMode, 3> address{AddressMode::Wrap, AddressMode::Wrap, AddressMode::Wrap};
  bool linear = false;
  bool normalized_coordinates = false;
  bool normalized_read = false;  // integers of 8 or 16 bits become [0, 1] or [-1, 1]
  bool srgb = false;
  std::array<float, 4> border{};
  bool linear_levels = false;
  float level_bias = 0, min_level = 0, max_level = 0;
  uint32_t anisotropy = 0;
  bool seamless = false;
};

struct Texture {
  Image image;
  Sampler sampler;
};

// Bits of four f32, s32 or u32, as the format and the sampler have it.
using Texel = std::array<uint32_t, 4>;

struct TexturePoint {
  float x = 0, y = 0, z = 0;
  uint32_t layer = 0;
  std::array<int32_t, 3> offset{};  // texels added to where the point falls
  bool of_face = false;             // x and y are shares of a cube map's face, whatever the sampler says
};

// At a level of detail; the sampler's clamps are applied to it, and its bias if `biased`.
Texel sample(const Texture& texture, const TexturePoint& at, float level, bool biased);
// Faces of a cube map are chosen by the direction (x, y, z).
Texel sample_cube(const Texture& texture, const TexturePoint& at, float level, bool biased);
// The level follows from how the coordinates change in x and y from one pixel to the next.
float level_of_gradient(const Texture& texture, const std::array<float, 3>& dx, const std::array<float, 3>& dy);
// One texel of a level by its whole coordinates.
Texel fetch(const Texture& texture, const std::array<int64_t, 3>& at, uint32_t layer, int level);
// Channel `channel` of the four texels a filter would blend, in the order (0,1) (1,1) (1,0) (0,0).
Texel gather(const Texture& texture, const TexturePoint& at, int channel, bool cube);

}  // namespace warpbeam::vm
