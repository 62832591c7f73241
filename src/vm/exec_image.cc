// Textures and surfaces: tex, tld4, txq, istypep, suld, sust, sured, suq.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "isa/arith/convert.h"
#include "vm/access.h"
#include "vm/exec_lane.h"
#include "vm/images.h"
#include "vm/memory.h"
#include "vm/texture_lanes.h"

namespace warpbeam::vm {
namespace {

using isa::Boundary;
using isa::Detail;
using isa::Geometry;
using isa::Op;
using isa::Type;

ImageOperands operands_of(const Insn& i) { return std::bit_cast<ImageOperands>(i.imm); }

// The image behind a handle, for one lane after another: most have the same.
class Images final : PastTheEnd {
 public:
  Images(Warp& w, const Insn& i, ImageUse use) : w_(w), i_(i), use_(use), handles_(w.lanes<uint64_t>(i.op[1])) {}

  const ImageView& of(int lane) {
    if (view_ && handles_[lane] == handle_) return *view_;
    handle_ = handles_[lane];
    view_ = nullptr;
    uint64_t end = 0;
    DeviceMemory& memory = *w_.block->launch->memory;
    const ImageView* view = memory.images.find(handle_);
    const char* what = use_ == ImageUse::Texture ? "texture" : "surface";
    if (!view && memory.images.knows(handle_))
      fail(lane, fmt::format("fetch from a {} reference that is not bound", what), "the host must bind it before the kernel is launched");
    if (!view)
      fail(lane, fmt::format("{:#x} is not a {}", handle_, what),
           handle_ ? "the object was never created on this device, or has been destroyed" : "the handle is zero");
    if (view->use != use_)
      fail(lane, fmt::format("{:#x} is not a {}", handle_, what), use_ == ImageUse::Texture ? "it is a surface" : "it is a texture");
    const uint64_t epoch = memory.epoch();
    if (view->bytes && view->checked_epoch.load(std::memory_order_relaxed) != epoch) {
      uint64_t lo, hi;
      if (memory.covers(view->begin, view->bytes, &lo, &hi)) {
        view->checked_epoch.store(epoch, std::memory_order_relaxed);
      } else if (memory.covers(view->begin, 1, &lo, &hi)) {
        end = hi;  // what is there may be read
      } else {
        if (w_.block->observer) w_.block->observer->image_accessed(w_, i_, lane, view->begin, 1, AccessKind::Read, nullptr);
        fail(lane, fmt::format("the memory of this {} is gone", what),
             "its array or its memory was freed, or lies on a device without peer access");
      }
    }
    view_ = view;
    end_ = end;
    return *view;
  }

  // The texture, to be read for one lane; `tell` says afterwards what was.
  const Texture& texture(int lane) {
    const ImageView* before = view_;
    const ImageView& view = of(lane);
    lane_ = lane;
    if (!w_.block->observer && !end_) return view.texture;
    if (&view != before) {
      watched_ = view.texture;
      if (w_.block->observer) watched_.image.touched = &touched_;
      watched_.image.end = reinterpret_cast<const std::byte*>(end_);
      watched_.image.past_the_end = this;
    }
    return watched_;
  }
  // Says that a warp reads: textures of its lanes that differ have texels of one size.
  void begin(uint32_t mask) {
    if (w_.block->observer && mask) w_.block->observer->texture_read(w_, i_, mask, texture(std::countr_zero(mask)).image.format.bytes());
  }
  void tell(int lane) {
    if (touched_.empty()) return;
    for (const std::byte* at : touched_)
      w_.block->observer->image_accessed(w_, i_, lane, reinterpret_cast<uint64_t>(at), watched_.image.format.bytes(), AccessKind::Read,
                                         nullptr);
    touched_.clear();
  }

