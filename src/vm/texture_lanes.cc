#include "vm/texture_lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "isa/arith/convert.h"
#include "isa/library/lanes.h"
#include "vm/code.h"
#include "vm/images.h"
#include "vm/memory.h"
#include "vm/texture.h"
#include "vm/warp.h"

namespace warpbeam::vm {
namespace {

using isa::Geometry;
using isa::Type;

#define WB_LANES for (int l = 0; l < kWarpSize; ++l)
#define WB_INLINE [[gnu::always_inline]] inline

// All lanes in one vector, for what answers with a number: pieces of what was just stored, at places of their own, are waited for.
using All __attribute__((ext_vector_type(kWarpSize))) = int32_t;
WB_INLINE void take_all(const void* lanes, All& all) { std::memcpy(&all, lanes, sizeof all); }
WB_INLINE void put_all(const All& all, void* lanes) { std::memcpy(lanes, &all, sizeof all); }
WB_INLINE bool any_below_zero(const All& all) { return __builtin_reduce_or(all & INT32_MIN) != 0; }

// Whether lane l has the number at[0] + l * step.
WB_INLINE bool in_a_row(const int32_t* at, int32_t step) {
  All all, lane;
  take_all(at, all);
  WB_LANES lane[l] = l;
  return __builtin_reduce_or(all ^ (lane * step + at[0])) == 0;
}

struct Lanes {
  alignas(64) int32_t at[kWarpSize];
};

// Texels of one axis that lanes read, and the share of 256 that the second one has.
struct Line {
  Lanes first, second, fraction;
};

WB_INLINE int32_t place(int32_t i, int32_t n, AddressMode mode) {
  switch (mode) {
    case AddressMode::Wrap: return static_cast<int32_t>(i - n * std::floor(static_cast<double>(i) / n));
    case AddressMode::Mirror: {
      const int32_t m = static_cast<int32_t>(i - 2.0 * n * std::floor(static_cast<double>(i) / (2.0 * n)));
      return m < n ? m : 2 * n - 1 - m;
    }
    default: return i < 0 || i >= n ? -1 : i;  // of the border
  }
}

// Subnormal coordinates count as zero, and so does NaN.
WB_INLINE float tame(float x) { return std::fabs(x) >= 0x1p-126f ? x : 0; }

// As axis_of of texture.cc.
template <bool kLinear>
WB_INLINE void find_line(const float* x, int32_t n, AddressMode mode, bool normalized, Line& out) {
  if (!normalized && (mode == AddressMode::Wrap || mode == AddressMode::Mirror)) mode = AddressMode::Clamp;
  Lanes fixed;
  if (normalized) {
    constexpr int kBits = 21;  // of the coordinate's fraction
    const int64_t half = kLinear ? 1 << 12 : 0;
    const int down = kLinear ? 13 : kBits;
    WB_LANES fixed.at[l] =
        static_cast<int32_t>((static_cast<int64_t>(static_cast<int32_t>(std::floor(tame(x[l]) * 0x1p21f))) * n + half) >> down);
  } else if (kLinear) {
    WB_LANES {
      const float y = tame(x[l]) * 256, whole = std::floor(y);
      fixed.at[l] = static_cast<int32_t>(whole) + (y - whole >= 0.5f);
    }
  } else {
    WB_LANES fixed.at[l] = static_cast<int32_t>(std::floor(tame(x[l])));
  }
  const auto places = [&](AddressMode m) __attribute__((always_inline)) {
    if constexpr (kLinear) {
      WB_LANES {
        const int32_t f = fixed.at[l] - 128;
        out.first.at[l] = place(f >> 8, n, m);
        out.second.at[l] = place((f >> 8) + 1, n, m);
        out.fraction.at[l] = f & 255;
      }
    } else {
      WB_LANES out.first.at[l] = place(fixed.at[l], n, m);
    }
  };
  switch (mode) {
    case AddressMode::Wrap: return places(AddressMode::Wrap);
    case AddressMode::Mirror: return places(AddressMode::Mirror);
    case AddressMode::Border: return places(AddressMode::Border);
    case AddressMode::Clamp: break;
  }
  All f;
  take_all(fixed.at, f);
  const All last = n - 1;
  if constexpr (kLinear) {
    f = __builtin_elementwise_min(__builtin_elementwise_max(f - 128, All(0)), last * 256);
    put_all(f >> 8, out.first.at);
    put_all(__builtin_elementwise_min((f >> 8) + 1, last), out.second.at);
    put_all(f & 255, out.fraction.at);
  } else {
    put_all(__builtin_elementwise_min(__builtin_elementwise_max(f, All(0)), last), out.first.at);
  }
}

// Word `word` of the texels at these bytes from `base`. A function of its own, so that what lies side by side costs none of it.
[[gnu::noinline]] void load_apart(const std::byte* base, const int32_t* offsets, uint32_t bytes, uint32_t word, int32_t* out) {
  if (bytes >= 4) {
    WB_LANES std::memcpy(&out[l], base + offsets[l] + word * 4, 4);
  } else if (bytes == 2) {
    WB_LANES {
      uint16_t v;
      std::memcpy(&v, base + offsets[l], 2);
      out[l] = v;
    }
  } else {
    WB_LANES out[l] = static_cast<uint8_t>(base[offsets[l]]);
  }
}
WB_INLINE void load_words(const std::byte* base, const int32_t* offsets, uint32_t bytes, uint32_t word, int32_t* out) {
  if (bytes == 4 && in_a_row(offsets, 4)) std::memcpy(out, base + offsets[0], kWarpSize * sizeof *out);
  else load_apart(base, offsets, bytes, word, out);
}

// Channels as they are stored: sign- or zero-extended; floats of 16 bits as f32.
WB_INLINE void channel_of(const TexelFormat& f, uint32_t channel, const std::byte* base, const int32_t* offsets, int32_t* out) {
  const uint32_t bits = f.bits, at = channel * bits;
  load_words(base, offsets, f.bytes(), at / 32, out);
  if (bits == 32) return;
  const bool with_sign = f.kind == TexelKind::Signed || f.kind == TexelKind::SignedNormal;
  const uint32_t up = 32 - bits - at % 32;
  if (f.kind == TexelKind::Float) {
    WB_LANES out[l] = std::bit_cast<int32_t>(isa::f16_to_f32(static_cast<uint16_t>(static_cast<uint32_t>(out[l]) >> at % 32)));
  } else if (with_sign) {
    WB_LANES out[l] = static_cast<int32_t>(static_cast<uint32_t>(out[l]) << up) >> (32 - bits);
  } else {
    WB_LANES out[l] = static_cast<int32_t>((static_cast<uint32_t>(out[l]) << up) >> (32 - bits));
  }
}

WB_INLINE bool is_signed(TexelKind kind) { return kind == TexelKind::Signed || kind == TexelKind::SignedNormal; }
WB_INLINE bool gives_fractions(const Texture& t) {
  const TexelKind kind = t.image.format.kind;
  return kind == TexelKind::UnsignedNormal || kind == TexelKind::SignedNormal ||
         (kind != TexelKind::Float && t.sampler.normalized_read && t.image.format.bits <= 16);
}

// What a lone texel becomes, as finish() of texture.cc.
WB_INLINE void finish(const Texture& t, const int32_t* in, uint32_t* out) {
  const TexelFormat& f = t.image.format;
  if (!gives_fractions(t)) {
    std::memcpy(out, in, kWarpSize * sizeof *out);
    return;
  }
  const double most = is_signed(f.kind) ? (1 << (f.bits - 1)) - 1 : (1 << f.bits) - 1;
  WB_LANES {
    const double v = in[l] / most;
    out[l] = std::bit_cast<uint32_t>(static_cast<float>(v < -1.0 ? -1.0 : v));
  }
}

// As blend_floats of texture.cc, of one group; false: an infinity or a NaN, or very small numbers.
WB_INLINE bool blend_floats(const int32_t (&texel)[4][kWarpSize], const int32_t (&weight)[4][kWarpSize], uint32_t mask, uint32_t* out) {
  Lanes top;
  int32_t bad = 0;
  WB_LANES top.at[l] = 0;
  for (int k = 0; k < 4; ++k) WB_LANES {
      const int32_t field = weight[k][l] ? texel[k][l] >> 23 & 255 : 0;
      top.at[l] = top.at[l] > field ? top.at[l] : field;
    }
  // Zeros have the field 0, as subnormal numbers, which are left to others.
  WB_LANES {
    int32_t bits = 0;
    for (int k = 0; k < 4; ++k) bits |= weight[k][l] ? texel[k][l] & 0x7fffffff : 0;
    const bool unusual = top.at[l] > 200 || (top.at[l] < 60 && bits != 0);
    bad |= (mask >> l & 1) && unusual;
  }
  if (bad) return false;
  WB_LANES {
    const int32_t exponent = top.at[l] < 60 ? 60 : top.at[l];
    const float up = std::bit_cast<float>((254 + 27 - exponent) << 23);  // 2^(27 - top)
    double sum = 0;
    for (int k = 0; k < 4; ++k)
      sum += static_cast<double>(static_cast<int32_t>((weight[k][l] ? std::bit_cast<float>(texel[k][l]) : 0.0f) * up)) * weight[k][l];
    // To 24 bits, to nearest, ties away from zero; nothing is below 2^-8 of what texels keep.
    const uint64_t bits = (std::bit_cast<uint64_t>(sum) + (uint64_t{1} << 28)) & ~((uint64_t{1} << 29) - 1);
    const double down = std::bit_cast<double>(static_cast<uint64_t>(1023 - 127 + exponent - 27 - 8) << 52);
    out[l] = sum == 0 ? 0 : std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits) * down));
  }
  return true;
}

