// Floating point: f32 and f64 are two rows where the manual has two syntax lines.
#pragma once
#include <cmath>

#include "isa/arith/round.h"
#include "isa/lane.h"
#include "isa/row.h"

namespace warpbeam::isa::rows {

using F32 = Types<Type::F32>;
using F64 = Types<Type::F64>;

struct F32AddRow : RowBase { static constexpr Class cls = Class::F32Add; using T = F32; };
struct F32MulRow : RowBase { static constexpr Class cls = Class::F32Mul; using T = F32; };
struct F32FmaRow : RowBase { static constexpr Class cls = Class::F32Fma; using T = F32; };
struct F64AddRow : RowBase { static constexpr Class cls = Class::F64Add; using T = F64; static constexpr Since since{14, 13}; };
struct F64MulRow : RowBase { static constexpr Class cls = Class::F64Mul; using T = F64; static constexpr Since since{14, 13}; };
struct F64FmaRow : RowBase { static constexpr Class cls = Class::F64Fma; using T = F64; static constexpr Since since{14, 13}; };
struct F32SpecialRow : RowBase { static constexpr Class cls = Class::Special; using T = F32; };
struct F64SpecialRow : RowBase { static constexpr Class cls = Class::Special; using T = F64; };

constexpr Rounding rounding_of(Rnd r) {
  return r == Rnd::Rz ? Rounding::Zero : r == Rnd::Rm ? Rounding::Down : r == Rnd::Rp ? Rounding::Up : Rounding::NearestEven;
}
FloatMode float_mode(const auto& m) { return {rounding_of(m.mods().rnd), m.mods().ftz, m.mods().sat}; }
Rounding rounding(const auto& m) { return rounding_of(m.mods().rnd); }

struct AddF32 : F32AddRow {
  static constexpr char syntax[] = "add{.rnd}{.ftz}{.sat}.f32 d, a, b";
  static auto lane(auto m, auto a, auto b) { return add_f32(a, b, float_mode(m)); }
};
struct SubF32 : F32AddRow {
  static constexpr char syntax[] = "sub{.rnd}{.ftz}{.sat}.f32 d, a, b";
  static auto lane(auto m, auto a, auto b) { return sub_f32(a, b, float_mode(m)); }
};
struct MulF32 : F32MulRow {
  static constexpr char syntax[] = "mul{.rnd}{.ftz}{.sat}.f32 d, a, b";
  static auto lane(auto m, auto a, auto b) { return mul_f32(a, b, float_mode(m)); }
};
struct FmaF32 : F32FmaRow {
  static constexpr char syntax[] = "fma.rnd{.ftz}{.sat}.f32 d, a, b, c";
  static constexpr Since since{20, 20};
  static auto lane(auto m, auto a, auto b, auto c) { return fma_f32(a, b, c, float_mode(m)); }
};
// On sm_20 and later mad is fma; the rounding word is then required, but compilers for sm_1x left it out.
struct MadF32 : F32FmaRow {
  static constexpr char syntax[] = "mad{.rnd}{.ftz}{.sat}.f32 d, a, b, c";
  static auto lane(auto m, auto a, auto b, auto c) { return fma_f32(a, b, c, float_mode(m)); }
};
struct DivF32 : F32SpecialRow {
  static constexpr char syntax[] = "div.rnd{.ftz}.f32 d, a, b";
  static constexpr Since since{20, 20};
  static auto lane(auto m, auto a, auto b) { return div_f32(a, b, float_mode(m)); }
};
struct RcpF32 : F32SpecialRow {
  static constexpr char syntax[] = "rcp.rnd{.ftz}.f32 d, a";
  static constexpr Since since{20, 20};
  static auto lane(auto m, auto a) { return rcp_f32(a, float_mode(m)); }
};
struct SqrtF32 : F32SpecialRow {
  static constexpr char syntax[] = "sqrt.rnd{.ftz}.f32 d, a";
  static constexpr Since since{20, 20};
  static auto lane(auto m, auto a) { return sqrt_f32(a, float_mode(m)); }
};
struct NegF32 : F32AddRow {
  static constexpr char syntax[] = "neg{.ftz}.f32 d, a";
  static auto lane(auto m, auto a) { return neg_f32(a, m.mods().ftz); }
};
struct AbsF32 : F32AddRow {
  static constexpr char syntax[] = "abs{.ftz}.f32 d, a";
  static auto lane(auto m, auto a) { return abs_f32(a, m.mods().ftz); }
};

// `.xorsign.abs` are two words that stand only together.
constexpr bool xorsign_with_abs(const Matched& m) { return m.mods.xorsign == m.mods.abs; }
MinMaxMode min_max_mode(const auto& m) { return {m.mods().ftz, m.mods().nan, m.mods().xorsign}; }

struct MinF32 : F32AddRow {
  static constexpr char syntax[] = "min{.ftz}{.NaN}{.xorsign}{.abs}.f32 d, a, b";
  static constexpr Legal legal = xorsign_with_abs;
  static auto lane(auto m, auto a, auto b) { return min_max_f32(a, b, false, min_max_mode(m)); }
};
struct MaxF32 : F32AddRow {
  static constexpr char syntax[] = "max{.ftz}{.NaN}{.xorsign}{.abs}.f32 d, a, b";
  static constexpr Legal legal = xorsign_with_abs;
  static auto lane(auto m, auto a, auto b) { return min_max_f32(a, b, true, min_max_mode(m)); }
};
inline float copysign_of(float a, float b) { return copysign_f32(a, b); }
inline double copysign_of(double a, double b) { return copysign_f64(a, b); }
struct Copysign : F32AddRow {
  static constexpr char syntax[] = "copysign.type d, a, b";
  static constexpr Since since{20, 20};
  static constexpr std::string_view about = "The magnitude of b with the sign of a.";
  using T = Types<Type::F32, Type::F64>;
  static auto lane(auto m, auto a, auto b) { return copysign_of(a, b); }
};

struct AddF64 : F64AddRow {
  static constexpr char syntax[] = "add{.rnd}.f64 d, a, b";
  static auto lane(auto m, auto a, auto b) { return add_f64(a, b, rounding(m)); }
};
struct SubF64 : F64AddRow {
  static constexpr char syntax[] = "sub{.rnd}.f64 d, a, b";
  static auto lane(auto m, auto a, auto b) { return sub_f64(a, b, rounding(m)); }
};
struct MulF64 : F64MulRow {
  static constexpr char syntax[] = "mul{.rnd}.f64 d, a, b";
  static auto lane(auto m, auto a, auto b) { return mul_f64(a, b, rounding(m)); }
};
struct FmaF64 : F64FmaRow {
  static constexpr char syntax[] = "fma.rnd.f64 d, a, b, c";
  static auto lane(auto m, auto a, auto b, auto c) { return fma_f64(a, b, c, rounding(m)); }
};
struct MadF64 : F64FmaRow {
  static constexpr char syntax[] = "mad.rnd.f64 d, a, b, c";
  static auto lane(auto m, auto a, auto b, auto c) { return fma_f64(a, b, c, rounding(m)); }
};
struct DivF64 : F64SpecialRow {
  static constexpr char syntax[] = "div.rnd.f64 d, a, b";
  static auto lane(auto m, auto a, auto b) { return div_f64(a, b, rounding(m)); }
};
struct RcpF64 : F64SpecialRow {
  static constexpr char syntax[] = "rcp.rnd.f64 d, a";
  static auto lane(auto m, auto a) { return rcp_f64(a, rounding(m)); }
};
struct SqrtF64 : F64SpecialRow {
  static constexpr char syntax[] = "sqrt.rnd.f64 d, a";
  static auto lane(auto m, auto a) { return sqrt_f64(a, rounding(m)); }
};
struct NegF64 : F64AddRow {
  static constexpr char syntax[] = "neg.f64 d, a";
  static auto lane(auto m, auto a) { return neg_f64(a); }
};
struct AbsF64 : F64AddRow {
  static constexpr char syntax[] = "abs.f64 d, a";
  static auto lane(auto m, auto a) { return abs_f64(a); }
};
struct MinF64 : F64AddRow {
  static constexpr char syntax[] = "min.f64 d, a, b";
  static auto lane(auto m, auto a, auto b) { return min_f64(a, b); }
};
struct MaxF64 : F64AddRow {
  static constexpr char syntax[] = "max.f64 d, a, b";
  static auto lane(auto m, auto a, auto b) { return max_f64(a, b); }
};

struct Testp : RowBase {
  static constexpr char syntax[] = "testp.test.type d:pred, a";
  static constexpr Class cls = Class::Compare;
  static constexpr Since since{20, 20};
  using T = Types<Type::F32, Type::F64>;
  static bool lane(auto m, auto a) {
    switch (m.mods().test) {
      case TestKind::Finite: return std::isfinite(a);
      case TestKind::Infinite: return std::isinf(a);
      case TestKind::Number: return a == a;
      case TestKind::NotANumber: return a != a;
      case TestKind::Normal: return std::isnormal(a) || a == 0;  // the device counts zero in
      case TestKind::Subnormal: return a != 0 && std::isfinite(a) && !std::isnormal(a);
      case TestKind::None: return false;
    }
    return false;
  }
};

using Float = RowList<AddF32, SubF32, MulF32, FmaF32, MadF32, DivF32, RcpF32, SqrtF32, NegF32, AbsF32, MinF32, MaxF32,
                      Copysign, AddF64, SubF64, MulF64, FmaF64, MadF64, DivF64, RcpF64, SqrtF64, NegF64, AbsF64, MinF64,
                      MaxF64, Testp>;

}  // namespace warpbeam::isa::rows