 private:
  void asks(const std::byte* texel) override {
    const auto address = reinterpret_cast<uint64_t>(texel);
    const uint32_t bytes = view_->texture.image.format.bytes();
    const DeviceMemory& memory = *w_.block->launch->memory;
    uint64_t lo, hi;
    if (memory.covers(address, bytes, &lo, &hi)) return;  // the next allocation's
    if (w_.block->observer) w_.block->observer->image_accessed(w_, i_, lane_, address, bytes, AccessKind::Read, nullptr);
    if (reads_outside(w_, i_, lane_, address, bytes)) return;
    w_.trap(TrapKind::IllegalAddress, i_, lane_, fmt::format("invalid texture read of size {} bytes", bytes), address,
            fmt::format("{}\nthe texture was made for {} bytes from {:#x} on", whose_address(memory, address), view_->bytes, view_->begin));
  }
  [[noreturn]] void fail(int lane, std::string message, std::string detail) {
    w_.trap(TrapKind::IllegalAddress, i_, lane, std::move(message), handle_, std::move(detail));
  }
  Warp& w_;
  const Insn& i_;
  ImageUse use_;
  const uint64_t* handles_;
  uint64_t handle_ = 0;
  const ImageView* view_ = nullptr;
  uint64_t end_ = 0;  // of its memory, where that is shorter than the texture; else 0
  int lane_ = 0;
  Texture watched_;
  std::vector<const std::byte*> touched_;
};

template <class F>
void each_lane(uint32_t mask, F f) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) f(__builtin_ctz(rest));
}

bool is_layered(Geometry g) { return g == Geometry::A1 || g == Geometry::A2 || g == Geometry::ACube; }
bool is_cube(Geometry g) { return g == Geometry::Cube || g == Geometry::ACube; }

// --- textures -----------------------------------------------------------------------------------------------------
struct Sampling {
  const int32_t *results, *coordinates, *level, *gradient, *offset;
  ImageOperands counts;
};
Sampling layout(const Insn& i) {
  Sampling s;
  s.counts = operands_of(i);
  s.results = i.list;
  s.coordinates = s.results + s.counts.results;
  s.level = s.coordinates + s.counts.coordinates;
  s.gradient = s.level + s.counts.level;
  s.offset = s.gradient + 2 * s.counts.gradient;
  return s;
}

void write_texel(Warp& w, const Insn& i, const Sampling& s, int lane, const Texel& texel) {
  if (i.type() == Type::F16x2) {
    for (int k = 0; k < s.counts.results; ++k) {
      auto half = [&](int c) { return isa::f32_to_f16(std::bit_cast<float>(texel[c]), isa::Rounding::NearestEven); };
      w.lanes<uint32_t>(s.results[k])[lane] = uint32_t(half(2 * k)) | uint32_t(half(2 * k + 1)) << 16;
    }
    return;
  }
  for (int k = 0; k < s.counts.results; ++k) w.lanes<uint32_t>(s.results[k])[lane] = texel[k];
}

TexturePoint point_of(Warp& w, const Sampling& s, Geometry g, int lane) {
  TexturePoint p;
  int at = 0;
  if (is_layered(g)) p.layer = w.lanes<uint32_t>(s.coordinates[at++])[lane];
  float* const axes[3] = {&p.x, &p.y, &p.z};
  for (int k = 0; at < s.counts.coordinates; ++k) *axes[k] = w.lanes<float>(s.coordinates[at++])[lane];
  for (int k = 0; k < s.counts.offset; ++k) p.offset[k] = w.lanes<int32_t>(s.offset[k])[lane];
  return p;
}

void set_resident(Warp& w, const Insn& i, uint32_t mask) {  // every texel is
  if (i.op[5] >= 0) w.pred(i.op[5]) |= mask;
}

// All lanes at once, where the texture is one for which that is possible.
bool read_together(Warp& w, const Insn& i, const Sampling& s, uint32_t mask) {
  if (w.block->observer || !reads_lanes(i)) return false;
  const uint64_t* handles = w.lanes<uint64_t>(i.op[1]);
  const int any = std::countr_zero(mask);
  for (int l = 0; l < kWarpSize; ++l)
    if ((mask >> l & 1) && handles[l] != handles[any]) return false;
  alignas(64) uint32_t coordinates[2 * kWarpSize], results[4 * kWarpSize];
  for (int k = 0; k < s.counts.coordinates; ++k)
    std::memcpy(coordinates + k * kWarpSize, w.lanes<uint32_t>(s.coordinates[k]), kWarpSize * sizeof *coordinates);
  const LaneTexels texels = read_lanes(*w.block, i, handles[any], mask, coordinates, results);
  if (!texels.first) return false;
  static constexpr uint32_t kZeros[kWarpSize] = {};
  for (size_t k = 0; k < static_cast<size_t>(s.counts.results); ++k)
    store_lanes(w.lanes<uint32_t>(s.results[k]), k < texels.channels ? texels.first + k * kWarpSize : kZeros, mask);
  return true;
}

