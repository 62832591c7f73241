// Comparison, selection and extended-precision (carry) instructions.
#pragma once
#include "isa/row.h"

namespace warpbeam::isa::rows {

using Bits = Types<Type::B16, Type::B32, Type::B64>;
using Unsigned = Types<Type::U16, Type::U32, Type::U64>;
using Signed = Types<Type::S16, Type::S32, Type::S64>;

// `c` is there exactly when a boolean operation joins it to the comparison.
constexpr bool boolop_with_c(const Matched& m) {
  return m.operand_count < 0 || (m.mods.boolop != BoolOp::None) == (m.operand_count == 4);
}

// --- setp --------------------------------------------------------------------------------------------------------
struct SetpRow : EngineRow<Kind::Compare, Class::Compare> {
  static constexpr Legal legal = boolop_with_c;
  static constexpr std::string_view about =
      "Compares a and b into p, and the opposite into q; each is joined with c by the boolean operation.";
};
struct SetpPackedRow : EngineRow<Kind::Compare, Class::Compare> {
  static constexpr Legal legal = boolop_with_c;
  static constexpr std::string_view about = "Compares the lower values into p and the upper ones into q.";
};
struct SetpBits : SetpRow { static constexpr char syntax[] = "setp(.eq|.ne){.bool}.type p:pred{|q}, a, b{, c:pred}"; using T = Bits; };
struct SetpUnsigned : SetpRow { static constexpr char syntax[] = "setp(.cmp|.ucmp){.bool}.type p:pred{|q}, a, b{, c:pred}"; using T = Unsigned; };
struct SetpSigned : SetpRow { static constexpr char syntax[] = "setp.cmp{.bool}.type p:pred{|q}, a, b{, c:pred}"; using T = Signed; };
struct SetpF32 : SetpRow { static constexpr char syntax[] = "setp(.cmp|.fcmp){.bool}{.ftz}.f32 p:pred{|q}, a, b{, c:pred}"; using T = Types<Type::F32>; };
struct SetpF64 : SetpRow { static constexpr char syntax[] = "setp(.cmp|.fcmp){.bool}.f64 p:pred{|q}, a, b{, c:pred}"; using T = Types<Type::F64>; static constexpr Since since{14, 13}; };
struct SetpF16 : SetpRow { static constexpr char syntax[] = "setp(.cmp|.fcmp){.bool}{.ftz}.f16 p:pred, a, b{, c:pred}"; using T = Types<Type::F16>; static constexpr Since since{42, 53}; };
struct SetpBf16 : SetpRow { static constexpr char syntax[] = "setp(.cmp|.fcmp){.bool}.bf16 p:pred, a, b{, c:pred}"; using T = Types<Type::BF16>; static constexpr Since since{78, 90}; };
struct SetpF16x2 : SetpPackedRow { static constexpr char syntax[] = "setp(.cmp|.fcmp){.bool}{.ftz}.f16x2 p:pred{|q}, a, b{, c:pred}"; using T = Types<Type::F16x2>; static constexpr Since since{42, 53}; };
struct SetpBf16x2 : SetpPackedRow { static constexpr char syntax[] = "setp(.cmp|.fcmp){.bool}.bf16x2 p:pred{|q}, a, b{, c:pred}"; using T = Types<Type::BF16x2>; static constexpr Since since{78, 90}; };

// --- set ---------------------------------------------------------------------------------------------------------
struct SetRow : EngineRow<Kind::Compare, Class::Compare> {
  static constexpr Legal legal = boolop_with_c;
  static constexpr std::string_view about =
      "Compares a and b; true is all ones in an integer and 1.0 in a floating-point result, for each half of packed types.";
};
using SetResults = Types<Type::U32, Type::S32, Type::F32, Type::F16, Type::BF16>;
struct SetBits : SetRow { static constexpr char syntax[] = "set(.eq|.ne){.bool}.type.atype d, a:atype, b:atype{, c:pred}"; using T = SetResults; using A = Bits; };
struct SetUnsigned : SetRow { static constexpr char syntax[] = "set(.cmp|.ucmp){.bool}.type.atype d, a:atype, b:atype{, c:pred}"; using T = SetResults; using A = Unsigned; };
struct SetSigned : SetRow { static constexpr char syntax[] = "set.cmp{.bool}.type.atype d, a:atype, b:atype{, c:pred}"; using T = SetResults; using A = Signed; };
struct SetF32 : SetRow { static constexpr char syntax[] = "set(.cmp|.fcmp){.bool}{.ftz}.type.f32 d, a:f32, b:f32{, c:pred}"; using T = Types<Type::U32, Type::S32, Type::F32, Type::F16>; };
struct SetF64 : SetRow { static constexpr char syntax[] = "set(.cmp|.fcmp){.bool}.type.f64 d, a:f64, b:f64{, c:pred}"; using T = SetResults; };
struct SetF16 : SetRow {
  static constexpr char syntax[] = "set(.cmp|.fcmp){.bool}{.ftz}.type.f16 d, a:f16, b:f16{, c:pred}";
  using T = Types<Type::U16, Type::U32, Type::S16, Type::S32, Type::F16>;
  static constexpr Since since{42, 53};
};
struct SetBf16 : SetRow {
  static constexpr char syntax[] = "set(.cmp|.fcmp){.bool}.type.bf16 d, a:bf16, b:bf16{, c:pred}";
  using T = Types<Type::U16, Type::U32, Type::S16, Type::S32, Type::BF16>;
  static constexpr Since since{78, 90};
};
struct SetToBf16 : SetRow {
  static constexpr char syntax[] = "set(.cmp|.fcmp){.bool}.bf16.atype d:bf16, a:atype, b:atype{, c:pred}";
  using T = Types<Type::BF16>;
  using A = Types<Type::F32, Type::F16>;
  static constexpr Since since{78, 90};
};
struct SetF16x2 : SetRow {
  static constexpr char syntax[] = "set(.cmp|.fcmp){.bool}{.ftz}.type.f16x2 d, a:f16x2, b:f16x2{, c:pred}";
  using T = Types<Type::U32, Type::S32, Type::F16x2>;
  static constexpr Since since{42, 53};
};
struct SetBf16x2 : SetRow {
  static constexpr char syntax[] = "set(.cmp|.fcmp){.bool}.type.bf16x2 d, a:bf16x2, b:bf16x2{, c:pred}";
  using T = Types<Type::U32, Type::S32, Type::BF16x2>;
  static constexpr Since since{78, 90};
};

// --- selection ---------------------------------------------------------------------------------------------------
using SelectTypes = Types<Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64, Type::F32, Type::F64>;
struct Selp : EngineRow<Kind::Select, Class::Select> {
  static constexpr char syntax[] = "selp.type d, a, b, c:pred";
  using T = SelectTypes;
  static constexpr std::string_view about = "a where c is true, else b.";
};
struct SlctRow : EngineRow<Kind::Select, Class::Select> {
  using T = SelectTypes;
  static constexpr std::string_view about = "a where c is not negative (-0 counts as 0), else b; b where c is NaN.";
};
struct SlctInt : SlctRow { static constexpr char syntax[] = "slct.type.s32 d, a, b, c:s32"; };
struct SlctFloat : SlctRow { static constexpr char syntax[] = "slct{.ftz}.type.f32 d, a, b, c:f32"; };

// --- carry chains ------------------------------------------------------------------------------------------------
using CarryTypes = Types<Type::U32, Type::S32, Type::U64, Type::S64>;
struct CarryAddRow : EngineRow<Kind::Carry, Class::IntAlu> {
  using T = CarryTypes;
  static constexpr std::string_view about = "Adds or subtracts with the carry flag of the instruction before; .cc writes the flag.";
};
struct CarryMadRow : EngineRow<Kind::Carry, Class::IntMul> {
  using T = CarryTypes;
  static constexpr Since since{30, 20};
  static constexpr std::string_view about = "One half of the product, added to c with the carry flag; .cc writes the flag.";
};
struct AddCc : CarryAddRow { static constexpr char syntax[] = "add.cc.type d, a, b"; };
struct Addc : CarryAddRow { static constexpr char syntax[] = "addc{.cc}.type d, a, b"; };
struct SubCc : CarryAddRow { static constexpr char syntax[] = "sub.cc.type d, a, b"; };
struct Subc : CarryAddRow { static constexpr char syntax[] = "subc{.cc}.type d, a, b"; };
struct MadCc : CarryMadRow { static constexpr char syntax[] = "mad(.lo|.hi).cc.type d, a, b, c"; };
struct Madc : CarryMadRow { static constexpr char syntax[] = "madc(.lo|.hi){.cc}.type d, a, b, c"; };

using Compare = RowList<SetpBits, SetpUnsigned, SetpSigned, SetpF32, SetpF64, SetpF16, SetpBf16, SetpF16x2, SetpBf16x2,
                        SetBits, SetUnsigned, SetSigned, SetF32, SetF64, SetF16, SetBf16, SetToBf16, SetF16x2, SetBf16x2,
                        Selp, SlctInt, SlctFloat, AddCc, Addc, SubCc, Subc, MadCc, Madc>;

}  // namespace warpbeam::isa::rows
