// cvt: which conversions exist and which of them need, allow or refuse a rounding, .ftz, .sat, .relu and .satfinite.
// Registers may be wider than the types, except for packed and tf32 forms.
#pragma once
#include "isa/row.h"

namespace warpbeam::isa::rows {

using Integers = Types<Type::U8, Type::U16, Type::U32, Type::U64, Type::S8, Type::S16, Type::S32, Type::S64>;

struct CvtRow : EngineRow<Kind::Convert, Class::Convert> {};
struct CvtBf16Row : CvtRow { static constexpr Since since{78, 90}; };

// Saturation makes sense only where the result cannot hold every operand.
constexpr bool may_overflow(const Matched& m) {
  const bool signed_d = is_signed(m.type), signed_a = is_signed(m.atype);
  if (signed_a && !signed_d) return true;
  return bits_of(m.type) - signed_d < bits_of(m.atype) - signed_a;
}

struct CvtInt : CvtRow {
  static constexpr char syntax[] = "cvt.type.atype d, a:atype";
  using T = Integers;
  using A = Integers;
};
struct CvtIntSat : CvtRow {
  static constexpr char syntax[] = "cvt.sat.type.atype d, a:atype";
  using T = Integers;
  using A = Integers;
  static constexpr Legal legal = may_overflow;
  static constexpr std::string_view about = "Clamps to what the result type can hold, where it cannot hold every operand.";
};

// --- floating point to integer: always saturates; .sat is accepted and says nothing new ---------------------------
struct CvtF32ToInt : CvtRow {
  static constexpr char syntax[] = "cvt.irnd{.ftz}{.sat}.type.f32 d, a:f32";
  using T = Integers;
  static constexpr std::string_view about = "Rounds to an integer; values out of range give the nearest one in range.";
};
struct CvtFloatToInt : CvtRow {
  static constexpr char syntax[] = "cvt.irnd{.sat}.type.atype d, a:atype";
  using T = Integers;
  using A = Types<Type::F16, Type::F64>;
};
struct CvtBf16ToInt : CvtBf16Row {
  static constexpr char syntax[] = "cvt.irnd.type.bf16 d, a:bf16";
  using T = Integers;
};

// --- integer to floating point -----------------------------------------------------------------------------------
struct CvtIntToF32 : CvtRow {
  static constexpr char syntax[] = "cvt.rnd{.ftz}{.sat}.f32.atype d:f32, a:atype";
  using T = Types<Type::F32>;
  using A = Integers;
};
struct CvtIntToFloat : CvtRow {
  static constexpr char syntax[] = "cvt.rnd{.sat}.type.atype d, a:atype";
  using T = Types<Type::F16, Type::F64>;
  using A = Integers;
};
struct CvtIntToBf16 : CvtBf16Row {
  static constexpr char syntax[] = "cvt.rnd.bf16.atype d:bf16, a:atype";
  using T = Types<Type::BF16>;
  using A = Integers;
};

// --- within one floating-point type: rounding to an integral value ------------------------------------------------
struct CvtF32ToF32 : CvtRow {
  static constexpr char syntax[] = "cvt{.irnd}{.ftz}{.sat}.f32.f32 d:f32, a:f32";
  using T = Types<Type::F32>;
  static constexpr std::string_view about = "With a rounding word, the integral value as a floating-point number.";
};
struct CvtF64ToF64 : CvtRow {
  static constexpr char syntax[] = "cvt{.irnd}{.sat}.f64.f64 d:f64, a:f64";
  using T = Types<Type::F64>;
};
struct CvtF16ToF16 : CvtRow {
  static constexpr char syntax[] = "cvt{.irnd}{.sat}.f16.f16 d:f16, a:f16";
  using T = Types<Type::F16>;
};
struct CvtBf16ToBf16 : CvtBf16Row {
  static constexpr char syntax[] = "cvt{.irnd}.bf16.bf16 d:bf16, a:bf16";
  using T = Types<Type::BF16>;
};

// --- to a wider floating-point type ------------------------------------------------------------------------------
struct CvtF16ToF32 : CvtRow {
  static constexpr char syntax[] = "cvt{.ftz}{.sat}.f32.f16 d:f32, a:f16";
  using T = Types<Type::F32>;
};
struct CvtF32ToF64 : CvtRow {
  static constexpr char syntax[] = "cvt{.ftz}{.sat}.f64.f32 d:f64, a:f32";
  using T = Types<Type::F64>;
};
struct CvtF16ToF64 : CvtRow {
  static constexpr char syntax[] = "cvt{.sat}.f64.f16 d:f64, a:f16";
  using T = Types<Type::F64>;
};
struct CvtBf16ToF32 : CvtBf16Row {
  static constexpr char syntax[] = "cvt{.rnd}{.ftz}.f32.bf16 d:f32, a:bf16";
  using T = Types<Type::F32>;
  static constexpr Since since{71, 90};
};
struct CvtBf16ToF64 : CvtBf16Row {
  static constexpr char syntax[] = "cvt{.rnd}.f64.bf16 d:f64, a:bf16";
  using T = Types<Type::F64>;
};

// --- to a narrower one -------------------------------------------------------------------------------------------
struct CvtF64ToF32 : CvtRow {
  static constexpr char syntax[] = "cvt.rnd{.ftz}{.sat}.f32.f64 d:f32, a:f64";
  using T = Types<Type::F32>;
};
struct CvtF64ToF16 : CvtRow {
  static constexpr char syntax[] = "cvt.rnd{.sat}.f16.f64 d:f16, a:f64";
  using T = Types<Type::F16>;
};
struct CvtF64ToBf16 : CvtBf16Row {
  static constexpr char syntax[] = "cvt.rnd.bf16.f64 d:bf16, a:f64";
  using T = Types<Type::BF16>;
};
struct CvtF32ToF16 : CvtRow {
  static constexpr char syntax[] = "cvt.rnd{.ftz}{.sat}.f16.f32 d:f16, a:f32";
  using T = Types<Type::F16>;
};
struct CvtF32ToBf16 : CvtBf16Row {
  static constexpr char syntax[] = "cvt.rnd{.ftz}.bf16.f32 d:bf16, a:f32";
  using T = Types<Type::BF16>;
};
struct CvtF32ToHalf : CvtRow {
  static constexpr char syntax[] = "cvt(.rn|.rz){.relu}{.satfinite}.type.f32 d, a:f32";
  using T = Types<Type::F16, Type::BF16>;
  static constexpr Since since{70, 80};
};
struct CvtHalves : CvtBf16Row {
  static constexpr char syntax[] = "cvt{.rnd}.type.atype d, a:atype";
  using T = Types<Type::F16, Type::BF16>;
  using A = T;
  static constexpr Legal legal = [](const Matched& m) { return m.type != m.atype; };
};
struct CvtTf32 : CvtRow {
  static constexpr char syntax[] = "cvt.rna{.satfinite}.tf32.f32 d:b32, a:f32";
  using T = Types<Type::TF32>;
  static constexpr Since since{70, 80};
};
struct CvtTf32Relu : CvtRow {
  static constexpr char syntax[] = "cvt(.rn|.rz){.relu}.tf32.f32 d:b32, a:f32";
  using T = Types<Type::TF32>;
  static constexpr Since since{78, 90};
};

// --- packed ------------------------------------------------------------------------------------------------------
struct CvtPacked : CvtRow {
  static constexpr char syntax[] = "cvt(.rn|.rz){.relu}{.satfinite}.type.f32 d, a:f32, b:f32";
  using T = Types<Type::F16x2, Type::BF16x2>;
  static constexpr Since since{70, 80};
  static constexpr std::string_view about = "Rounds a into the upper and b into the lower half of d.";
};
struct CvtF32ToFp8 : CvtRow {
  static constexpr char syntax[] = "cvt.rn.satfinite{.relu}.type.f32 d, a:f32, b:f32";
  using T = Types<Type::E4M3x2, Type::E5M2x2>;
  static constexpr Since since{78, 89};
};
struct CvtF16ToFp8 : CvtRow {
  static constexpr char syntax[] = "cvt.rn.satfinite{.relu}.type.f16x2 d, a:f16x2";
  using T = Types<Type::E4M3x2, Type::E5M2x2>;
  static constexpr Since since{78, 89};
};
struct CvtFp8ToF16 : CvtRow {
  static constexpr char syntax[] = "cvt.rn{.relu}.f16x2.atype d:f16x2, a:atype";
  using T = Types<Type::F16x2>;
  using A = Types<Type::E4M3x2, Type::E5M2x2>;
  static constexpr Since since{78, 89};
};
struct CvtPack16 : CvtRow {
  static constexpr char syntax[] = "cvt.pack.sat.type.s32 d:b32, a:s32, b:s32";
  using T = Types<Type::U16, Type::S16>;
  static constexpr Since since{65, 72};
  static constexpr std::string_view about = "Clamps a into the upper and b into the lower half of d.";
};
struct CvtPack8 : CvtRow {
  static constexpr char syntax[] = "cvt.pack.sat.type.s32.b32 d:b32, a:s32, b:s32, c:b32";
  using T = Types<Type::U8, Type::S8>;
  static constexpr Since since{65, 72};
  static constexpr std::string_view about = "c moved up by two fields, with clamped a and b in the fields that become free.";
};
struct CvtPackSubbyte : CvtRow {
  static constexpr char syntax[] = "cvt.pack.sat.subbyte.s32.b32 d:b32, a:s32, b:s32, c:b32";
  static constexpr Since since{65, 75};
};

using Convert = RowList<CvtInt, CvtIntSat, CvtF32ToInt, CvtFloatToInt, CvtBf16ToInt, CvtIntToF32, CvtIntToFloat, CvtIntToBf16,
                        CvtF32ToF32, CvtF64ToF64, CvtF16ToF16, CvtBf16ToBf16, CvtF16ToF32, CvtF32ToF64, CvtF16ToF64,
                        CvtBf16ToF32, CvtBf16ToF64, CvtF64ToF32, CvtF64ToF16, CvtF64ToBf16, CvtF32ToF16, CvtF32ToBf16,
                        CvtF32ToHalf, CvtHalves, CvtTf32, CvtTf32Relu, CvtPacked, CvtF32ToFp8, CvtF16ToFp8, CvtFp8ToF16,
                        CvtPack16, CvtPack8, CvtPackSubbyte>;

}  // namespace warpbeam::isa::rows
