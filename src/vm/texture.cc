#include "vm/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "isa/arith/convert.h"

namespace warpbeam::vm {
namespace {

constexpr uint32_t kNan = 0x7fffffff;
constexpr int kFractionBits = 8;
constexpr int64_t kOne = 1 << kFractionBits;
// Normalised coordinates are cut to this many fraction bits before they are multiplied with the extent.
constexpr int kNormalizedBits = 21;
constexpr double kLargest = 0x1p40;

// What sRGB codes stand for, times 16384: the unit's table keeps seven significant bits.
constexpr uint16_t kLinearOfSrgb[256] = {
    0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,    66,    72,    78,    85,    92,    99,
    107,   115,   123,   131,   140,   150,   159,   169,   180,   190,   201,   213,   224,   236,   250,   262,   276,   290,   304,
    318,   332,   348,   364,   380,   396,   412,   430,   448,   466,   484,   504,   524,   544,   564,   584,   604,   624,   648,
    672,   692,   716,   740,   764,   788,   816,   840,   864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,
    1184,  1216,  1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,  1712,  1752,  1792,  1832,
    1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,  2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,
    2752,  2816,  2864,  2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,  3664,  3712,  3776,
    3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,  4512,  4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,
    5152,  5216,  5280,  5376,  5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,  6496,  6592,
    6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,  7488,  7584,  7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,
    8448,  8512,  8640,  8768,  8832,  8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240, 10304,
    10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712, 11840, 11968, 12096, 12224, 12352, 12480, 12608,
    12736, 12864, 12992, 13120, 13248, 13376, 13504, 13632, 13760, 13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104,
    15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384};

// How the channels of a texel are blended and turned into the result.
enum class Reading : uint8_t { Bits, Float, Fixed };

Reading reading_of(const Texture& t) {
  switch (t.image.format.kind) {
    case TexelKind::Float: return Reading::Float;
    case TexelKind::UnsignedNormal:
    case TexelKind::SignedNormal: return Reading::Fixed;
    default: return t.sampler.normalized_read && t.image.format.bits <= 16 ? Reading::Fixed : Reading::Bits;
  }
}
bool is_signed(TexelKind kind) { return kind == TexelKind::Signed || kind == TexelKind::SignedNormal; }
bool uses_srgb(const Texture& t, int channel) {
  return t.sampler.srgb && channel < 3 && t.image.format.bits == 8 && !is_signed(t.image.format.kind) && reading_of(t) == Reading::Fixed;
}

// --- texels -------------------------------------------------------------------------------------------------------
using Channels = std::array<int32_t, 4>;  // as stored: sign- or zero-extended; floats as f32 bits

Channels read_texel(const TexelFormat& f, const std::byte* at) {
  Channels c{};
  for (int k = 0; k < f.channels; ++k) {
    if (f.bits == 8) {
      const auto byte = static_cast<uint8_t>(at[k]);
      c[k] = is_signed(f.kind) ? static_cast<int8_t>(byte) : byte;
    } else if (f.bits == 16) {
      uint16_t half;
      std::memcpy(&half, at + 2 * k, 2);
      if (f.kind == TexelKind::Float) c[k] = std::bit_cast<int32_t>(isa::f16_to_f32(half));
      else c[k] = is_signed(f.kind) ? static_cast<int16_t>(half) : half;
    } else {
      std::memcpy(&c[k], at + 4 * k, 4);
    }
  }
  return c;
}

// The border colour in the format of the image.
Channels border_texel(const Texture& t) {
  const TexelFormat& f = t.image.format;
  const Reading reading = reading_of(t);
  Channels c{};
  for (int k = 0; k < f.channels; ++k) {
    const float colour = t.sampler.border[k];
    if (reading == Reading::Fixed) {
      const double most = is_signed(f.kind) ? (1 << (f.bits - 1)) - 1 : (1 << f.bits) - 1;
      const double least = is_signed(f.kind) ? -1 : 0;
      const double v = std::isnan(colour) ? 0 : std::clamp(static_cast<double>(colour), least, 1.0);
      // Measured: four places behind the texel's own count, what is below them is cut off, and ties go towards zero.
      const double cut = std::trunc(v * (most + 1) * 16) / ((most + 1) * 16);
      c[k] = static_cast<int32_t>(std::copysign(std::ceil(std::abs(cut * most) - 0.5), v));
      if (uses_srgb(t, k)) c[k] = -1 - static_cast<int32_t>(std::floor(v * 65536 + 0.5));  // already linear
    } else if (f.kind == TexelKind::Float && f.bits == 16) {
      c[k] = std::bit_cast<int32_t>(isa::f16_to_f32(isa::f32_to_f16(colour, isa::Rounding::NearestEven)));
    } else {
      const uint32_t bits = std::bit_cast<uint32_t>(colour);
      if (f.bits == 8) c[k] = is_signed(f.kind) ? static_cast<int8_t>(bits) : static_cast<uint8_t>(bits);
      else if (f.bits == 16) c[k] = is_signed(f.kind) ? static_cast<int16_t>(bits) : static_cast<uint16_t>(bits);
      else c[k] = static_cast<int32_t>(bits);
    }
  }
  return c;
}

// --- blending -----------------------------------------------------------------------------------------------------
struct Tap {
  Channels texel;
  int weight;  // of 256
  int group;   // taps of one slice of a volume, or of one mipmap level, are added up together
};
struct Taps {
  std::array<Tap, 16> list;
  int count = 0;
  void add(const Channels& texel, int weight, int group) {
    if (weight) list[count++] = {texel, weight, group};
  }
};

// Precision of a blend of floats.
struct Precision {
  int kept;    // bits below the largest exponent that texels keep
  int result;  // fraction bits of the result
};
constexpr Precision kF32{27, 23}, kF16{14, 10}, kSrgb{7, 10};

// To nearest, ties away from zero, with the least exponent that f32 or f16 have.
float round_away(double v, int fraction_bits) {
  if (v == 0) return 0;
  const int last = std::max(std::ilogb(v), fraction_bits == 10 ? -14 : -126) - fraction_bits;
  return static_cast<float>(std::ldexp(std::round(std::ldexp(v, -last)), last));
}

// Floats are aligned to the largest of their group, cut off, and multiplied by their weights exactly; the groups are
// added with eight more bits, and the sum is rounded once.
uint32_t blend_floats(const Taps& taps, const std::array<float, 16>& values, Precision precision) {
  std::array<double, 4> sums{};
  std::array<int, 4> tops;
  constexpr int kNothing = -10000;
  tops.fill(kNothing);
  int top = kNothing;
  float infinite = 0;
  for (int k = 0; k < taps.count; ++k) {
    const float v = values[k];
    if (std::isnan(v)) return precision.result == 10 ? kNan & ~0x1fffu : kNan;
    if (std::isinf(v)) {
      if (infinite != 0 && infinite != v) return precision.result == 10 ? kNan & ~0x1fffu : kNan;
      infinite = v;
    } else if (v != 0) {
      int& group = tops[taps.list[k].group];
      group = std::max(group, std::ilogb(v));
      top = std::max(top, group);
    }
  }
  if (infinite != 0) return std::bit_cast<uint32_t>(infinite);
  if (top == kNothing) return 0;
  for (int k = 0; k < taps.count; ++k) {
    if (values[k] == 0) continue;
    const int last = tops[taps.list[k].group] - precision.kept;
    sums[taps.list[k].group] += std::ldexp(std::trunc(std::ldexp(double{values[k]}, -last)), last) * taps.list[k].weight / 256;
  }
  double sum = 0;
  const int last = top - precision.kept - 8;
  for (double s : sums) sum += std::ldexp(std::floor(std::ldexp(s, -last)), last);
  return std::bit_cast<uint32_t>(round_away(sum, precision.result));
}

// 8-bit channels are widened to 16 bits by repeating them; the blend is rounded to 16 bits and then divided.
int widen(int32_t v, bool is_signed, int bits) {
  if (!is_signed) return bits == 8 ? v * 257 : v;
  if (bits == 16) return std::max(v, -32767);
  v = std::max(v, -127);
  return v >= 0 ? v * 258 + (v >> 6) : v * 258 - ((-v - 1) >> 6);
}

uint32_t blend_fixed(const Texture& t, const Taps& taps, int channel) {
  const TexelFormat& f = t.image.format;
  const bool with_sign = is_signed(f.kind);
  int64_t sum = 0;
  double rounded;
  if (with_sign && f.bits == 8 && taps.count > 1) {
    for (int k = 0; k < taps.count; ++k) sum += int64_t(taps.list[k].weight) * std::max(taps.list[k].texel[channel], -127);
    rounded = std::floor(static_cast<double>(sum) * 32767 / (127 * 256) + 0.5);
  } else {
    for (int k = 0; k < taps.count; ++k) sum += int64_t(taps.list[k].weight) * widen(taps.list[k].texel[channel], with_sign, f.bits);
    rounded = static_cast<double>((sum + 128) >> 8);
  }
  return std::bit_cast<uint32_t>(static_cast<float>(rounded / (with_sign ? 32767.0 : 65535.0)));
}

float linear_of_srgb(int32_t code) {  // negative: a border colour, which is linear already
  return static_cast<float>(code < 0 ? (-1 - code) / 65536.0 : kLinearOfSrgb[code] / 16384.0);
}

// Whole numbers stay such: those of 32 bits lose the fraction, narrower ones are rounded to nearest, half up.
uint32_t blend_bits(const Texture& t, const Taps& taps, int channel) {
  const TexelFormat& f = t.image.format;
  int64_t sum = f.bits < 32 ? 128 : 0;
  for (int k = 0; k < taps.count; ++k) {
    const int32_t v = taps.list[k].texel[channel];
    sum += taps.list[k].weight * (is_signed(f.kind) ? int64_t{v} : int64_t{static_cast<uint32_t>(v)});
  }
  return static_cast<uint32_t>(sum >> 8);
}

uint32_t blend_channel(const Texture& t, const Taps& taps, int channel) {
  const bool srgb = uses_srgb(t, channel);
  if (reading_of(t) == Reading::Bits) return blend_bits(t, taps, channel);
  if (reading_of(t) == Reading::Fixed && !srgb) return blend_fixed(t, taps, channel);
  std::array<float, 16> values;
  for (int k = 0; k < taps.count; ++k) {
    const int32_t v = taps.list[k].texel[channel];
    values[k] = srgb ? linear_of_srgb(v) : std::bit_cast<float>(v);
  }
  return blend_floats(taps, values, srgb ? kSrgb : t.image.format.bits == 16 ? kF16 : kF32);
}

Texel finish(const Texture& t, const Channels& c) {  // one texel, unfiltered
  Texel out{};
  const TexelFormat& f = t.image.format;
  for (int k = 0; k < f.channels; ++k) {
    if (reading_of(t) != Reading::Fixed) {
      out[k] = static_cast<uint32_t>(c[k]);
    } else if (uses_srgb(t, k)) {
      out[k] = std::bit_cast<uint32_t>(linear_of_srgb(c[k]));
    } else {
      const double most = is_signed(f.kind) ? (1 << (f.bits - 1)) - 1 : (1 << f.bits) - 1;
      out[k] = std::bit_cast<uint32_t>(static_cast<float>(std::max(-1.0, c[k] / most)));
    }
  }
  return out;
}

Texel blend(const Texture& t, const Taps& taps) {
  Texel out{};
  for (int k = 0; k < t.image.format.channels; ++k) out[k] = blend_channel(t, taps, k);
  return out;
}

// --- coordinates --------------------------------------------------------------------------------------------------
// Subnormal coordinates count as zero, and so does NaN.
double tame(float x) {
  if (!(std::fabs(x) >= 0x1p-126f)) return 0;
  return std::clamp(static_cast<double>(x), -kLargest, kLargest);
}

// Texels times 256, rounded to nearest, half up. Half a texel is taken off when texels are blended.
int64_t fixed_coordinate(float x, uint32_t extent, bool normalized) {
  if (!normalized) return static_cast<int64_t>(std::floor(tame(x) * kOne + 0.5));
  const auto fraction = static_cast<int64_t>(std::floor(std::ldexp(tame(x), kNormalizedBits)));
  return (static_cast<__int128>(fraction) * extent + (1 << (kNormalizedBits - kFractionBits - 1))) >> (kNormalizedBits - kFractionBits);
}
int64_t whole_coordinate(float x, uint32_t extent, bool normalized) {
  if (!normalized) return static_cast<int64_t>(std::floor(tame(x)));
  const auto fraction = static_cast<int64_t>(std::floor(std::ldexp(tame(x), kNormalizedBits)));
  return static_cast<int64_t>((static_cast<__int128>(fraction) * extent) >> kNormalizedBits);
}

constexpr int64_t kOutside = -1;

int64_t place(int64_t i, uint32_t extent, AddressMode mode) {
  const int64_t n = extent;
  switch (mode) {
    case AddressMode::Wrap: return ((i % n) + n) % n;
    case AddressMode::Mirror: {
      const int64_t m = ((i % (2 * n)) + 2 * n) % (2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    case AddressMode::Border: return i < 0 || i >= n ? kOutside : i;
    case AddressMode::Clamp: break;
  }
  return std::clamp<int64_t>(i, 0, n - 1);
}

struct Axis {
  int64_t first = 0, second = 0;
  int fraction = 0;  // the weight of the second texel
};

// Only normalised coordinates can wrap or be mirrored.
AddressMode effective(AddressMode mode, bool normalized) {
  return !normalized && (mode == AddressMode::Wrap || mode == AddressMode::Mirror) ? AddressMode::Clamp : mode;
}

Axis axis_of(float x, int32_t offset, uint32_t extent, AddressMode mode, bool normalized, bool linear) {
  mode = effective(mode, normalized);
  if (!linear) {
    const int64_t i = place(whole_coordinate(x, extent, normalized) + offset, extent, mode);
    return {i, i, 0};
  }
  int64_t f = fixed_coordinate(x, extent, normalized) - kOne / 2 + offset * kOne;
  if (mode == AddressMode::Clamp) f = std::clamp<int64_t>(f, 0, (int64_t(extent) - 1) * kOne);
  const int64_t i = f >> kFractionBits;
  return {place(i, extent, mode), place(i + 1, extent, mode), static_cast<int>(f & (kOne - 1))};
}

Channels texel_at(const Texture& t, const ImageLevel& level, int64_t x, int64_t y, int64_t z) {
  if (x < 0 || y < 0 || z < 0) return border_texel(t);
  const std::byte* at = level.base + static_cast<uint64_t>(z) * level.plane + static_cast<uint64_t>(y) * level.pitch +
                        static_cast<uint64_t>(x) * t.image.format.bytes();
  if (t.image.end && at + t.image.format.bytes() > t.image.end) t.image.past_the_end->asks(at);
  if (t.image.touched) t.image.touched->push_back(at);
  return read_texel(t.image.format, at);
}

// Where a point falls in one level.
struct Footprint {
  Axis x, y, z;
};

Footprint footprint(const Texture& t, const ImageLevel& level, const TexturePoint& at) {
  const Sampler& s = t.sampler;
  const bool linear = s.linear, normalized = s.normalized_coordinates || at.of_face;
  Footprint f;
  f.x = axis_of(at.x, at.offset[0], level.width, s.address[0], normalized, linear);
  // An image of one dimension is one of two with a single row, and is sampled at y = 0, half a texel from the middle of
  // that row: with a border beside it, linear filtering mixes in half of its colour.
  if (t.image.dimensions >= 2 || !t.image.layered)
    f.y = axis_of(t.image.dimensions >= 2 ? at.y : 0.0f, at.offset[1], level.height, s.address[1], normalized, linear);
  if (t.image.dimensions >= 3) {
    f.z = axis_of(at.z, at.offset[2], level.depth, s.address[2], normalized, linear);
  } else if (t.image.layered || t.image.cube) {
    f.z.first = f.z.second = std::min<int64_t>(at.layer, int64_t(level.depth) - 1);
  }
  return f;
}

// `share` of 256 is spread over up to eight texels: first by z, then x, then y, each time rounding to a whole weight.
void add_taps(const Texture& t, const ImageLevel& level, const Footprint& f, int share, int group, Taps& taps) {
  for (int z = 0; z < 2; ++z) {
    const int high = (share * f.z.fraction + (group ? 128 : 127)) >> 8;
    const int of_z = z ? high : share - high;
    if (!of_z) continue;
    const int right = (of_z * f.x.fraction + 128) >> 8;
    for (int x = 0; x < 2; ++x) {
      const int of_x = x ? right : of_z - right;
      if (!of_x) continue;
      const int below = (of_x * f.y.fraction + (x ? 128 : 127)) >> 8;
      for (int y = 0; y < 2; ++y)
        if (const int weight = y ? below : of_x - below)
          taps.add(texel_at(t, level, x ? f.x.second : f.x.first, y ? f.y.second : f.y.first, z ? f.z.second : f.z.first), weight,
                   group + z);
    }
  }
}

// Levels of detail have 8 bits of fraction, cut off.
int fixed_level(float level) { return static_cast<int>(std::clamp(tame(level), -1e4, 1e4) * 256); }

// The largest component of the direction chooses the face of a cube map, z before y before x where they are equal.
TexturePoint on_face(const Texture& t, const TexturePoint& at) {
  const float ax = std::fabs(at.x), ay = std::fabs(at.y), az = std::fabs(at.z);
  TexturePoint p;
  p.of_face = true;
  float across, down, longest;
  uint32_t face;
  if (az >= ax && az >= ay) {
    face = std::signbit(at.z) ? 5 : 4;
    across = std::signbit(at.z) ? -at.x : at.x;
    down = -at.y;
    longest = az;
  } else if (ay >= ax) {
    face = std::signbit(at.y) ? 3 : 2;
    across = at.x;
    down = std::signbit(at.y) ? -at.z : at.z;
    longest = ay;
  } else {
    face = std::signbit(at.x) ? 1 : 0;
    across = std::signbit(at.x) ? at.z : -at.z;
    down = -at.y;
    longest = ax;
  }
  p.x = longest == 0 ? 0.5f : (across / longest + 1) / 2;
  p.y = longest == 0 ? 0.5f : (down / longest + 1) / 2;
  const uint32_t cubes = std::max(1u, t.image.levels[0].depth / 6);
  p.layer = std::min(at.layer, cubes - 1) * 6 + face;
  return p;
}

}  // namespace

Texel sample(const Texture& t, const TexturePoint& at, float level, bool biased) {
  if (t.image.buffer) return {};
  const Sampler& s = t.sampler;
  int first = 0, fraction = 0;
  if (t.image.level_count > 1) {
    const int most = (t.image.level_count - 1) << 8;
    int fixed = fixed_level(level) + (biased ? fixed_level(s.level_bias) : 0);
    fixed = std::max(std::min(fixed, fixed_level(s.max_level)), fixed_level(s.min_level));
    fixed = std::clamp(fixed, 0, most);
    first = s.linear_levels ? fixed >> 8 : (fixed + 128) >> 8;
    fraction = s.linear_levels ? fixed & 255 : 0;
  }
  const ImageLevel& base = t.image.levels[first];
  const Footprint f = footprint(t, base, at);
  if (!s.linear && !fraction) return finish(t, texel_at(t, base, f.x.first, f.y.first, f.z.first));
  Taps taps;
  add_taps(t, base, f, 256 - fraction, 0, taps);
  if (fraction) {
    const ImageLevel& next = t.image.levels[first + 1];
    add_taps(t, next, footprint(t, next, at), fraction, 2, taps);
  }
  return blend(t, taps);
}

Texel sample_cube(const Texture& t, const TexturePoint& at, float level, bool biased) { return sample(t, on_face(t, at), level, biased); }

// Outside there are zeros, whatever the sampler says.
Texel fetch(const Texture& t, const std::array<int64_t, 3>& at, uint32_t layer, int level) {
  if (level < 0 || level >= t.image.level_count) return {};
  const ImageLevel& l = t.image.levels[level];
  const std::array<int64_t, 3> extent{l.width, l.height, l.depth};
  for (int k = 0; k < t.image.dimensions; ++k)
    if (at[k] < 0 || at[k] >= extent[k]) return {};
  const bool slices = t.image.dimensions == 3, layers = t.image.layered || t.image.cube;
  const int64_t z = slices ? at[2] : layers ? std::min<int64_t>(layer, extent[2] - 1) : 0;
  return finish(t, texel_at(t, l, at[0], t.image.dimensions >= 2 ? at[1] : 0, z));
}

// Unlike a filter it repeats the texel at a clamped edge in its place.
Texel gather(const Texture& t, const TexturePoint& point, int channel, bool cube) {
  if (t.image.buffer) return {};
  const TexturePoint at = cube ? on_face(t, point) : point;
  const ImageLevel& level = t.image.levels[0];
  const Sampler& s = t.sampler;
  const bool normalized = s.normalized_coordinates || at.of_face;
  auto pair = [&](float x, int32_t offset, uint32_t extent, AddressMode mode) {
    const int64_t i = ((fixed_coordinate(x, extent, normalized) - kOne / 2) >> kFractionBits) + offset;
    mode = effective(mode, normalized);
    return std::array{place(i, extent, mode), place(i + 1, extent, mode)};
  };
  const auto x = pair(at.x, at.offset[0], level.width, s.address[0]), y = pair(at.y, at.offset[1], level.height, s.address[1]);
  const int64_t z = t.image.layered || t.image.cube ? std::min<int64_t>(at.layer, int64_t(level.depth) - 1) : 0;
  auto one = [&](int right, int below) { return finish(t, texel_at(t, level, x[right], y[below], z))[channel]; };
  return {one(0, 1), one(1, 1), one(1, 0), one(0, 0)};
}

float level_of_gradient(const Texture& t, const std::array<float, 3>& dx, const std::array<float, 3>& dy) {
  const ImageLevel& level = t.image.levels[0];
  const std::array<double, 3> extent{double(level.width), double(level.height), double(level.depth)};
  double along_x = 0, along_y = 0;
  for (int k = 0; k < t.image.dimensions; ++k) {
    along_x += std::pow(dx[k] * extent[k], 2);
    along_y += std::pow(dy[k] * extent[k], 2);
  }
  const double longest = std::max(along_x, along_y);
  return longest > 0 ? static_cast<float>(0.5 * std::log2(longest)) : -1e4f;
}

}  // namespace warpbeam::vm