// As blend_fixed.
WB_INLINE void blend_fixed(const TexelFormat& f, const int32_t (&texel)[4][kWarpSize], const int32_t (&weight)[4][kWarpSize],
                           uint32_t* out) {
  if (is_signed(f.kind) && f.bits == 8) {
    WB_LANES {
      int32_t sum = 0, taps = 0;
      for (int k = 0; k < 4; ++k) {
        const int32_t v = texel[k][l] < -127 ? -127 : texel[k][l];
        sum += weight[k][l] * v;
        taps += weight[k][l] != 0;
      }
      // A lone texel is widened instead.
      const int32_t lone = sum / 256, widened = lone >= 0 ? lone * 258 + (lone >> 6) : lone * 258 - ((-lone - 1) >> 6);
      const double rounded = taps > 1 ? std::floor(static_cast<double>(sum) * 32767 / (127 * 256) + 0.5) : widened;
      out[l] = std::bit_cast<uint32_t>(static_cast<float>(rounded / 32767.0));
    }
    return;
  }
  const bool with_sign = is_signed(f.kind);
  const int32_t times = f.bits == 8 ? 257 : 1;
  const double most = with_sign ? 32767.0 : 65535.0;
  WB_LANES {
    int32_t sum = 128;
    for (int k = 0; k < 4; ++k) {
      const int32_t v = with_sign && texel[k][l] < -32767 ? -32767 : texel[k][l];
      sum += weight[k][l] * v * times;
    }
    out[l] = std::bit_cast<uint32_t>(static_cast<float>((sum >> 8) / most));
  }
}

