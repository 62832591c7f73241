// Logic and shift instructions.
#pragma once
#include "isa/lane.h"
#include "isa/row.h"

namespace warpbeam::isa::rows {

using LogicTypes = Types<Type::B16, Type::B32, Type::B64, Type::Pred>;
using ShiftBits = Types<Type::B16, Type::B32, Type::B64>;

struct LogicRow : RowBase {
  static constexpr Class cls = Class::Logic;
};
struct ShiftRow : RowBase {
  static constexpr Class cls = Class::Shift;
};

struct And : LogicRow {
  static constexpr char syntax[] = "and.type d, a, b";
  using T = LogicTypes;
  static auto lane(auto m, auto a, auto b) { return a & b; }
};
struct Or : LogicRow {
  static constexpr char syntax[] = "or.type d, a, b";
  using T = LogicTypes;
  static auto lane(auto m, auto a, auto b) { return a | b; }
};
struct Xor : LogicRow {
  static constexpr char syntax[] = "xor.type d, a, b";
  using T = LogicTypes;
  static auto lane(auto m, auto a, auto b) { return a ^ b; }
};
struct Not : LogicRow {
  static constexpr char syntax[] = "not.type d, a";
  using T = LogicTypes;
  static auto lane(auto m, auto a) {
    if constexpr (sizeof(a) == 1) return !a;
    else return ~a;
  }
};
struct Cnot : LogicRow {
  static constexpr char syntax[] = "cnot.type d, a";
  static constexpr std::string_view about = "1 where a is zero, else 0: C's logical negation.";
  using T = ShiftBits;
  static auto lane(auto m, auto a) { return decltype(a)(a == 0); }
};
struct Lop3 : LogicRow {
  static constexpr char syntax[] = "lop3.b32 d, a, b, c, #lut:u32";
  static constexpr Since since{43, 50};
  static constexpr std::string_view about = "Any function of three bits, given as its truth table (a is 0xf0, b 0xcc, c 0xaa). lop3.or and lop3.and, with d|p and a predicate, are read as this and a setp.";
  using T = Types<Type::B32>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b, uint32_t c, uint32_t lut) { return lop3(a, b, c, lut); }
};
struct Shl : ShiftRow {
  static constexpr char syntax[] = "shl.type d, a, b:u32";
  using T = ShiftBits;
  static auto lane(auto m, auto a, uint32_t b) { return m.shl(a, b); }
};
struct Shr : ShiftRow {
  static constexpr char syntax[] = "shr.type d, a, b:u32";
  using T = Types<Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>;
  static auto lane(auto m, auto a, uint32_t b) { return m.shr(a, b); }
};
struct ShfL : ShiftRow {
  static constexpr char syntax[] = "shf.l.edge.b32 d, a, b, c:u32";
  static constexpr Since since{31, 32};
  static constexpr std::string_view about = "The high word of the 64-bit value b:a shifted left by c.";
  using T = Types<Type::B32>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b, uint32_t c) { return shf_left(a, b, c, m.mods().edge == Edge::Clamp); }
};
struct ShfR : ShiftRow {
  static constexpr char syntax[] = "shf.r.edge.b32 d, a, b, c:u32";
  static constexpr Since since{31, 32};
  static constexpr std::string_view about = "The low word of the 64-bit value b:a shifted right by c.";
  using T = Types<Type::B32>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b, uint32_t c) { return shf_right(a, b, c, m.mods().edge == Edge::Clamp); }
};
struct Prmt : LogicRow {
  static constexpr char syntax[] = "prmt.b32{.permute} d, a, b, c:u32";
  static constexpr Since since{20, 20};
  static constexpr std::string_view about = "Four bytes picked from the eight of b:a; selector bit 3 repeats the byte's sign instead.";
  using T = Types<Type::B32>;
  static uint32_t lane(auto m, uint32_t a, uint32_t b, uint32_t c) {
    // The modes stand in the same order in both lists.
    return prmt(a, b, c, static_cast<PermuteMode>(m.mods().permute));
  }
};

using Logic = RowList<And, Or, Xor, Not, Cnot, Lop3, Shl, Shr, ShfL, ShfR, Prmt>;

}  // namespace warpbeam::isa::rows
