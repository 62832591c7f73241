// PTX types and the C++ types that hold one lane of them.
#pragma once
#include <cstdint>
#include <string_view>

namespace warpbeam::isa {

enum class Type : uint8_t {
  None, Pred,
  B8, B16, B32, B64, B128,
  U8, U16, U32, U64,
  S8, S16, S32, S64,
  F16, F16x2, BF16, BF16x2, F32, F64, TF32,
  U16x2, S16x2,
  E4M3x2, E5M2x2,
  F32x2,
  U4, S4, B1, E4M3, E5M2,  // elements of matrices: no register holds one by itself
};
inline constexpr int kTypeCount = static_cast<int>(Type::E5M2) + 1;

enum class TypeKind : uint8_t { None, Pred, Bits, Unsigned, Signed, Float };

struct TypeFacts {
  std::string_view name;  // with the dot, as PTX spells it
  uint8_t bits;
  TypeKind kind;
};

inline constexpr TypeFacts kTypes[kTypeCount] = {
    {"", 0, TypeKind::None},          {".pred", 1, TypeKind::Pred},
    {".b8", 8, TypeKind::Bits},       {".b16", 16, TypeKind::Bits},     {".b32", 32, TypeKind::Bits},
    {".b64", 64, TypeKind::Bits},     {".b128", 128, TypeKind::Bits},
    {".u8", 8, TypeKind::Unsigned},   {".u16", 16, TypeKind::Unsigned}, {".u32", 32, TypeKind::Unsigned},
    {".u64", 64, TypeKind::Unsigned},
    {".s8", 8, TypeKind::Signed},     {".s16", 16, TypeKind::Signed},   {".s32", 32, TypeKind::Signed},
    {".s64", 64, TypeKind::Signed},
    {".f16", 16, TypeKind::Float},    {".f16x2", 32, TypeKind::Float},  {".bf16", 16, TypeKind::Float},
    {".bf16x2", 32, TypeKind::Float}, {".f32", 32, TypeKind::Float},    {".f64", 64, TypeKind::Float},
    {".tf32", 32, TypeKind::Float},
    {".u16x2", 32, TypeKind::Unsigned}, {".s16x2", 32, TypeKind::Signed},
    {".e4m3x2", 16, TypeKind::Float}, {".e5m2x2", 16, TypeKind::Float},
    {".f32x2", 64, TypeKind::Float},
    {".u4", 4, TypeKind::Unsigned},   {".s4", 4, TypeKind::Signed},     {".b1", 1, TypeKind::Bits},
    {".e4m3", 8, TypeKind::Float},    {".e5m2", 8, TypeKind::Float},
};

constexpr const TypeFacts& facts(Type t) { return kTypes[static_cast<int>(t)]; }
constexpr int bits_of(Type t) { return facts(t).bits; }
constexpr int bytes_of(Type t) { return t == Type::Pred ? 1 : facts(t).bits / 8; }
constexpr std::string_view name_of(Type t) { return facts(t).name; }
constexpr bool is_signed(Type t) { return facts(t).kind == TypeKind::Signed; }
constexpr bool is_float(Type t) { return facts(t).kind == TypeKind::Float; }

// May a register or a variable be declared of it?
constexpr bool is_storable(Type t) { return t != Type::None && t < Type::U4; }

constexpr Type type_named(std::string_view token) {
  for (int i = 1; i < kTypeCount; ++i)
    if (kTypes[i].name == token) return static_cast<Type>(i);
  return Type::None;
}

// The type of twice the width: what mul.wide writes.
constexpr Type widened(Type t) {
  switch (t) {
    case Type::U8: return Type::U16;
    case Type::S8: return Type::S16;
    case Type::U16: return Type::U32;
    case Type::S16: return Type::S32;
    case Type::U32: return Type::U64;
    case Type::S32: return Type::S64;
    default: return Type::None;
  }
}

// Half-precision lanes are carried as their bits: the arithmetic is in arith/half.h.
struct Bits128 {
  uint64_t lo, hi;
  bool operator==(const Bits128&) const = default;
};

template <Type> struct CppType;
template <> struct CppType<Type::Pred> { using type = bool; };
template <> struct CppType<Type::B8> { using type = uint8_t; };
template <> struct CppType<Type::B16> { using type = uint16_t; };
template <> struct CppType<Type::B32> { using type = uint32_t; };
template <> struct CppType<Type::B64> { using type = uint64_t; };
template <> struct CppType<Type::B128> { using type = Bits128; };
template <> struct CppType<Type::U8> { using type = uint8_t; };
template <> struct CppType<Type::U16> { using type = uint16_t; };
template <> struct CppType<Type::U32> { using type = uint32_t; };
template <> struct CppType<Type::U64> { using type = uint64_t; };
template <> struct CppType<Type::S8> { using type = int8_t; };
template <> struct CppType<Type::S16> { using type = int16_t; };
template <> struct CppType<Type::S32> { using type = int32_t; };
template <> struct CppType<Type::S64> { using type = int64_t; };
template <> struct CppType<Type::F16> { using type = uint16_t; };
template <> struct CppType<Type::BF16> { using type = uint16_t; };
template <> struct CppType<Type::F16x2> { using type = uint32_t; };
template <> struct CppType<Type::BF16x2> { using type = uint32_t; };
template <> struct CppType<Type::F32> { using type = float; };
template <> struct CppType<Type::F64> { using type = double; };
template <> struct CppType<Type::TF32> { using type = uint32_t; };
template <> struct CppType<Type::U16x2> { using type = uint32_t; };
template <> struct CppType<Type::S16x2> { using type = uint32_t; };
template <> struct CppType<Type::E4M3x2> { using type = uint16_t; };
template <> struct CppType<Type::E5M2x2> { using type = uint16_t; };
template <> struct CppType<Type::F32x2> { using type = uint64_t; };
template <Type t> using cpp = typename CppType<t>::type;

}  // namespace warpbeam::isa