struct Request {
  const Texture& texture;
  bool whole;  // coordinates
  uint32_t mask;
  const uint32_t* coordinates;
  uint32_t* results;
};

// Bytes from the image's begin on.
WB_INLINE void offsets_of(const Lanes& column, const Lanes& row, Lanes& out) { WB_LANES out.at[l] = row.at[l] + column.at[l]; }
// The same for texels of a line that are `step` bytes apart; whether one lies outside of it.
WB_INLINE bool scale(const Lanes& texels, uint64_t step, Lanes& out) {
  All all;
  take_all(texels.at, all);
  put_all(all * static_cast<int32_t>(step), out.at);
  return any_below_zero(all);
}

WB_FOR_EACH_VECTOR_WIDTH bool fetch(const Request& r) {
  const Image& image = r.texture.image;
  const ImageLevel& level = image.levels[0];
  const int32_t* x = reinterpret_cast<const int32_t*>(r.coordinates);
  Lanes across, down;
  WB_LANES across.at[l] = static_cast<uint32_t>(x[l]) < level.width ? x[l] : -1;
  if (image.dimensions == 2) {
    WB_LANES down.at[l] = static_cast<uint32_t>(x[kWarpSize + l]) < level.height ? x[kWarpSize + l] : -1;
  } else {
    WB_LANES down.at[l] = 0;
  }
  Lanes at, outside, channel;
  int32_t any = 0;
  WB_LANES {
    const int32_t out_of_it = (across.at[l] | down.at[l]) >> 31;
    outside.at[l] = out_of_it;
    any |= out_of_it;
    at.at[l] = (down.at[l] * static_cast<int32_t>(level.pitch) + across.at[l] * static_cast<int32_t>(image.format.bytes())) & ~out_of_it;
  }
  for (uint32_t c = 0; c < image.format.channels; ++c) {
    uint32_t* out = r.results + c * kWarpSize;
    channel_of(image.format, c, level.base, at.at, channel.at);
    finish(r.texture, channel.at, out);
    if (any) WB_LANES out[l] &= ~static_cast<uint32_t>(outside.at[l]);
  }
  return true;
}

