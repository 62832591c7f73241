// Integer arithmetic: chapters "Integer Arithmetic Instructions" and the bit-field instructions.
#pragma once
#include "isa/arith/integer.h"
#include "isa/lane.h"
#include "isa/row.h"

namespace warpbeam::isa::rows {

using Ints = Types<Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>;
using SignedInts = Types<Type::S16, Type::S32, Type::S64>;
using WordInts = Types<Type::U32, Type::S32, Type::U64, Type::S64>;
using Words = Types<Type::U32, Type::S32>;
using NarrowInts = Types<Type::U16, Type::U32, Type::S16, Type::S32>;

struct IntRow : RowBase {
  static constexpr Class cls = Class::IntAlu;
};
struct IntMulRow : RowBase {
  static constexpr Class cls = Class::IntMul;
};

struct AddInt : IntRow {
  static constexpr char syntax[] = "add.type d, a, b";
  using T = Ints;
  static auto lane(auto m, auto a, auto b) { return a + b; }
};
struct AddSat : IntRow {
  static constexpr char syntax[] = "add.sat.s32 d, a, b";
  using T = Types<Type::S32>;
  static int32_t lane(auto m, int32_t a, int32_t b) { return add_sat_s32(a, b); }
};
struct AddPacked : IntRow {
  static constexpr char syntax[] = "add.type d, a, b";
  static constexpr Since since{80, 90};
  using T = Types<Type::U16x2, Type::S16x2>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b) {
    return ((a + b) & 0xffffu) | ((a & 0xffff0000u) + (b & 0xffff0000u));
  }
};
struct SubInt : IntRow {
  static constexpr char syntax[] = "sub.type d, a, b";
  using T = Ints;
  static auto lane(auto m, auto a, auto b) { return a - b; }
};
struct SubSat : IntRow {
  static constexpr char syntax[] = "sub.sat.s32 d, a, b";
  using T = Types<Type::S32>;
  static int32_t lane(auto m, int32_t a, int32_t b) { return sub_sat_s32(a, b); }
};
struct MulLo : IntMulRow {
  static constexpr char syntax[] = "mul.lo.type d, a, b";
  using T = Ints;
  static constexpr std::string_view about = "The low half of the product.";
  static auto lane(auto m, auto a, auto b) {
    using U = std::make_unsigned_t<decltype(a)>;
    if constexpr (sizeof(a) < 4) return uint32_t(U(a)) * uint32_t(U(b));
    else return U(a) * U(b);
  }
};
struct MulHi : IntMulRow {
  static constexpr char syntax[] = "mul.hi.type d, a, b";
  using T = Ints;
  static constexpr std::string_view about = "The high half of the product.";
  static auto lane(auto m, auto a, auto b) { return m.mul_hi(a, b); }
};
struct MulWide : IntMulRow {
  static constexpr char syntax[] = "mul.wide.type d:wide, a, b";
  using T = NarrowInts;
  static constexpr std::string_view about = "The whole product, twice as wide as its factors.";
  static auto lane(auto m, auto a, auto b) {
    using W = std::conditional_t<std::is_signed_v<decltype(a)>, int64_t, uint64_t>;
    return W(a) * W(b);
  }
};
struct MadLo : IntMulRow {
  static constexpr char syntax[] = "mad.lo.type d, a, b, c";
  using T = Ints;
  static auto lane(auto m, auto a, auto b, auto c) {
    using U = std::make_unsigned_t<decltype(a)>;
    if constexpr (sizeof(a) < 4) return uint32_t(U(a)) * uint32_t(U(b)) + uint32_t(U(c));
    else return U(a) * U(b) + U(c);
  }
};
struct MadHi : IntMulRow {
  static constexpr char syntax[] = "mad.hi.type d, a, b, c";
  using T = Ints;
  static auto lane(auto m, auto a, auto b, auto c) { return m.mul_hi(a, b) + c; }
};
struct MadHiSat : IntMulRow {
  static constexpr char syntax[] = "mad.hi.sat.s32 d, a, b, c";
  using T = Types<Type::S32>;
  static int32_t lane(auto m, int32_t a, int32_t b, int32_t c) { return mad_hi_sat_s32(a, b, c); }
};
struct MadWide : IntMulRow {
  static constexpr char syntax[] = "mad.wide.type d:wide, a, b, c:wide";
  using T = NarrowInts;
  static auto lane(auto m, auto a, auto b, auto c) {
    using W = std::conditional_t<std::is_signed_v<decltype(a)>, int64_t, uint64_t>;
    return static_cast<decltype(c)>(W(a) * W(b) + W(c));
  }
};

