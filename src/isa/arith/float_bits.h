// The shapes of the machine's floating-point formats and one exact rounding step, shared by everything in arith/.
//
// Scalars travel as float, double or, for the 16- and 8-bit formats, as their bits. Every function is total: each input
// has a defined result and none reads the host's rounding mode, which must be the default (nearest even).
#pragma once
#include <bit>
#include <cstdint>

namespace warpbeam::isa {

using uint128 = unsigned __int128;

enum class Rounding : uint8_t { NearestEven, Zero, Down, Up, NearestAway };

inline uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bits_of(double x) { return std::bit_cast<uint64_t>(x); }
inline float f32_of(uint32_t bits) { return std::bit_cast<float>(bits); }
inline double f64_of(uint64_t bits) { return std::bit_cast<double>(bits); }

// The NaN that arithmetic returns. f32 and f16 results never carry an operand's payload.
inline constexpr uint32_t kNanF32 = 0x7fffffff;
inline constexpr uint64_t kNanF64 = 0xfff8000000000000;
inline constexpr uint16_t kNanF16 = 0x7fff;
inline constexpr uint16_t kNanBf16 = 0x7fff;

// A binary format: `precision` counts the hidden bit; exponents are those of a significand in [1, 2).
struct Format {
  int precision;
  int min_exponent;
  int max_exponent;