// Coordinates that are texels, of which the nearest within the line is read: what is far away and a NaN need no other way.
WB_INLINE All nearest(const float* x, int32_t n) {
  using Floats __attribute__((ext_vector_type(kWarpSize))) = float;
  Floats at;
  std::memcpy(&at, x, sizeof at);
  const Floats last = static_cast<float>(n - 1);
  at = at > 0 ? at : 0;
  at = at < last ? at : last;
  return __builtin_convertvector(at, All);
}

// Texels that are words, as nearest() finds them. A warp's lanes mostly read a row of them, which is not moved.
WB_INLINE const uint32_t* sample_words(const Request& r, const ImageLevel& level, bool two) {
  const float* x = reinterpret_cast<const float*>(r.coordinates);
  const All column = nearest(x, static_cast<int32_t>(level.width));
  const All row = two ? nearest(x + kWarpSize, static_cast<int32_t>(level.height)) : All(0);
  All lane;
  WB_LANES lane[l] = l;
  if (__builtin_reduce_or((column ^ (lane + column[0])) | (row ^ row[0])) == 0)
    return reinterpret_cast<const uint32_t*>(level.base + static_cast<int64_t>(row[0]) * static_cast<int64_t>(level.pitch)) + column[0];
  Lanes at;
  put_all(row * static_cast<int32_t>(level.pitch) + column * 4, at.at);
  load_apart(level.base, at.at, 4, 0, reinterpret_cast<int32_t*>(r.results));
  return r.results;
}

WB_FOR_EACH_VECTOR_WIDTH LaneTexels sample(const Request& r) {
  const Texture& t = r.texture;
  const ImageLevel& level = t.image.levels[0];
  const Sampler& s = t.sampler;
  const LaneTexels all{r.results, t.image.format.channels};
  const float* x = reinterpret_cast<const float*>(r.coordinates);
  const bool two = t.image.dimensions == 2;
  const bool bordered = s.address[0] == AddressMode::Border || (two && s.address[1] == AddressMode::Border);
  if (!s.linear && !s.normalized_coordinates && !bordered && t.image.format.bits == 32 && t.image.format.channels == 1)
    return {sample_words(r, level, two), 1};
  // So that texels times 256 have room in 32 bits.
  const float most = s.normalized_coordinates ? 0x1p21f / static_cast<float>(std::max({level.width, level.height, 8192u})) : 0x1p20f;
  const auto limit = std::bit_cast<int32_t>(most);
  All beyond = 0, bits;
  for (int k = 0; k < (two ? 2 : 1); ++k) take_all(x + k * kWarpSize, bits), beyond |= limit - (bits & 0x7fffffff);
  static constexpr float kZeros[kWarpSize] = {};
  alignas(64) float tamed[2][kWarpSize];
  const float *across_at = x, *down_at = two ? x + kWarpSize : kZeros;
  if (any_below_zero(beyond)) {  // a NaN, or far away; of lanes that take no part that is no matter
    for (int k = 0; k < (two ? 2 : 1); ++k) WB_LANES {
        const bool good = std::fabs(x[k * kWarpSize + l]) <= most;
        if (!good && (r.mask >> l & 1)) return {};
        tamed[k][l] = good ? x[k * kWarpSize + l] : 0;
      }
    across_at = tamed[0];
    if (two) down_at = tamed[1];
  }
  const uint32_t bytes = t.image.format.bytes();
  const auto width = static_cast<int32_t>(level.width), height = static_cast<int32_t>(level.height);
  Line across, down;
  if (!s.linear) {
    find_line<false>(across_at, width, s.address[0], s.normalized_coordinates, across);
    find_line<false>(down_at, height, s.address[1], s.normalized_coordinates, down);
    Lanes column, row, at, channel;
    if (scale(across.first, bytes, column) || scale(down.first, level.pitch, row)) return {};  // the border's colour
    offsets_of(column, row, at);
    for (uint32_t c = 0; c < t.image.format.channels; ++c) {
      uint32_t* out = r.results + c * kWarpSize;
      channel_of(t.image.format, c, level.base, at.at, channel.at);
      finish(t, channel.at, out);
    }
    return all;
  }
  find_line<true>(across_at, width, s.address[0], s.normalized_coordinates, across);
  find_line<true>(down_at, height, s.address[1], s.normalized_coordinates, down);
  // In the order in which add_taps of texture.cc rounds.
  alignas(64) int32_t weight[4][kWarpSize], texel[4][kWarpSize];
  WB_LANES {
    const int32_t right = across.fraction.at[l], left = 256 - right, f = down.fraction.at[l];
    const int32_t below_left = (left * f + 127) >> 8, below_right = (right * f + 128) >> 8;
    weight[0][l] = left - below_left;
    weight[1][l] = below_left;
    weight[2][l] = right - below_right;
    weight[3][l] = below_right;
  }
  Lanes column[2], row[2], at[4];
  if (scale(across.first, bytes, column[0]) || scale(across.second, bytes, column[1])) return {};
  if (scale(down.first, level.pitch, row[0]) || scale(down.second, level.pitch, row[1])) return {};
  for (int k = 0; k < 4; ++k) offsets_of(column[k >> 1], row[k & 1], at[k]);
  for (uint32_t c = 0; c < t.image.format.channels; ++c) {
    uint32_t* out = r.results + c * kWarpSize;
    for (int k = 0; k < 4; ++k) channel_of(t.image.format, c, level.base, at[k].at, texel[k]);
    if (gives_fractions(t)) blend_fixed(t.image.format, texel, weight, out);
    else if (!blend_floats(texel, weight, r.mask, out)) return {};
  }
  return all;
}