struct Mul24Lo : IntMulRow {
  static constexpr char syntax[] = "mul24.lo.type d, a, b";
  using T = Words;
  static constexpr std::string_view about = "The product of the low 24 bits: its low 32 bits.";
  static auto lane(auto m, auto a, auto b) { return mul24_lo(a, b); }
};
struct Mul24Hi : IntMulRow {
  static constexpr char syntax[] = "mul24.hi.type d, a, b";
  using T = Words;
  static constexpr std::string_view about = "The product of the low 24 bits: bits 47 to 16.";
  static auto lane(auto m, auto a, auto b) { return mul24_hi(a, b); }
};
struct Mad24Lo : IntMulRow {
  static constexpr char syntax[] = "mad24.lo.type d, a, b, c";
  using T = Words;
  static auto lane(auto m, auto a, auto b, auto c) { return mul24_lo(a, b) + c; }
};
struct Mad24Hi : IntMulRow {
  static constexpr char syntax[] = "mad24.hi.type d, a, b, c";
  using T = Words;
  static auto lane(auto m, auto a, auto b, auto c) { return mul24_hi(a, b) + c; }
};
struct Mad24HiSat : IntMulRow {
  static constexpr char syntax[] = "mad24.hi.sat.s32 d, a, b, c";
  using T = Types<Type::S32>;
  static int32_t lane(auto m, int32_t a, int32_t b, int32_t c) { return mad24_hi_sat_s32(a, b, c); }
};
struct Sad : IntRow {
  static constexpr char syntax[] = "sad.type d, a, b, c";
  using T = Ints;
  static constexpr std::string_view about = "c plus the absolute difference of a and b.";
  static auto lane(auto m, auto a, auto b, auto c) { return sad(a, b, c); }
};
struct DivInt : IntMulRow {
  static constexpr char syntax[] = "div.type d, a, b";
  using T = Ints;
  static auto lane(auto m, auto a, auto b) { return m.div(a, b); }
};
struct RemInt : IntMulRow {
  static constexpr char syntax[] = "rem.type d, a, b";
  using T = Ints;
  static auto lane(auto m, auto a, auto b) { return m.rem(a, b); }
};
struct AbsInt : IntRow {
  static constexpr char syntax[] = "abs.type d, a";
  using T = SignedInts;
  static auto lane(auto m, auto a) { return abs_int(a); }
};
struct NegInt : IntRow {
  static constexpr char syntax[] = "neg.type d, a";
  using T = SignedInts;
  static auto lane(auto m, auto a) { return -a; }
};
struct MinInt : IntRow {
  static constexpr char syntax[] = "min.type d, a, b";
  using T = Ints;
  static auto lane(auto m, auto a, auto b) { return m.select(a < b, a, b); }
};
struct MaxInt : IntRow {
  static constexpr char syntax[] = "max.type d, a, b";
  using T = Ints;
  static auto lane(auto m, auto a, auto b) { return m.select(a > b, a, b); }
};
struct MinRelu : IntRow {
  static constexpr char syntax[] = "min.relu.s32 d, a, b";
  static constexpr Since since{80, 90};
  using T = Types<Type::S32>;
  static auto lane(auto m, auto a, auto b) { auto r = m.select(a < b, a, b); return m.select(r < 0, decltype(r)(0), r); }
};
struct MaxRelu : IntRow {
  static constexpr char syntax[] = "max.relu.s32 d, a, b";
  static constexpr Since since{80, 90};
  using T = Types<Type::S32>;
  static auto lane(auto m, auto a, auto b) { auto r = m.select(a > b, a, b); return m.select(r < 0, decltype(r)(0), r); }
};

// Two 16-bit values in one word.
template <class H, class F>
uint32_t each_half(uint32_t a, uint32_t b, F f) {
  return uint32_t(uint16_t(f(H(a), H(b)))) | uint32_t(uint16_t(f(H(a >> 16), H(b >> 16)))) << 16;
}
struct MinPackedU : IntRow {
  static constexpr char syntax[] = "min.u16x2 d, a, b";
  static constexpr Since since{80, 90};
  using T = Types<Type::U16x2>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b) {
    return each_half<uint16_t>(a, b, [](auto x, auto y) { return x < y ? x : y; });
  }
};
struct MaxPackedU : IntRow {
  static constexpr char syntax[] = "max.u16x2 d, a, b";
  static constexpr Since since{80, 90};
  using T = Types<Type::U16x2>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b) {
    return each_half<uint16_t>(a, b, [](auto x, auto y) { return x > y ? x : y; });
  }
};
struct MinPackedS : IntRow {
  static constexpr char syntax[] = "min{.relu}.s16x2 d, a, b";
  static constexpr Since since{80, 90};
  using T = Types<Type::S16x2>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b) {
    const bool relu = m.mods().relu;
    return each_half<int16_t>(a, b, [=](int x, int y) { int r = x < y ? x : y; return relu && r < 0 ? 0 : r; });
  }
};
struct MaxPackedS : IntRow {
  static constexpr char syntax[] = "max{.relu}.s16x2 d, a, b";
  static constexpr Since since{80, 90};
  using T = Types<Type::S16x2>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b) {
    const bool relu = m.mods().relu;
    return each_half<int16_t>(a, b, [=](int x, int y) { int r = x > y ? x : y; return relu && r < 0 ? 0 : r; });
  }
};