void sample_lanes(Warp& w, const Insn& i, uint32_t mask) {
  const Sampling s = layout(i);
  const Geometry g = i.mods().geometry;
  const Detail detail = i.mods().detail;
  if (mask && read_together(w, i, s, mask)) return;
  Images images(w, i, ImageUse::Texture);
  images.begin(mask);
  each_lane(mask, [&](int lane) {
    const Texture& t = images.texture(lane);
    const TexturePoint p = point_of(w, s, g, lane);
    float level = 0;
    if (detail == Detail::Level) {
      level = w.lanes<float>(s.level[0])[lane];
    } else if (detail == Detail::Grad) {
      std::array<float, 3> dx{}, dy{};
      for (int k = 0; k < s.counts.gradient; ++k) {
        dx[k] = w.lanes<float>(s.gradient[k])[lane];
        dy[k] = w.lanes<float>(s.gradient[s.counts.gradient + k])[lane];
      }
      level = level_of_gradient(t, dx, dy);
    }
    const bool biased = detail == Detail::Level || detail == Detail::Grad;
    write_texel(w, i, s, lane, is_cube(g) ? sample_cube(t, p, level, biased) : sample(t, p, level, biased));
    images.tell(lane);
  });
  set_resident(w, i, mask);
}

// Whole coordinates name a texel.
void fetch_lanes(Warp& w, const Insn& i, uint32_t mask) {
  const Sampling s = layout(i);
  const Geometry g = i.mods().geometry;
  if (mask && read_together(w, i, s, mask)) return;
  Images images(w, i, ImageUse::Texture);
  images.begin(mask);
  each_lane(mask, [&](int lane) {
    const Texture& t = images.texture(lane);
    int at = 0;
    uint32_t layer = 0;
    if (is_layered(g)) layer = w.lanes<uint32_t>(s.coordinates[at++])[lane];
    std::array<int64_t, 3> p{};
    for (int k = 0; at < s.counts.coordinates; ++k) p[k] = w.lanes<int32_t>(s.coordinates[at++])[lane];
    for (int k = 0; k < s.counts.offset; ++k) p[k] += w.lanes<int32_t>(s.offset[k])[lane];
    const int level = s.counts.level ? w.lanes<int32_t>(s.level[0])[lane] : 0;
    // The one-dimensional form reads linear memory and nothing else.
    write_texel(w, i, s, lane, g == Geometry::D1 && !t.image.buffer ? Texel{} : fetch(t, p, layer, level));
    images.tell(lane);
  });
  set_resident(w, i, mask);
}

void gather_lanes(Warp& w, const Insn& i, uint32_t mask) {
  const Sampling s = layout(i);
  Images images(w, i, ImageUse::Texture);
  images.begin(mask);
  each_lane(mask, [&](int lane) {
    write_texel(w, i, s, lane,
                gather(images.texture(lane), point_of(w, s, i.mods().geometry, lane), i.mods().lane_sel, is_cube(i.mods().geometry)));
    images.tell(lane);
  });
  set_resident(w, i, mask);
}

// --- queries ------------------------------------------------------------------------------------------------------
// The numbers of the PTX manual for channel types and orders.
uint32_t channel_type(const TexelFormat& f) {
  const uint32_t size = f.bits == 8 ? 0 : f.bits == 16 ? 1 : 2;
  switch (f.kind) {
    case TexelKind::SignedNormal: return 0x10d0 + size;
    case TexelKind::UnsignedNormal: return 0x10d2 + size;
    case TexelKind::Signed: return 0x10d7 + size;
    case TexelKind::Unsigned: return 0x10da + size;
    case TexelKind::Float: break;
  }
  return f.bits == 16 ? 0x10dd : 0x10de;
}
uint32_t channel_order(const TexelFormat& f) { return f.channels == 1 ? 0x10b0 : f.channels == 2 ? 0x10b2 : 0x10b5; }

