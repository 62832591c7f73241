// The lane machine of the interpreter: what a row's `lane` function computes with, one lane at a time inside a loop over
// 32 lanes that the compiler vectorises. `lane` functions use only these operations, operators and m.select, so that an
// engine may hand them other value types than plain numbers.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "isa/arith/float_bits.h"
#include "isa/arith/integer.h"
#include "isa/mods.h"
#include "isa/types.h"

namespace warpbeam::isa {

// Mods known when the loop is compiled: the common forms of a row.
template <Mods kMods>
struct FixedMods {
  static constexpr Mods mods() { return kMods; }
};
// Mods read from the instruction: every other form, through the same `lane`.
struct AnyMods {
  Mods value;
  const Mods& mods() const { return value; }
};

template <class M>
struct LaneMachine : M {
  using M::mods;
  explicit constexpr LaneMachine(M m) : M(m) {}

  template <class T>
  static T select(bool c, T a, T b) {
    return c ? a : b;
  }

  // Counts past the width give zero (or all sign bits) in PTX but are undefined in C++, hence the selects.
  template <class T>
  static T shl(T a, uint32_t n) {
    constexpr uint32_t w = sizeof(T) * 8;
    return n < w ? static_cast<T>(a << (n & (w - 1))) : T(0);
  }
  template <class T>
  static T shr(T a, uint32_t n) {
    constexpr uint32_t w = sizeof(T) * 8;
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (n < w ? n : w - 1));
    return n < w ? static_cast<T>(a >> (n & (w - 1))) : T(0);
  }
  template <class T>
  static T mul_hi(T a, T b) {
    return isa::mul_hi(a, b);
  }
  template <class T>
  static T div(T a, T b) {
    return div_int(a, b);
  }
  template <class T>
  static T rem(T a, T b) {
    return rem_int(a, b);
  }
};

}  // namespace warpbeam::isa