struct Popc : IntRow {
  static constexpr char syntax[] = "popc.type d:u32, a";
  static constexpr Since since{20, 20};
  using T = Types<Type::B32, Type::B64>;
  static uint32_t lane(auto m, auto a) { return popc(a); }
};
struct Clz : IntRow {
  static constexpr char syntax[] = "clz.type d:u32, a";
  static constexpr Since since{20, 20};
  using T = Types<Type::B32, Type::B64>;
  static uint32_t lane(auto m, auto a) { return clz(a); }
};
struct Bfind : IntRow {
  static constexpr char syntax[] = "bfind{.shiftamt}.type d:u32, a";
  static constexpr Since since{20, 20};
  static constexpr std::string_view about =
      "The position of the highest significant bit (for signed types the highest that differs from the sign); "
      "0xffffffff when there is none.";
  using T = WordInts;
  static uint32_t lane(auto m, auto a) { return bfind(a, m.mods().shiftamt); }
};
struct Fns : IntRow {
  static constexpr char syntax[] = "fns.b32 d, a, b, c";
  static constexpr Since since{60, 30};
  static constexpr std::string_view about = "The position of the c-th set bit of a, counted from bit b upwards or downwards.";
  using T = Types<Type::B32>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b, uint32_t c) { return fns(a, b, static_cast<int32_t>(c)); }
};
struct Brev : IntRow {
  static constexpr char syntax[] = "brev.type d, a";
  static constexpr Since since{20, 20};
  using T = Types<Type::B32, Type::B64>;
  static auto lane(auto m, auto a) { return brev(a); }
};
struct Bfe : IntRow {
  static constexpr char syntax[] = "bfe.type d, a, b:u32, c:u32";
  static constexpr Since since{20, 20};
  static constexpr std::string_view about = "c bits of a from bit b on; signed types repeat the field's top bit.";
  using T = WordInts;
  static auto lane(auto m, auto a, uint32_t b, uint32_t c) { return bfe(a, b, c); }
};
struct Bfi : IntRow {
  static constexpr char syntax[] = "bfi.type f, a, b, c:u32, d:u32";
  static constexpr Since since{20, 20};
  static constexpr std::string_view about = "b with d bits from bit c on replaced by the low bits of a.";
  using T = Types<Type::B32, Type::B64>;
  static auto lane(auto m, auto a, auto b, uint32_t c, uint32_t d) { return bfi(a, b, c, d); }
};
struct Szext : IntRow {
  static constexpr char syntax[] = "szext.edge.type d, a, b:u32";
  static constexpr Since since{76, 70};
  static constexpr std::string_view about = "Sign- or zero-extends the low b bits of a.";
  using T = Words;
  static auto lane(auto m, auto a, uint32_t b) {
    return szext(static_cast<uint32_t>(a), b, std::is_signed_v<decltype(a)>, m.mods().edge == Edge::Clamp);
  }
};
struct Bmsk : IntRow {
  static constexpr char syntax[] = "bmsk.edge.b32 d, a, b";
  static constexpr Since since{76, 70};
  static constexpr std::string_view about = "A mask of b ones from bit a on.";
  using T = Types<Type::B32>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b) { return bmsk(a, b, m.mods().edge == Edge::Clamp); }
};
using Integer = RowList<AddInt, AddSat, AddPacked, SubInt, SubSat, MulLo, MulHi, MulWide, MadLo, MadHi, MadHiSat, MadWide,
                        Mul24Lo, Mul24Hi, Mad24Lo, Mad24Hi, Mad24HiSat, Sad, DivInt, RemInt, AbsInt, NegInt, MinInt,
                        MaxInt, MinRelu, MaxRelu, MinPackedU, MaxPackedU, MinPackedS, MaxPackedS, Popc, Clz, Bfind, Fns,
                        Brev, Bfe, Bfi, Szext, Bmsk>;

}  // namespace warpbeam::isa::rows
