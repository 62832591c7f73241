// cvt. A conversion has three steps: the operand's lanes are brought to the type computed with (registers may be wider
// than the type), the values are converted, and the results are extended to the destination register.
#include "isa/arith/convert.h"
#include "isa/arith/half.h"
#include "isa/arith/integer.h"
#include "isa/rows/convert.h"
#include "vm/exec_lane.h"
#include "vm/lane_chapters.h"

namespace warpbeam::vm {
namespace {

using isa::Rnd;
using isa::Rounding;
using isa::Type;

Rounding rounding_of(Rnd r) {
  switch (r) {
    case Rnd::Rz:
    case Rnd::Rzi: return Rounding::Zero;
    case Rnd::Rm:
    case Rnd::Rmi: return Rounding::Down;
    case Rnd::Rp:
    case Rnd::Rpi: return Rounding::Up;
    case Rnd::Rna: return Rounding::NearestAway;
    default: return Rounding::NearestEven;
  }
}

// --- operands and results ----------------------------------------------------------------------------------------

template <class S, class R>
const S* low_parts(const R* lanes, S* scratch) {
  WB_EACH_LANE(l) scratch[l] = static_cast<S>(lanes[l]);
  return scratch;
}

// The operand's lanes as S; in `scratch` when the register is wider.
template <class S>
const S* source_lanes(Warp& w, const Insn& i, S* scratch) {
  if (i.count == sizeof(S)) return w.lanes<S>(i.op[1]);
  if constexpr (std::is_integral_v<S>) {
    switch (i.count) {
      case 2: return low_parts(w.lanes<uint16_t>(i.op[1]), scratch);
      case 4: return low_parts(w.lanes<uint32_t>(i.op[1]), scratch);
      default: return low_parts(w.lanes<uint64_t>(i.op[1]), scratch);
    }
  } else {
    WB_EACH_LANE(l) scratch[l] = isa::f32_of(static_cast<uint32_t>(w.lanes<uint64_t>(i.op[1])[l]));
    return scratch;
  }
}

template <class R, class D>
void store_extended(Warp& w, const Insn& i, uint32_t mask, const D* values) {
  R wide[kWarpSize];
  WB_EACH_LANE(l) wide[l] = static_cast<R>(values[l]);
  store_lanes(w.lanes<R>(i.op[0]), wide, mask);
}

// Results of integer types are extended by their sign, the bits of floating-point ones by zeros.
template <class D>
void store_result(Warp& w, const Insn& i, uint32_t mask, const D* values) {
  if (i.width == sizeof(D)) return store_lanes(w.lanes<D>(i.op[0]), values, mask);
  if constexpr (std::is_integral_v<D>) {
    switch (i.width) {
      case 2: return store_extended<uint16_t>(w, i, mask, values);
      case 4: return store_extended<uint32_t>(w, i, mask, values);
      default: return store_extended<uint64_t>(w, i, mask, values);
    }
  } else {
    uint64_t wide[kWarpSize];
    WB_EACH_LANE(l) wide[l] = isa::bits_of(values[l]);
    store_lanes(w.lanes<uint64_t>(i.op[0]), wide, mask);
  }
}

// --- integer to integer ------------------------------------------------------------------------------------------

template <class D, class S, bool kSat>
void int_to_int(Warp& w, const Insn& i, uint32_t mask) {
  S scratch[kWarpSize];
  const S* a = source_lanes(w, i, scratch);
  D d[kWarpSize];
  WB_EACH_LANE(l) d[l] = isa::convert_int<D>(a[l], kSat);
  store_result(w, i, mask, d);
}

// --- floating-point operands -------------------------------------------------------------------------------------

struct HalfTag {};   // f16
struct BrainTag {};  // bf16

template <class Tag>
struct Carrier {
  using type = Tag;
};
template <>
struct Carrier<HalfTag> {
  using type = float;
};
template <>
struct Carrier<BrainTag> {
  using type = float;
};
template <class Tag>
using Computed = typename Carrier<Tag>::type;

// Towards f16, .ftz leaves f32 operands alone: the device does not flush what it narrows to half.
template <class Tag, bool kFlush = true>
const Computed<Tag>* float_lanes(Warp& w, const Insn& i, Computed<Tag>* scratch) {
  if constexpr (std::is_same_v<Tag, HalfTag> || std::is_same_v<Tag, BrainTag>) {
    uint16_t halves[kWarpSize];
    const uint16_t* a = source_lanes(w, i, halves);
    WB_EACH_LANE(l) {
      if constexpr (std::is_same_v<Tag, HalfTag>) scratch[l] = isa::f16_to_f32(a[l]);
      else scratch[l] = isa::bf16_to_f32(a[l]);
    }
    return scratch;
  } else {
    const Tag* a = source_lanes(w, i, scratch);
    if constexpr (std::is_same_v<Tag, float> && kFlush) {
      if (i.mods().ftz) {
        WB_EACH_LANE(l) scratch[l] = isa::canonical(isa::flush(a[l]));
        return scratch;
      }
    }
    return a;
  }
}

template <class D, class Tag, Rounding kRounding>
void float_to_int(Warp& w, const Insn& i, uint32_t mask) {
  Computed<Tag> scratch[kWarpSize];
  const Computed<Tag>* a = float_lanes<Tag>(w, i, scratch);
  D d[kWarpSize];
  WB_EACH_LANE(l) [[clang::always_inline]] d[l] = isa::float_to_int<D>(a[l], kRounding);
  store_result(w, i, mask, d);
}

// --- floating-point results --------------------------------------------------------------------------------------

void finish_half(Warp& w, const Insn& i, uint32_t mask, uint16_t* d, bool brain) {
  const isa::Mods& m = i.mods();
  if (m.satfinite) {
    WB_EACH_LANE(l) d[l] = brain ? isa::satfinite_bf16(d[l]) : isa::satfinite_f16(d[l]);
  }
  if (m.relu) {
    WB_EACH_LANE(l) d[l] = brain ? isa::relu_bf16(d[l]) : isa::relu_f16(d[l]);
  }
  if (m.sat) {
    WB_EACH_LANE(l) d[l] = brain ? isa::saturate_bf16(d[l]) : isa::saturate_f16(d[l]);
  }
  store_result(w, i, mask, d);
}

template <class F>
void finish_float(Warp& w, const Insn& i, uint32_t mask, F* d) {
  const isa::Mods& m = i.mods();
  if constexpr (std::is_same_v<F, float>) {
    if (m.ftz) {
      WB_EACH_LANE(l) d[l] = isa::flush(d[l]);
    }
  }
  if (m.sat) {
    WB_EACH_LANE(l) d[l] = isa::saturate(d[l]);
  }
  store_result(w, i, mask, d);
}

template <class S, bool kNearest>
uint16_t int_to_half(S x, Rounding rounding, bool brain) {
  // Up to 32 bits an integer is exact in double, and the shorter way over it stays in vector registers.
  if constexpr (sizeof(S) <= 4) {
    const double wide = x;
    const Rounding r = kNearest ? Rounding::NearestEven : rounding;
    return brain ? isa::f64_to_bf16(wide, r) : isa::f64_to_f16(wide, r);
  } else {
    return brain ? isa::int_to_bf16(x, rounding) : isa::int_to_f16(x, rounding);
  }
}

template <class DTag, class S, bool kNearest>
void int_to_float(Warp& w, const Insn& i, uint32_t mask) {
  S scratch[kWarpSize];
  const S* a = source_lanes(w, i, scratch);
  const Rounding r = kNearest ? Rounding::NearestEven : rounding_of(i.mods().rnd);
  if constexpr (std::is_same_v<DTag, HalfTag> || std::is_same_v<DTag, BrainTag>) {
    constexpr bool kBrain = std::is_same_v<DTag, BrainTag>;
    uint16_t d[kWarpSize];
    WB_EACH_LANE(l) d[l] = int_to_half<S, kNearest>(a[l], r, kBrain);
    finish_half(w, i, mask, d, kBrain);
  } else {
    DTag d[kWarpSize];
    WB_EACH_LANE(l) {
      if constexpr (std::is_same_v<DTag, float>) d[l] = isa::int_to_f32(a[l], r);
      else d[l] = isa::int_to_f64(a[l], r);
    }
    finish_float(w, i, mask, d);
  }
}

bool to_integral(Rnd r) { return r == Rnd::Rni || r == Rnd::Rzi || r == Rnd::Rmi || r == Rnd::Rpi; }

template <class DTag, class STag, bool kNearest>
void float_to_float(Warp& w, const Insn& i, uint32_t mask) {
  using C = Computed<STag>;
  C scratch[kWarpSize];
  const C* a = float_lanes<STag, !std::is_same_v<DTag, HalfTag>>(w, i, scratch);
  const isa::Mods& m = i.mods();
  const Rounding r = kNearest ? Rounding::NearestEven : rounding_of(m.rnd);
  if constexpr (!kNearest) {
    if (to_integral(m.rnd)) {
      for (int l = 0; l < kWarpSize; ++l) {
        if constexpr (std::is_same_v<C, double>) scratch[l] = isa::cvt_integral_f64(a[l], r);
        else scratch[l] = isa::round_to_integral(a[l], r);
      }
      a = scratch;
    }
  }
  if constexpr (std::is_same_v<DTag, HalfTag> || std::is_same_v<DTag, BrainTag>) {
    constexpr bool kBrain = std::is_same_v<DTag, BrainTag>;
    uint16_t d[kWarpSize];
    WB_EACH_LANE(l) {
      if constexpr (std::is_same_v<C, float>) d[l] = kBrain ? isa::f32_to_bf16(a[l], r) : isa::f32_to_f16(a[l], r);
      else d[l] = kBrain ? isa::f64_to_bf16(a[l], r) : isa::f64_to_f16(a[l], r);
    }
    finish_half(w, i, mask, d, kBrain);
  } else {
    DTag d[kWarpSize];
    // What is only moved keeps its NaN payload.
    const bool moved = !std::is_same_v<STag, HalfTag> && m.rnd == Rnd::None && !m.ftz && !m.sat;
    const bool keep_nan = std::is_same_v<STag, BrainTag> ? !m.ftz : moved;
    WB_EACH_LANE(l) {
      if constexpr (std::is_same_v<DTag, double>) d[l] = std::is_same_v<C, double> ? a[l] : isa::cvt_f64_f32(static_cast<float>(a[l]));
      else if constexpr (std::is_same_v<C, double>) d[l] = isa::cvt_f32_f64(a[l], r);
      else d[l] = keep_nan ? a[l] : isa::canonical(a[l]);
    }
    finish_float(w, i, mask, d);
  }
}

// cvt.f16.f16 and the like without rounding.
void copy_half(Warp& w, const Insn& i, uint32_t mask) {
  uint16_t scratch[kWarpSize], d[kWarpSize];
  const uint16_t* a = source_lanes(w, i, scratch);
  const bool brain = i.source->form.type == Type::BF16;
  const uint16_t infinity = brain ? isa::Bf16::kInfinity : isa::F16::kInfinity;
  WB_EACH_LANE(l) d[l] = (a[l] & 0x7fff) > infinity ? isa::kNanF16 : a[l];
  finish_half(w, i, mask, d, brain);
}

// --- tf32, packed and fp8 ----------------------------------------------------------------------------------------

void to_tf32(Warp& w, const Insn& i, uint32_t mask) {
  const float* a = w.lanes<float>(i.op[1]);
  const isa::Mods& m = i.mods();
  const Rounding r = rounding_of(m.rnd);
  uint32_t d[kWarpSize];
  WB_EACH_LANE(l) {
    uint32_t x = isa::f32_to_tf32(a[l], r);
    // The device steps back by one whatever lies past the largest number, NaN too.
    if (m.satfinite && (x & 0x7fffffff) >= 0x7f800000) x -= 0x2000;
    if (m.relu && (x & 0x80000000) && (x & 0x7fffffff) <= 0x7f800000) x = 0;
    d[l] = x;
  }
  store_lanes(w.lanes<uint32_t>(i.op[0]), d, mask);
}

template <bool kBrain>
void pack_floats(Warp& w, const Insn& i, uint32_t mask) {
  const float *a = w.lanes<float>(i.op[1]), *b = w.lanes<float>(i.op[2]);
  const isa::Mods& m = i.mods();
  const Rounding r = rounding_of(m.rnd);
  const auto half = [&](float x) __attribute__((always_inline)) {
    uint16_t h = kBrain ? isa::f32_to_bf16(x, r) : isa::f32_to_f16(x, r);
    if (m.satfinite) h = kBrain ? isa::satfinite_bf16(h) : isa::satfinite_f16(h);
    if (m.relu) h = kBrain ? isa::relu_bf16(h) : isa::relu_f16(h);
    return h;
  };
  uint32_t d[kWarpSize];
  if (m.rnd == Rnd::Rn && !m.satfinite && !m.relu) {
    WB_EACH_LANE(l) {
      const auto nearest = [](float x) __attribute__((always_inline)) {
        return kBrain ? isa::f32_to_bf16(x, Rounding::NearestEven) : isa::f32_to_f16(x, Rounding::NearestEven);
      };
      d[l] = isa::pack_halves(nearest(a[l]), nearest(b[l]));
    }
  } else {
    WB_EACH_LANE(l) d[l] = isa::pack_halves(half(a[l]), half(b[l]));
  }
  store_lanes(w.lanes<uint32_t>(i.op[0]), d, mask);
}

uint8_t to_fp8(float x, bool e4m3, bool relu) {
  const uint8_t q = e4m3 ? isa::f32_to_e4m3(x) : isa::f32_to_e5m2(x);
  return relu ? isa::relu_fp8(q) : q;
}

// From two f32 operands, or from the two halves of an f16x2.
template <bool kFromHalves>
void pack_fp8(Warp& w, const Insn& i, uint32_t mask) {
  const bool e4m3 = i.source->form.type == Type::E4M3x2, relu = i.mods().relu;
  uint16_t d[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    float upper, lower;
    if constexpr (kFromHalves) {
      const uint32_t pair = w.lanes<uint32_t>(i.op[1])[l];
      upper = isa::f16_to_f32(isa::upper_half(pair));
      lower = isa::f16_to_f32(isa::lower_half(pair));
    } else {
      upper = w.lanes<float>(i.op[1])[l];
      lower = w.lanes<float>(i.op[2])[l];
    }
    d[l] = static_cast<uint16_t>(to_fp8(upper, e4m3, relu) << 8 | to_fp8(lower, e4m3, relu));
  }
  store_lanes(w.lanes<uint16_t>(i.op[0]), d, mask);
}

void unpack_fp8(Warp& w, const Insn& i, uint32_t mask) {
  const bool e4m3 = i.source->form.atype == Type::E4M3x2, relu = i.mods().relu;
  const uint16_t* a = w.lanes<uint16_t>(i.op[1]);
  const auto widen = [&](uint16_t q) {
    const uint16_t h = e4m3 ? isa::e4m3_to_f16(static_cast<uint8_t>(q)) : isa::e5m2_to_f16(static_cast<uint8_t>(q));
    return relu ? isa::relu_f16(h) : h;
  };
  uint32_t d[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) d[l] = isa::pack_halves(widen(a[l] >> 8), widen(a[l] & 0xff));
  store_lanes(w.lanes<uint32_t>(i.op[0]), d, mask);
}

void pack_integers(Warp& w, const Insn& i, uint32_t mask) {
  const ptx::Instruction& source = *i.source;
  const int8_t fields = source.form.mods.pack;
  const int bits = fields ? (fields < 0 ? -fields : fields) : isa::bits_of(source.form.type);
  const bool is_signed = fields ? fields < 0 : isa::is_signed(source.form.type);
  const int32_t *a = w.lanes<int32_t>(i.op[1]), *b = w.lanes<int32_t>(i.op[2]);
  uint32_t d[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) d[l] = isa::cvt_pack(a[l], b[l], i.op[3] >= 0 ? w.lanes<uint32_t>(i.op[3])[l] : 0, bits, is_signed);
  store_lanes(w.lanes<uint32_t>(i.op[0]), d, mask);
}

// --- choosing ----------------------------------------------------------------------------------------------------

template <class D>
Handler from_int(Type a, bool sat) {
  switch (a) {
    case Type::U8: return sat ? int_to_int<D, uint8_t, true> : int_to_int<D, uint8_t, false>;
    case Type::U16: return sat ? int_to_int<D, uint16_t, true> : int_to_int<D, uint16_t, false>;
    case Type::U32: return sat ? int_to_int<D, uint32_t, true> : int_to_int<D, uint32_t, false>;
    case Type::U64: return sat ? int_to_int<D, uint64_t, true> : int_to_int<D, uint64_t, false>;
    case Type::S8: return sat ? int_to_int<D, int8_t, true> : int_to_int<D, int8_t, false>;
    case Type::S16: return sat ? int_to_int<D, int16_t, true> : int_to_int<D, int16_t, false>;
    case Type::S32: return sat ? int_to_int<D, int32_t, true> : int_to_int<D, int32_t, false>;
    case Type::S64: return sat ? int_to_int<D, int64_t, true> : int_to_int<D, int64_t, false>;
    default: return nullptr;
  }
}

template <class D, class Tag>
Handler rounded(Rnd r) {
  switch (r) {
    case Rnd::Rni: return float_to_int<D, Tag, Rounding::NearestEven>;
    case Rnd::Rzi: return float_to_int<D, Tag, Rounding::Zero>;
    case Rnd::Rmi: return float_to_int<D, Tag, Rounding::Down>;
    case Rnd::Rpi: return float_to_int<D, Tag, Rounding::Up>;
    default: return nullptr;
  }
}

template <class D>
Handler to_int(Type a, const isa::Mods& m) {
  switch (a) {
    case Type::F16: return rounded<D, HalfTag>(m.rnd);
    case Type::BF16: return rounded<D, BrainTag>(m.rnd);
    case Type::F32: return rounded<D, float>(m.rnd);
    case Type::F64: return rounded<D, double>(m.rnd);
    default: return from_int<D>(a, m.sat);
  }
}

template <class D, class S>
Handler from_int_to(Rnd r) {
  return r == Rnd::Rn ? int_to_float<D, S, true> : int_to_float<D, S, false>;
}
template <class D, class S>
Handler from_float_to(Rnd r) {
  return r == Rnd::Rn || r == Rnd::None ? float_to_float<D, S, true> : float_to_float<D, S, false>;
}

template <class D>
Handler to_float(Type a, Rnd r) {
  switch (a) {
    case Type::U8: return from_int_to<D, uint8_t>(r);
    case Type::U16: return from_int_to<D, uint16_t>(r);
    case Type::U32: return from_int_to<D, uint32_t>(r);
    case Type::U64: return from_int_to<D, uint64_t>(r);
    case Type::S8: return from_int_to<D, int8_t>(r);
    case Type::S16: return from_int_to<D, int16_t>(r);
    case Type::S32: return from_int_to<D, int32_t>(r);
    case Type::S64: return from_int_to<D, int64_t>(r);
    case Type::F16: return from_float_to<D, HalfTag>(r);
    case Type::BF16: return from_float_to<D, BrainTag>(r);
    case Type::F32: return from_float_to<D, float>(r);
    case Type::F64: return from_float_to<D, double>(r);
    default: return nullptr;
  }
}

}  // namespace

Handler select_convert(const ptx::Instruction& i, const ptx::Function&) {
  const isa::Mods& m = i.form.mods;
  const Type d = i.form.type, a = i.form.atype;
  if (i.form.row->syntax.starts_with("cvt.pack")) return pack_integers;
  switch (d) {
    case Type::F16x2: return a == Type::F32 ? pack_floats<false> : unpack_fp8;
    case Type::BF16x2: return pack_floats<true>;
    case Type::E4M3x2:
    case Type::E5M2x2: return a == Type::F32 ? pack_fp8<false> : pack_fp8<true>;
    case Type::TF32: return to_tf32;
    case Type::U8: return to_int<uint8_t>(a, m);
    case Type::U16: return to_int<uint16_t>(a, m);
    case Type::U32: return to_int<uint32_t>(a, m);
    case Type::U64: return to_int<uint64_t>(a, m);
    case Type::S8: return to_int<int8_t>(a, m);
    case Type::S16: return to_int<int16_t>(a, m);
    case Type::S32: return to_int<int32_t>(a, m);
    case Type::S64: return to_int<int64_t>(a, m);
    case Type::F16: return a == d && m.rnd == Rnd::None ? copy_half : to_float<HalfTag>(a, m.rnd);
    case Type::BF16: return a == d && m.rnd == Rnd::None ? copy_half : to_float<BrainTag>(a, m.rnd);
    case Type::F32: return to_float<float>(a, m.rnd);
    case Type::F64: return to_float<double>(a, m.rnd);
    default: return nullptr;
  }
}

}  // namespace warpbeam::vm
