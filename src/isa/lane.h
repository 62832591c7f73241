// The lane machine of the interpreter: what a row's `lane` function computes with, one lane at a time inside a loop over
// 32 lanes that the compiler vectorises. `lane` functions use only these operations, operators and m.select, so that an
// engine may hand them other value types than plain numbers.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "isa/mods.h"
#include "isa/types.h"

namespace warpbeam::isa {

inline constexpr uint32_t kCanonicalNanF32 = 0x7fffffffu;

inline float flush(float x) {
  uint32_t b = std::bit_cast<uint32_t>(x);
  return (b & 0x7f800000u) ? x : std::bit_cast<float>(b & 0x80000000u);
}

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
  static T select(bool c, T a, T b) { return c ? a : b; }

  // Inputs and results of f32 arithmetic: .ftz flushes subnormals keeping the sign, .sat clamps to [0, 1] with NaN -> 0,
  // and every NaN result is the canonical one.
  float in(float x) const { return mods().ftz ? flush(x) : x; }
  float out(float r) const {
    r = r != r ? std::bit_cast<float>(kCanonicalNanF32) : r;
    if (mods().ftz) r = flush(r);
    if (mods().sat) r = saturate(r);
    return r;
  }
  // f64 has no .ftz and no .sat; NaN payloads propagate quieted.
  double in(double x) const { return x; }
  double out(double r) const { return r; }
  static float saturate(float r) { return r > 0.0f ? (r < 1.0f ? r : 1.0f) : 0.0f; }

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
    if constexpr (sizeof(T) == 8) {
      using W = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> 64);
    } else {
      using W = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (sizeof(T) * 8));
    }
  }
  // Division by zero and the overflow of INT_MIN / -1 do not trap on a GPU: they give these values.
  template <class T>
  static T div(T a, T b) {
    if (b == 0) return static_cast<T>(~T(0));
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return static_cast<T>(-std::make_unsigned_t<T>(a));
    return static_cast<T>(a / b);
  }
  template <class T>
  static T rem(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return T(0);
    return static_cast<T>(a % b);
  }
};

}  // namespace warpbeam::isa
