// selp and slct, and the carry chains add.cc … madc.
#include "isa/arith/float_bits.h"
#include "isa/arith/integer.h"
#include "vm/exec_lane.h"
#include "vm/lane_chapters.h"
#include "vm/lane_vectors.h"

namespace warpbeam::vm {
namespace {

using isa::Type;

template <class T>
void selp(Warp& w, const Insn& i, uint32_t mask) {
  const Vector<T> r = blend<T>(w.pred(i.op[3]), load_vector<T>(w, i.op[1]), load_vector<T>(w, i.op[2]));
  store_vector<T>(w.lanes<T>(i.op[0]), r, mask);
}

template <class T, class C>
void slct(Warp& w, const Insn& i, uint32_t mask) {
  const T *a = w.lanes<T>(i.op[1]), *b = w.lanes<T>(i.op[2]);
  const C* c = w.lanes<C>(i.op[3]);
  // .ftz turns a negative subnormal into -0, which is not negative.
  const bool ftz = i.mods().ftz;
  T values[kWarpSize];
  WB_EACH_LANE(l) {
    C x = c[l];
    if constexpr (sizeof(C) == 4 && !std::is_integral_v<C>) x = isa::flush_if(x, ftz);
    values[l] = x >= C(0) ? a[l] : b[l];
  }
  store_lanes(w.lanes<T>(i.op[0]), values, mask);
}

template <template <class> class Of>
Handler by_width(Type t) {
  switch (isa::bits_of(t)) {
    case 16: return Of<uint16_t>::fn;
    case 32: return Of<uint32_t>::fn;
    case 64: return Of<uint64_t>::fn;
    default: return nullptr;
  }
}
template <class T> struct Selp { static constexpr Handler fn = selp<T>; };
template <class T> struct SlctInt { static constexpr Handler fn = slct<T, int32_t>; };
template <class T> struct SlctFloat { static constexpr Handler fn = slct<T, float>; };

// The carry flag is a bit per lane. Subtraction adds the complement, so that after it the flag says "no borrow".
void write_flag(Warp& w, const Insn& i, uint32_t mask, uint32_t carry) {
  if (!i.mods().cc) return;
  uint32_t& flag = w.pred(i.op[5]);
  flag = (flag & ~mask) | (carry & mask);
}

template <class T>
void add_to(Warp& w, const Insn& i, uint32_t mask, Vector<T> a, Vector<T> b, bool reads) {
  const Vector<T> sum = a + b;
  uint32_t carry = to_mask(sum < a);
  Vector<T> d = sum;
  if (reads) {
    d += from_mask<T>(w.pred(i.op[5]));
    carry |= to_mask(d < sum);
  }
  store_vector<T>(w.lanes<T>(i.op[0]), d, mask);
  write_flag(w, i, mask, carry);
}

template <class T, bool kReads>
void add_carry(Warp& w, const Insn& i, uint32_t mask) {
  add_to<T>(w, i, mask, load_vector<T>(w, i.op[1]), load_vector<T>(w, i.op[2]), kReads);
}

template <class T, bool kReads>
void subtract_borrow(Warp& w, const Insn& i, uint32_t mask) {
  const Vector<T> a = load_vector<T>(w, i.op[1]), b = load_vector<T>(w, i.op[2]);
  const Vector<T> difference = a - b;
  uint32_t borrow = to_mask(a < b);
  Vector<T> d = difference;
  if constexpr (kReads) {
    const Vector<T> in = from_mask<T>(~w.pred(i.op[5]));
    borrow |= to_mask(difference < in);
    d -= in;
  }
  store_vector<T>(w.lanes<T>(i.op[0]), d, mask);
  write_flag(w, i, mask, ~borrow);
}

// T carries the signedness of the product; its halves are added as plain bits.
template <class T, bool kReads>
void mad_carry(Warp& w, const Insn& i, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  const T *a = w.lanes<T>(i.op[1]), *b = w.lanes<T>(i.op[2]);
  U half[kWarpSize];
  if (i.mods().half == isa::Half::Hi) {
    WB_EACH_LANE(l) half[l] = static_cast<U>(isa::mul_hi(a[l], b[l]));
  } else {
    WB_EACH_LANE(l) half[l] = static_cast<U>(a[l]) * static_cast<U>(b[l]);
  }
  Vector<U> product;
  std::memcpy(&product, half, sizeof(product));
  add_to<U>(w, i, mask, product, load_vector<U>(w, i.op[3]), kReads);
}

template <bool kReads>
Handler mad_handler(Type t) {
  switch (t) {
    case Type::U32: return mad_carry<uint32_t, kReads>;
    case Type::S32: return mad_carry<int32_t, kReads>;
    case Type::U64: return mad_carry<uint64_t, kReads>;
    case Type::S64: return mad_carry<int64_t, kReads>;
    default: return nullptr;
  }
}

}  // namespace

Handler select_select(const ptx::Instruction& i, const ptx::Function&) {
  const Type t = i.form.type;
  if (i.form.row->opcode == "selp") return by_width<Selp>(t);
  return i.form.atype == Type::F32 ? by_width<SlctFloat>(t) : by_width<SlctInt>(t);
}

Handler select_carry(const ptx::Instruction& i, const ptx::Function&) {
  const std::string_view op = i.form.row->opcode;
  const Type t = i.form.type;
  const bool wide = isa::bits_of(t) == 64;
  if (op == "add") return wide ? add_carry<uint64_t, false> : add_carry<uint32_t, false>;
  if (op == "addc") return wide ? add_carry<uint64_t, true> : add_carry<uint32_t, true>;
  if (op == "sub") return wide ? subtract_borrow<uint64_t, false> : subtract_borrow<uint32_t, false>;
  if (op == "subc") return wide ? subtract_borrow<uint64_t, true> : subtract_borrow<uint32_t, true>;
  return op == "mad" ? mad_handler<false>(t) : mad_handler<true>(t);
}

}  // namespace warpbeam::vm