  constexpr uint64_t infinity() const { return uint64_t(max_exponent - min_exponent + 2) << (precision - 1); }
  constexpr uint64_t sign_bit() const { return std::bit_ceil(infinity()); }
  constexpr uint64_t largest() const { return infinity() - 1; }
};

inline constexpr Format kFormatF16{11, -14, 15};
inline constexpr Format kFormatBf16{8, -126, 127};
inline constexpr Format kFormatTf32{11, -126, 127};
inline constexpr Format kFormatF32{24, -126, 127};
inline constexpr Format kFormatF64{53, -1022, 1023};
inline constexpr Format kFormatE5m2{3, -14, 15};

// Rounds the nonzero value (-1)^negative * significand * 2^exponent to `format`. The caller has or-ed into bit 0 of the
// significand whether anything nonzero lies below it, and keeps at least two bits below the format's precision then.
inline uint64_t round_and_pack(Format format, bool negative, int exponent, uint64_t significand, Rounding rounding) {
  const int zeros = std::countl_zero(significand);
  significand <<= zeros;
  int top = exponent - zeros + 63;
  int drop = 64 - format.precision;
  if (top < format.min_exponent) {
    const int deeper = format.min_exponent - top;
    drop = deeper > 63 - drop ? 64 : drop + deeper;
    // Far below the smallest subnormal only the fact that the value is not zero matters.
    if (deeper > format.precision) significand = 1;
    top = format.min_exponent;
  }
  const uint64_t kept = drop == 64 ? 0 : significand >> drop;
  const uint64_t rest = drop == 64 ? significand : significand & ((uint64_t{1} << drop) - 1);
  const uint64_t half = uint64_t{1} << (drop - 1);
  bool up = false;
  switch (rounding) {
    case Rounding::NearestEven: up = rest > half || (rest == half && (kept & 1)); break;
    case Rounding::NearestAway: up = rest >= half; break;
    case Rounding::Zero: break;
    case Rounding::Down: up = negative && rest != 0; break;
    case Rounding::Up: up = !negative && rest != 0; break;
  }
  // The hidden bit of `kept`, if present, carries into the exponent field and makes the biased exponent right.
  uint64_t magnitude;
  if (top > format.max_exponent) {
    magnitude = format.infinity();
  } else {
    magnitude = (uint64_t(top - format.min_exponent) << (format.precision - 1)) + kept + up;
  }
  if (magnitude >= format.infinity()) {
    const bool to_infinity = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway ||
                             (rounding == Rounding::Down && negative) || (rounding == Rounding::Up && !negative);
    magnitude = to_infinity ? format.infinity() : format.largest();
  }
  return magnitude | (negative ? format.sign_bit() : 0);
}

// A finite nonzero double as sign, exponent and an integer significand below 2^53.
struct Unpacked {
  bool negative;
  int exponent;
  uint64_t significand;
};

inline Unpacked unpack(double x) {
  const uint64_t bits = bits_of(x);
  const int field = int(bits >> 52) & 0x7ff;
  const uint64_t fraction = bits & 0xfffffffffffff;
  return {bits >> 63 != 0, (field ? field : 1) - 1075, field ? fraction | 0x10000000000000 : fraction};
}

inline bool is_nan(float x) { return x != x; }
inline bool is_nan(double x) { return x != x; }
inline bool is_finite(float x) { return (bits_of(x) & 0x7f800000) != 0x7f800000; }
inline bool is_finite(double x) { return (bits_of(x) & 0x7ff0000000000000) != 0x7ff0000000000000; }

inline float canonical(float x) { return x != x ? f32_of(kNanF32) : x; }

// .ftz: subnormals become zero of the same sign, on the way in and on the way out.
inline float flush(float x) { return (bits_of(x) & 0x7f800000) == 0 ? f32_of(bits_of(x) & 0x80000000) : x; }
inline float flush_if(float x, bool ftz) { return ftz ? flush(x) : x; }

// .sat: clamp to [0, 1]; NaN and both zeros give +0.
inline float saturate(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline double saturate(double x) { return x > 0 ? (x < 1 ? x : 1.0) : 0.0; }

inline float magnitude(float x) { return f32_of(bits_of(x) & 0x7fffffff); }
inline double magnitude(double x) { return f64_of(bits_of(x) & 0x7fffffffffffffff); }

// Moves a rounded-to-nearest value one step when the exact value lies on the other side of it.
// `excess` > 0: the rounded value is above the exact one; < 0: below.
[[gnu::always_inline]] inline float step_toward(float rounded, int excess, Rounding rounding) {
  const uint32_t bits = bits_of(rounded);
  const bool negative = bits >> 31;
  const bool too_large_in_magnitude = negative ? excess < 0 : excess > 0;
  const bool step = rounding == Rounding::Zero   ? too_large_in_magnitude
                    : rounding == Rounding::Down ? excess > 0
                    : rounding == Rounding::Up   ? excess < 0
                                                 : false;
  return f32_of(step ? (too_large_in_magnitude ? bits - 1 : bits + 1) : bits);
}

// f64 -> f32 in any rounding; NaN stays NaN (not yet canonical).
[[gnu::always_inline]] inline float round_to_f32(double x, Rounding rounding) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  return step_toward(nearest, (back > x) - (back < x), rounding);
}

// a + b rounded to odd: the last bit says whether the sum was inexact, so that a second rounding to any format at least
// two bits shorter gives what one exact rounding would (Boldo & Melquiond 2008). For values that cannot overflow.
[[gnu::always_inline]] inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  const uint64_t bits = bits_of(sum);
  const bool inexact = error > 0 || error < 0;
  const bool away = (error > 0) == (sum > 0);
  const uint64_t odd = bits & 1 ? bits : away ? bits + 1 : bits - 1;
  return inexact ? f64_of(odd) : sum;
}

// a*b + c rounded to odd in double; exact products only, so the operands are f32 values or shorter.
[[gnu::always_inline]] inline double fma_to_odd(float a, float b, float c) {
  return add_to_odd(static_cast<double>(a) * static_cast<double>(b), c);
}

// f64 -> f32 rounded to odd, the middle step of f64 -> f16 and f64 -> bf16.
[[gnu::always_inline]] inline float round_to_odd_f32(double x) {
  const float cut = round_to_f32(x, Rounding::Zero);
  const double back = cut;
  return back != x && x == x ? f32_of(bits_of(cut) | 1) : cut;
}

}  // namespace warpbeam::isa