// Words of linear memory side by side are where they are. Null: it is something else.
WB_INLINE const uint32_t* find_row(const Image& image, const uint32_t* x) {
  const ImageLevel& level = image.levels[0];
  if (!image.buffer || image.format.bits != 32 || image.format.channels != 1 || image.end || image.dimensions != 1) return nullptr;
  if (x[0] > level.width || level.width - x[0] < kWarpSize || !in_a_row(reinterpret_cast<const int32_t*>(x), 1)) return nullptr;
  return reinterpret_cast<const uint32_t*>(level.base) + x[0];
}

}  // namespace

bool reads_lanes(const Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const auto n = std::bit_cast<ImageOperands>(i.imm);
  const Geometry g = i.mods().geometry;
  const bool plain = row.opcode == "tex" && i.type() != Type::F16x2 && (g == Geometry::D1 || g == Geometry::D2) && i.op[5] < 0;
  return plain && n.results == 4 && n.coordinates == (g == Geometry::D2 ? 2 : 1) && !n.offset && !n.values &&
         !(i.source->form.atype == Type::S32 && n.level);
}

LaneTexels read_lanes(Block& block, const Insn& i, uint64_t handle, uint32_t mask, const uint32_t* coordinates, uint32_t* results) {
  const DeviceMemory& memory = *block.launch->memory;
  const ImageView* view = memory.images.find(handle);
  if (!view || view->use != ImageUse::Texture || view->checked_epoch.load(std::memory_order_relaxed) != memory.epoch()) return {};
  const Texture& t = view->texture;
  const Image& image = t.image;
  const bool whole = i.source->form.atype == Type::S32;
  const uint32_t* row = whole ? find_row(image, coordinates) : nullptr;
  if (row) return {row, 1};
  const LaneTexels all{results, image.format.channels};
  const ImageLevel& level = image.levels[0];
  const int dimensions = i.mods().geometry == Geometry::D2 ? 2 : 1;
  if (image.dimensions != dimensions || image.layered || image.cube || image.level_count != 1 || image.end || t.sampler.srgb) return {};
  if (level.pitch * level.height > 0x7fffffff || uint64_t{level.width} * image.format.bytes() > 0x7fffffff || level.width > 1 << 28)
    return {};
  const Request r{t, whole, mask, coordinates, results};
  // The one-dimensional form of whole coordinates reads linear memory and nothing else, and others never do.
  if (r.whole) return (dimensions == 2 || image.buffer) && fetch(r) ? all : LaneTexels{};
  const bool linear_bits = t.sampler.linear && !gives_fractions(t) && (image.format.kind != TexelKind::Float || image.format.bits != 32);
  if (image.buffer || linear_bits || level.width > 1 << 20 || level.height > 1 << 20) return {};
  return sample(r);
}

}  // namespace warpbeam::vm