uint32_t answer(const Texture& t, uint8_t query, int level) {
  const Image& image = t.image;
  const ImageLevel& l = image.levels[std::clamp(level, 0, image.level_count - 1)];
  switch (query) {
    case 0: return l.width;
    case 1: return image.dimensions >= 2 ? l.height : 0;
    case 2: return image.dimensions == 3 ? l.depth : 0;
    case 3: return channel_type(image.format);
    case 4: return channel_order(image.format);
    case 5: return t.sampler.normalized_coordinates;
    case 6: return image.layered ? l.depth / (image.cube ? 6 : 1) : 0;
    case 7: return image.level_count;
    case 8: return 1;
    case 10: return t.sampler.linear;
    case 11:
    case 12:
    case 13: return static_cast<uint32_t>(t.sampler.address[query - 11]);
    case 14: return !t.sampler.normalized_coordinates;
    default: return 0;
  }
}

void query_lanes(Warp& w, const Insn& i, uint32_t mask) {
  const Sampling s = layout(i);
  Images images(w, i, i.source->form.row->opcode == "txq" ? ImageUse::Texture : ImageUse::Surface);
  each_lane(mask, [&](int lane) {
    const int level = s.counts.level ? w.lanes<int32_t>(s.level[0])[lane] : 0;
    w.lanes<uint32_t>(s.results[0])[lane] = answer(images.of(lane).texture, i.mods().lane_sel, level);
  });
}

void type_lanes(Warp& w, const Insn& i, uint32_t mask) {
  const ImageTable& table = w.block->launch->memory->images;
  const uint64_t* handles = w.lanes<uint64_t>(i.op[1]);
  uint32_t yes = 0;
  each_lane(mask, [&](int lane) {
    const ImageView* view = table.find(handles[lane]);
    const uint8_t want = i.mods().lane_sel;
    if (view && want != 1 && (view->use == ImageUse::Surface) == (want == 2)) yes |= 1u << lane;
  });
  uint32_t& p = w.pred(i.list[0]);
  p = (p & ~mask) | yes;
}

// --- surfaces -----------------------------------------------------------------------------------------------------
// An instruction for another shape than the surface's reads zeros and writes nothing.
bool has_shape(const Image& image, Geometry g) {
  switch (g) {
    case Geometry::D1: return image.dimensions == 1 && !image.layered;
    case Geometry::D2: return image.dimensions == 2 && !image.layered && !image.cube;
    case Geometry::D3: return image.dimensions == 3;
    case Geometry::A1: return image.dimensions == 1 && image.layered;
    default: return image.dimensions == 2 && (image.layered || image.cube);
  }
}

// Where a surface access goes. The first coordinate counts bytes, or texels in the formatted forms.
class SurfaceAccess {
 public:
  SurfaceAccess(Warp& w, const Insn& i, const int32_t* coordinates, uint32_t bytes, bool formatted)
      : w_(w), i_(i), coordinates_(coordinates), count_(operands_of(i).coordinates), bytes_(bytes), formatted_(formatted) {}

  // Null: nothing is read or written, because of the shape or outside in the mode that ignores it.
  std::byte* at(const Image& image, int lane) const {
    const Geometry g = i_.mods().geometry;
    if (!has_shape(image, g)) return nullptr;
    const ImageLevel& l = image.levels[0];
    const uint32_t texel = image.format.bytes();
    std::array<int64_t, 3> p{};  // x, y, z or layer
    int from = 0;
    if (is_layered(g)) p[2] = w_.lanes<uint32_t>(coordinates_[from++])[lane];
    for (int k = 0; from < count_; ++k) p[k] = w_.lanes<int32_t>(coordinates_[from++])[lane];
    std::array<int64_t, 3> extent{int64_t(l.width) * texel, l.height, l.depth};
    if (formatted_) p[0] *= texel;
    const int64_t size = formatted_ ? texel : bytes_;
    if (i_.mods().boundary == Boundary::Clamp) {
      p[0] = std::clamp<int64_t>(p[0], 0, extent[0] - size);
      p[0] -= p[0] % size;
      for (int k = 1; k < 3; ++k) p[k] = std::clamp<int64_t>(p[k], 0, extent[k] - 1);
    }
    const bool outside = p[0] < 0 || p[0] + size > extent[0] || p[1] < 0 || p[1] >= extent[1] || p[2] < 0 || p[2] >= extent[2];
    if (outside && i_.mods().boundary == Boundary::Zero) return nullptr;
    if (outside)
      w_.trap(TrapKind::IllegalAddress, i_, lane, fmt::format("surface access at ({}, {}, {}) is outside", p[0], p[1], p[2]), 0,
              fmt::format("the surface has rows of {} bytes, {} rows and {} slices or layers; x counts bytes", extent[0], extent[1],
                          extent[2]));
    if (p[0] % size)
      w_.trap(TrapKind::MisalignedAddress, i_, lane, fmt::format("surface access of {} bytes at byte {} of a row", size, p[0]), 0,
              "the first coordinate of a surface counts bytes and must be a multiple of what is accessed");
    return l.base + p[2] * static_cast<int64_t>(l.plane) + p[1] * static_cast<int64_t>(l.pitch) + p[0];
  }

