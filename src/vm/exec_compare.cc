// Comparison: setp and set. Every comparison of every type is compiled into a function that gives 32 answers as a bit
// mask; what becomes of the mask (a predicate, a pair joined with a third, ones and zeros in a register) is common.
#include "isa/arith/half.h"
#include "vm/exec_lane.h"
#include "vm/lane_chapters.h"
#include "vm/lane_vectors.h"

namespace warpbeam::vm {
namespace {

using isa::Cmp;
using isa::Type;

// Ordered comparisons are false when an operand is NaN, those that end in `u` true.
template <Cmp c, class T>
uint32_t compare(Vector<T> a, Vector<T> b) {
  if constexpr (c == Cmp::Eq) return to_mask(a == b);
  else if constexpr (c == Cmp::Ne) return std::is_floating_point_v<T> ? to_mask(a < b) | to_mask(a > b) : to_mask(a != b);
  else if constexpr (c == Cmp::Lt || c == Cmp::Lo) return to_mask(a < b);
  else if constexpr (c == Cmp::Le || c == Cmp::Ls) return to_mask(a <= b);
  else if constexpr (c == Cmp::Gt || c == Cmp::Hi) return to_mask(a > b);
  else if constexpr (c == Cmp::Ge || c == Cmp::Hs) return to_mask(a >= b);
  else if constexpr (c == Cmp::Equ) return ~(to_mask(a < b) | to_mask(a > b));
  else if constexpr (c == Cmp::Neu) return to_mask(a != b);
  else if constexpr (c == Cmp::Ltu) return ~to_mask(a >= b);
  else if constexpr (c == Cmp::Leu) return ~to_mask(a > b);
  else if constexpr (c == Cmp::Gtu) return ~to_mask(a <= b);
  else if constexpr (c == Cmp::Geu) return ~to_mask(a < b);
  else if constexpr (c == Cmp::Num) return to_mask(a == a) & to_mask(b == b);
  else return ~(to_mask(a == a) & to_mask(b == b));
}

struct Answers {
  uint32_t lower = 0, upper = 0;  // upper: the other half of packed types, else the opposite
};

template <class T, Cmp c, bool kFtz>
struct Scalar {
  static Answers of(Warp& w, const Insn& i) {
    Vector<T> a = load_vector<T>(w, i.op[1]), b = load_vector<T>(w, i.op[2]);
    if constexpr (kFtz) {
      // Flushed operands compare like their flushed magnitudes; a subnormal times zero keeps the sign.
      a = __builtin_elementwise_abs(a) < 0x1p-126f ? a * 0.0f : a;
      b = __builtin_elementwise_abs(b) < 0x1p-126f ? b * 0.0f : b;
    }
    const uint32_t r = compare<c, T>(a, b);
    return {r, ~r};
  }
};

template <class H>
[[gnu::always_inline]] inline Vector<float> widen(const uint16_t* halves, int stride, bool ftz) {
  float wide[kWarpSize];
  WB_EACH_LANE(l) {
    uint16_t h = halves[l * stride];
    h = ftz ? H::flush(h) : h;
    wide[l] = H::widen(h);
  }
  Vector<float> v;
  std::memcpy(&v, wide, sizeof(v));
  return v;
}

template <class H, Cmp c>
struct Single {
  static Answers of(Warp& w, const Insn& i) {
    const bool ftz = i.mods().ftz;
    const uint32_t r = compare<c, float>(widen<H>(w.lanes<uint16_t>(i.op[1]), 1, ftz), widen<H>(w.lanes<uint16_t>(i.op[2]), 1, ftz));
    return {r, ~r};
  }
};

template <class H, Cmp c>
struct Packed {
  static Answers of(Warp& w, const Insn& i) {
    const bool ftz = i.mods().ftz;
    const uint16_t *a = w.lanes<uint16_t>(i.op[1]), *b = w.lanes<uint16_t>(i.op[2]);
    return {compare<c, float>(widen<H>(a, 2, ftz), widen<H>(b, 2, ftz)),
            compare<c, float>(widen<H>(a + 1, 2, ftz), widen<H>(b + 1, 2, ftz))};
  }
};

uint32_t join(isa::BoolOp op, uint32_t r, uint32_t c) {
  switch (op) {
    case isa::BoolOp::And: return r & c;
    case isa::BoolOp::Or: return r | c;
    case isa::BoolOp::Xor: return r ^ c;
    case isa::BoolOp::None: break;
  }
  return r;
}

Answers joined(Warp& w, const Insn& i, Answers r) {
  const isa::BoolOp op = i.mods().boolop;
  if (op == isa::BoolOp::None) return r;
  const uint32_t c = w.pred(i.op[3]);
  return {join(op, r.lower, c), join(op, r.upper, c)};
}

void write_predicate(Warp& w, int32_t slot, uint32_t value, uint32_t mask) {
  uint32_t& d = w.pred(slot);
  d = (d & ~mask) | (value & mask);
}

template <class Compare>
void setp_plain(Warp& w, const Insn& i, uint32_t mask) {
  write_predicate(w, i.op[0], Compare::of(w, i).lower, mask);
}
template <class Compare>
void setp_pair(Warp& w, const Insn& i, uint32_t mask) {
  const Answers r = joined(w, i, Compare::of(w, i));
  write_predicate(w, i.op[0], r.lower, mask);
  if (i.op[5] >= 0) write_predicate(w, i.op[5], r.upper, mask);
}

template <class D>
void write_truth(Warp& w, const Insn& i, uint32_t mask, uint32_t truth, D one) {
  D values[kWarpSize];
  WB_EACH_LANE(l) values[l] = truth >> l & 1 ? one : D(0);
  store_lanes(w.lanes<D>(i.op[0]), values, mask);
}
uint16_t true_half(Type t) { return t == Type::F16 || t == Type::F16x2 ? 0x3c00 : t == Type::BF16 || t == Type::BF16x2 ? 0x3f80 : 0xffff; }

template <class Compare>
void set_scalar(Warp& w, const Insn& i, uint32_t mask) {
  const uint32_t r = joined(w, i, Compare::of(w, i)).lower;
  const Type d = i.source->form.type;
  if (isa::bits_of(d) == 16) write_truth<uint16_t>(w, i, mask, r, true_half(d));
  else write_truth<uint32_t>(w, i, mask, r, d == Type::F32 ? 0x3f800000u : ~0u);
}
template <class Compare>
void set_packed(Warp& w, const Insn& i, uint32_t mask) {
  const Answers r = joined(w, i, Compare::of(w, i));
  const uint32_t one = true_half(i.source->form.type);
  uint32_t values[kWarpSize];
  WB_EACH_LANE(l) values[l] = (r.lower >> l & 1 ? one : 0) | (r.upper >> l & 1 ? one << 16 : 0);
  store_lanes(w.lanes<uint32_t>(i.op[0]), values, mask);
}

enum class Use { Plain, Pair, Set };

template <class Compare, bool kPacked = false>
Handler handler(Use use) {
  if (use == Use::Plain) return setp_plain<Compare>;
  if (use == Use::Pair) return setp_pair<Compare>;
  if constexpr (kPacked) return set_packed<Compare>;
  else return set_scalar<Compare>;
}

template <Cmp... list>
struct Cmps {};
using IntCmps = Cmps<Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge>;
using FloatCmps = Cmps<Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge, Cmp::Equ, Cmp::Neu, Cmp::Ltu, Cmp::Leu, Cmp::Gtu, Cmp::Geu,
                       Cmp::Num, Cmp::Nan>;

// The handler of the comparison `c` among the listed ones; null for the others.
template <template <Cmp> class Compare, bool kPacked = false, Cmp... list>
Handler among(Cmps<list...>, Cmp c, Use use) {
  Handler found = nullptr;
  ((c == list ? void(found = handler<Compare<list>, kPacked>(use)) : void()), ...);
  return found;
}

// The unsigned spellings mean the same as the general ones on unsigned types.
Cmp general(Cmp c) {
  switch (c) {
    case Cmp::Lo: return Cmp::Lt;
    case Cmp::Ls: return Cmp::Le;
    case Cmp::Hi: return Cmp::Gt;
    case Cmp::Hs: return Cmp::Ge;
    default: return c;
  }
}

template <class T>
struct Of {
  template <Cmp c>
  using Plain = Scalar<T, c, false>;
  template <Cmp c>
  using Flushed = Scalar<T, c, true>;
  template <Cmp c>
  using Half = Single<T, c>;
  template <Cmp c>
  using Halves = Packed<T, c>;
};

}  // namespace

Handler select_compare(const ptx::Instruction& i, const ptx::Function&) {
  const isa::Mods& m = i.form.mods;
  const bool set = i.form.row->operands.list[0].fixed != Type::Pred;
  const Use use = set ? Use::Set : m.boolop == isa::BoolOp::None && i.operands[0].pair < 0 ? Use::Plain : Use::Pair;
  const Cmp c = general(m.cmp);
  switch (set ? i.form.atype : i.form.type) {
    case Type::B16:
    case Type::U16: return among<Of<uint16_t>::Plain>(IntCmps{}, c, use);
    case Type::B32:
    case Type::U32: return among<Of<uint32_t>::Plain>(IntCmps{}, c, use);
    case Type::B64:
    case Type::U64: return among<Of<uint64_t>::Plain>(IntCmps{}, c, use);
    case Type::S16: return among<Of<int16_t>::Plain>(IntCmps{}, c, use);
    case Type::S32: return among<Of<int32_t>::Plain>(IntCmps{}, c, use);
    case Type::S64: return among<Of<int64_t>::Plain>(IntCmps{}, c, use);
    case Type::F32: return m.ftz ? among<Of<float>::Flushed>(FloatCmps{}, c, use) : among<Of<float>::Plain>(FloatCmps{}, c, use);
    case Type::F64: return among<Of<double>::Plain>(FloatCmps{}, c, use);
    case Type::F16: return among<Of<isa::F16>::Half>(FloatCmps{}, c, use);
    case Type::BF16: return among<Of<isa::Bf16>::Half>(FloatCmps{}, c, use);
    case Type::F16x2: return among<Of<isa::F16>::Halves, true>(FloatCmps{}, c, use);
    case Type::BF16x2: return among<Of<isa::Bf16>::Halves, true>(FloatCmps{}, c, use);
    default: return nullptr;
  }
}

}  // namespace warpbeam::vm
