// Half precision: f16 and bf16, one value or two to a register. A row's `lane` sees bits; the arithmetic on one value is
// in arith/half.h and is applied to both halves of the packed types.
#pragma once
#include "isa/arith/half.h"
#include "isa/lane.h"
#include "isa/row.h"
#include "isa/rows/float.h"

namespace warpbeam::isa::rows {

using F16s = Types<Type::F16, Type::F16x2>;
using Bf16s = Types<Type::BF16, Type::BF16x2>;

struct HalfRow : RowBase {
  static constexpr Class cls = Class::F16;
};
struct F16Row : HalfRow {
  using H = F16;
  using T = F16s;
  static constexpr Since since{42, 53};
};
struct Bf16Row : HalfRow {
  using H = Bf16;
  using T = Bf16s;
  static constexpr Since since{78, 90};
};

// `op` on the one value or the two values of the operands.
template <class Op, class U, class... Us>
[[gnu::always_inline]] inline U each_value(Op op, U a, Us... others) {
  if constexpr (sizeof(U) == 2) [[clang::always_inline]] return op(a, others...);
  else return on_halves(op, a, others...);
}
HalfMode half_mode(const auto& m) { return {m.mods().ftz, m.mods().sat, m.mods().relu}; }
template <class Base>
struct HalfAdd : Base {
  static auto lane(auto m, auto a, auto b) {
    return each_value([&](uint16_t x, uint16_t y) { return half_add<typename Base::H>(x, y, half_mode(m)); }, a, b);
  }
};
template <class Base>
struct HalfSub : Base {
  static auto lane(auto m, auto a, auto b) {
    return each_value([&](uint16_t x, uint16_t y) { return half_sub<typename Base::H>(x, y, half_mode(m)); }, a, b);
  }
};
template <class Base>
struct HalfMul : Base {
  static auto lane(auto m, auto a, auto b) {
    return each_value([&](uint16_t x, uint16_t y) { return half_mul<typename Base::H>(x, y, half_mode(m)); }, a, b);
  }
};
template <class Base, bool kRelu = false>
struct HalfFma : Base {
  static auto lane(auto m, auto a, auto b, auto c) {
    HalfMode mode = half_mode(m);
    mode.relu |= kRelu;
    return each_value([&](uint16_t x, uint16_t y, uint16_t z) { return half_fma<typename Base::H>(x, y, z, mode); }, a, b, c);
  }
};
template <class Base>
struct HalfFmaOob : Base {
  static constexpr Since since{81, 90};
  static constexpr std::string_view about =
      "a*b + c rounded once; zero where a or b is the NaN 0xffff that marks values out of bounds.";
  static auto lane(auto m, auto a, auto b, auto c) {
    return each_value(
        [&](uint16_t x, uint16_t y, uint16_t z) { return half_fma_oob<typename Base::H>(x, y, z, half_mode(m)); }, a, b, c);
  }
};
template <class Base>
struct HalfNeg : Base {
  static auto lane(auto m, auto a) {
    return each_value([&](uint16_t x) { return half_neg<typename Base::H>(x, half_mode(m)); }, a);
  }
};
template <class Base>
struct HalfAbs : Base {
  static auto lane(auto m, auto a) {
    return each_value([&](uint16_t x) { return half_abs<typename Base::H>(x, half_mode(m)); }, a);
  }
};
template <class Base, bool kMax>
struct HalfMinMax : Base {
  static constexpr Since since{70, 80};
  static constexpr Legal legal = xorsign_with_abs;
  static auto lane(auto m, auto a, auto b) {
    return each_value([&](uint16_t x, uint16_t y) { return half_min_max<typename Base::H>(x, y, kMax, min_max_mode(m)); }, a, b);
  }
};

struct AddF16 : HalfAdd<F16Row> { static constexpr char syntax[] = "add{.rn}{.ftz}{.sat}.type d, a, b"; };
struct SubF16 : HalfSub<F16Row> { static constexpr char syntax[] = "sub{.rn}{.ftz}{.sat}.type d, a, b"; };
struct MulF16 : HalfMul<F16Row> { static constexpr char syntax[] = "mul{.rn}{.ftz}{.sat}.type d, a, b"; };
struct FmaF16 : HalfFma<F16Row> { static constexpr char syntax[] = "fma.rn{.ftz}{.sat}.type d, a, b, c"; };
// .relu makes negative results +0 and keeps NaN.
struct FmaReluF16 : HalfFma<F16Row, true> {
  static constexpr char syntax[] = "fma.rn{.ftz}.relu.type d, a, b, c";
  static constexpr Since since{70, 80};
};
struct FmaOobF16 : HalfFmaOob<F16Row> { static constexpr char syntax[] = "fma.rn.oob{.relu}.type d, a, b, c"; };
struct NegF16 : HalfNeg<F16Row> { static constexpr char syntax[] = "neg{.ftz}.type d, a"; static constexpr Since since{60, 53}; };
struct AbsF16 : HalfAbs<F16Row> { static constexpr char syntax[] = "abs{.ftz}.type d, a"; static constexpr Since since{65, 53}; };
struct MinF16 : HalfMinMax<F16Row, false> { static constexpr char syntax[] = "min{.ftz}{.NaN}{.xorsign}{.abs}.type d, a, b"; };
struct MaxF16 : HalfMinMax<F16Row, true> { static constexpr char syntax[] = "max{.ftz}{.NaN}{.xorsign}{.abs}.type d, a, b"; };

struct AddBf16 : HalfAdd<Bf16Row> { static constexpr char syntax[] = "add{.rn}.type d, a, b"; };
struct SubBf16 : HalfSub<Bf16Row> { static constexpr char syntax[] = "sub{.rn}.type d, a, b"; };
struct MulBf16 : HalfMul<Bf16Row> { static constexpr char syntax[] = "mul{.rn}.type d, a, b"; };
struct FmaBf16 : HalfFma<Bf16Row> { static constexpr char syntax[] = "fma.rn{.relu}.type d, a, b, c"; static constexpr Since since{70, 80}; };
struct FmaOobBf16 : HalfFmaOob<Bf16Row> { static constexpr char syntax[] = "fma.rn.oob{.relu}.type d, a, b, c"; };
struct NegBf16 : HalfNeg<Bf16Row> { static constexpr char syntax[] = "neg.type d, a"; static constexpr Since since{70, 80}; };
struct AbsBf16 : HalfAbs<Bf16Row> { static constexpr char syntax[] = "abs.type d, a"; static constexpr Since since{70, 80}; };
struct MinBf16 : HalfMinMax<Bf16Row, false> { static constexpr char syntax[] = "min{.NaN}{.xorsign}{.abs}.type d, a, b"; };
struct MaxBf16 : HalfMinMax<Bf16Row, true> { static constexpr char syntax[] = "max{.NaN}{.xorsign}{.abs}.type d, a, b"; };

using HalfPrecision = RowList<AddF16, SubF16, MulF16, FmaF16, FmaReluF16, FmaOobF16, NegF16, AbsF16, MinF16, MaxF16, AddBf16,
                              SubBf16, MulBf16, FmaBf16, FmaOobBf16, NegBf16, AbsBf16, MinBf16, MaxBf16>;

}  // namespace warpbeam::isa::rows