 private:
  Warp& w_;
  const Insn& i_;
  const int32_t* coordinates_;
  int count_;
  uint32_t bytes_;
  bool formatted_;
};

template <class T>
void put(Warp& w, int32_t slot, int lane, uint64_t value) {
  w.lanes<T>(slot)[lane] = static_cast<T>(value);
}

void put_any(Warp& w, int32_t slot, int width, int lane, uint64_t value) {
  if (width == 2) put<uint16_t>(w, slot, lane, value);
  else if (width == 4) put<uint32_t>(w, slot, lane, value);
  else put<uint64_t>(w, slot, lane, value);
}
uint64_t get_any(Warp& w, int32_t slot, int width, int lane) {
  return width == 2 ? w.lanes<uint16_t>(slot)[lane] : width == 4 ? w.lanes<uint32_t>(slot)[lane] : w.lanes<uint64_t>(slot)[lane];
}

void tell(Warp& w, const Insn& i, int lane, const std::byte* at, uint32_t bytes, AccessKind kind, const std::byte* stores = nullptr) {
  if (at && w.block->observer) w.block->observer->image_accessed(w, i, lane, reinterpret_cast<uint64_t>(at), bytes, kind, stores);
}

using Texel = std::array<std::byte, 32>;
WB_RACY void store(Warp& w, const Insn& i, int lane, std::byte* at, uint32_t bytes, const Texel& texel) {
  tell(w, i, lane, at, bytes, AccessKind::Write, texel.data());
  std::memcpy(at, texel.data(), bytes);
}

WB_RACY void surface_load(Warp& w, const Insn& i, uint32_t mask) {
  const ImageOperands n = operands_of(i);
  const auto element = static_cast<uint32_t>(isa::bytes_of(i.type()));
  const SurfaceAccess access(w, i, i.list + n.results, element * n.results, false);
  Images images(w, i, ImageUse::Surface);
  each_lane(mask, [&](int lane) {
    const std::byte* from = access.at(images.of(lane).texture.image, lane);
    tell(w, i, lane, from, element * n.results, AccessKind::Read);
    for (int k = 0; k < n.results; ++k) {
      uint64_t value = 0;
      if (from) std::memcpy(&value, from + element * static_cast<uint32_t>(k), element);
      put_any(w, i.list[k], i.width, lane, value);
    }
  });
}

WB_RACY void surface_store(Warp& w, const Insn& i, uint32_t mask) {
  const ImageOperands n = operands_of(i);
  const auto element = static_cast<uint32_t>(isa::bytes_of(i.type()));
  const SurfaceAccess access(w, i, i.list, element * n.values, false);
  Images images(w, i, ImageUse::Surface);
  each_lane(mask, [&](int lane) {
    std::byte* to = access.at(images.of(lane).texture.image, lane);
    if (!to) return;
    Texel texel;
    for (int k = 0; k < n.values; ++k) {
      const uint64_t value = get_any(w, i.list[n.coordinates + k], i.width, lane);
      std::memcpy(&texel[element * static_cast<uint32_t>(k)], &value, element);
    }
    store(w, i, lane, to, element * n.values, texel);
  });
  ++w.block->progress;
}

// One channel of a formatted store: floats are converted, whole numbers saturate.
uint32_t to_format(uint32_t bits, const TexelFormat& f) {
  const float v = std::bit_cast<float>(bits);
  switch (f.kind) {
    case TexelKind::Float: return f.bits == 16 ? isa::f32_to_f16(v, isa::Rounding::NearestEven) : bits;
    case TexelKind::UnsignedNormal:
      return static_cast<uint32_t>(std::floor(std::clamp(std::isnan(v) ? 0.0f : v, 0.0f, 1.0f) * ((1 << f.bits) - 1) + 0.5));
    case TexelKind::SignedNormal:
      return static_cast<uint32_t>(
          static_cast<int32_t>(std::floor(std::clamp(std::isnan(v) ? 0.0f : v, -1.0f, 1.0f) * ((1 << (f.bits - 1)) - 1) + 0.5)));
    case TexelKind::Unsigned: return f.bits == 32 ? bits : std::min<uint32_t>(bits, (1u << f.bits) - 1);
    case TexelKind::Signed: break;
  }
  if (f.bits == 32) return bits;
  const int32_t most = (1 << (f.bits - 1)) - 1;
  return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(bits), -most - 1, most));
}

WB_RACY void surface_store_formatted(Warp& w, const Insn& i, uint32_t mask) {
  const ImageOperands n = operands_of(i);
  const SurfaceAccess access(w, i, i.list, 0, true);
  Images images(w, i, ImageUse::Surface);
  each_lane(mask, [&](int lane) {
    const Image& image = images.of(lane).texture.image;
    std::byte* to = access.at(image, lane);
    if (!to) return;
    Texel texel{};
    for (uint32_t k = 0; k < n.values && k < image.format.channels; ++k) {
      const uint32_t value = to_format(static_cast<uint32_t>(get_any(w, i.list[n.coordinates + k], i.width, lane)), image.format);
      std::memcpy(&texel[image.format.bits / 8 * k], &value, image.format.bits / 8);
    }
    store(w, i, lane, to, std::min<uint32_t>(n.values, image.format.channels) * image.format.bits / 8, texel);
  });
  ++w.block->progress;
}

template <class T>
T combined(Op op, T a, T b) {
  switch (op) {
    case Op::Add: return static_cast<T>(a + b);
    case Op::Min: return std::min(a, b);
    case Op::Max: return std::max(a, b);
    case Op::And: return a & b;
    default: return a | b;
  }
}
template <class T>
void reduce(std::byte* at, Op op, uint64_t value) {
  std::atomic_ref<T> memory(*reinterpret_cast<T*>(at));
  T old = memory.load();
  while (!memory.compare_exchange_weak(old, combined(op, old, static_cast<T>(value)))) {}
}

void surface_reduce(Warp& w, const Insn& i, uint32_t mask) {
  const ImageOperands n = operands_of(i);
  const auto element = static_cast<uint32_t>(isa::bytes_of(i.type()));
  const bool formatted = i.source->form.row->syntax.starts_with("sured.p");
  const SurfaceAccess access(w, i, i.list, element, formatted);
  Images images(w, i, ImageUse::Surface);
  each_lane(mask, [&](int lane) {
    const Image& image = images.of(lane).texture.image;
    if (formatted && image.format.bytes() != element)
      w.trap(TrapKind::IllegalInstruction, i, lane, fmt::format("sured.p on texels of {} bytes", image.format.bytes()), 0,
             "they must have the size of the value");
    std::byte* at = access.at(image, lane);
    if (!at) return;
    tell(w, i, lane, at, element, AccessKind::Atomic);
    const uint64_t value = get_any(w, i.list[n.coordinates], i.width, lane);
    const bool with_sign = isa::is_signed(i.type()) || (formatted && image.format.kind == TexelKind::Signed);
    const Op op = i.mods().op != Op::None ? i.mods().op : i.mods().boolop == isa::BoolOp::And ? Op::And : Op::Or;
    if (element == 8) with_sign ? reduce<int64_t>(at, op, value) : reduce<uint64_t>(at, op, value);
    else with_sign ? reduce<int32_t>(at, op, value) : reduce<uint32_t>(at, op, value);
  });
  ++w.block->progress;
}

}  // namespace

Handler select_image(const ptx::Instruction& i) {
  const isa::Row& row = *i.form.row;
  if (row.opcode == "tex") return i.form.atype == Type::S32 ? fetch_lanes : sample_lanes;
  if (row.opcode == "tld4") return gather_lanes;
  if (row.opcode == "txq" || row.opcode == "suq") return query_lanes;
  if (row.opcode == "istypep") return type_lanes;
  if (row.opcode == "suld") return surface_load;
  if (row.opcode == "sured") return surface_reduce;
  return row.syntax.starts_with("sust.p") ? surface_store_formatted : surface_store;
}

}  // namespace warpbeam::vm
