// f32 and f64 arithmetic in every rounding PTX knows, with .ftz and .sat.
//
// f32 goes through double: products are exact there, sums are rounded to odd, and quotients and roots of 24-bit
// operands cannot come close enough to a rounding boundary for the second rounding to matter. f64 in directed roundings
// is done in 128-bit integers; the default rounding is the host's own operation. No rounding-mode register is touched,
// so lane loops vectorise and nothing depends on what the compiler moves.
#pragma once
#include <cmath>

#include "isa/arith/float_bits.h"

namespace warpbeam::isa {

struct FloatMode {
  Rounding rounding = Rounding::NearestEven;
  bool ftz = false;
  bool sat = false;
};

inline float finish(float x, FloatMode mode) {
  x = flush_if(canonical(x), mode.ftz);
  return mode.sat ? saturate(x) : x;
}

// .ftz decides on the value rounded to 24 bits as if exponents had no lower end: results that only reach the smallest
// normal number because subnormals are coarser are flushed. `exact` is the value before rounding (or rounded to odd).
inline float flush_result(float rounded, double exact, Rounding rounding) {
  constexpr double kSmallest = 0x1p-126;
  const bool away = rounding == (exact < 0 ? Rounding::Down : Rounding::Up);
  const double limit = rounding == Rounding::NearestEven ? kSmallest * (1 - 0x1p-25)
                       : away                            ? kSmallest * (1 - 0x1p-24) * (1 + 0x1p-52)
                                                         : kSmallest;
  return magnitude(exact) < limit ? f32_of(bits_of(rounded) & 0x80000000) : rounded;
}

inline float finish(float rounded, double exact, FloatMode mode) {
  if (mode.ftz) rounded = flush_result(rounded, exact, mode.rounding);
  rounded = canonical(rounded);
  return mode.sat ? saturate(rounded) : rounded;
}

// Rounded down, x + (-x) and +0 + -0 are -0.
template <class F>
inline F zero_sum(F sum, F a, F b, Rounding rounding) {
  const bool minus = rounding == Rounding::Down && sum == 0 && (std::signbit(a) || std::signbit(b));
  return minus ? -F(0) : sum;
}

inline float add_f32(float a, float b, FloatMode mode) {
  a = flush_if(a, mode.ftz);
  b = flush_if(b, mode.ftz);
  // Sums near the smallest normal number are exact, so .ftz needs no look at the unrounded value.
  if (mode.rounding == Rounding::NearestEven) return finish(a + b, mode);
  const float sum = round_to_f32(add_to_odd(a, b), mode.rounding);
  return finish(zero_sum(sum, a, b, mode.rounding), mode);
}

inline float sub_f32(float a, float b, FloatMode mode) { return add_f32(a, -b, mode); }

inline float mul_f32(float a, float b, FloatMode mode) {
  a = flush_if(a, mode.ftz);
  b = flush_if(b, mode.ftz);
  if (mode.rounding == Rounding::NearestEven && !mode.ftz) return finish(a * b, mode);
  const double product = static_cast<double>(a) * b;
  return finish(round_to_f32(product, mode.rounding), product, mode);
}

inline float fma_f32(float a, float b, float c, FloatMode mode) {
  a = flush_if(a, mode.ftz);
  b = flush_if(b, mode.ftz);
  c = flush_if(c, mode.ftz);
#ifdef __FMA__
  if (mode.rounding == Rounding::NearestEven && !mode.ftz) return finish(__builtin_fmaf(a, b, c), mode);
#endif
  const double product = static_cast<double>(a) * b;
  const double sum = zero_sum(add_to_odd(product, c), product, static_cast<double>(c), mode.rounding);
  return finish(round_to_f32(sum, mode.rounding), sum, mode);
}

inline float div_f32(float a, float b, FloatMode mode) {
  a = flush_if(a, mode.ftz);
  b = flush_if(b, mode.ftz);
  if (mode.rounding == Rounding::NearestEven && !mode.ftz) return finish(a / b, mode);
  const double quotient = static_cast<double>(a) / b;
  return finish(round_to_f32(quotient, mode.rounding), quotient, mode);
}

inline float rcp_f32(float a, FloatMode mode) { return div_f32(1.0f, a, mode); }

inline float sqrt_f32(float a, FloatMode mode) {
  a = flush_if(a, mode.ftz);
  if (mode.rounding == Rounding::NearestEven) return finish(__builtin_sqrtf(a), mode);
  return finish(round_to_f32(__builtin_sqrt(static_cast<double>(a)), mode.rounding), mode);
}

// f64 results carry the payload of a NaN operand, made quiet: of b if it is a NaN, else of c, else of a. Invalid
// operations on numbers give 0xfff8000000000000.
inline double quiet(double x) { return f64_of(bits_of(x) | 0x8000000000000); }

inline double nan_result(double result, double a) { return a != a ? quiet(a) : result != result ? f64_of(kNanF64) : result; }
inline double nan_result(double result, double a, double b) { return b != b ? quiet(b) : nan_result(result, a); }
inline double nan_result(double result, double a, double b, double c) {
  return b != b ? quiet(b) : c != c ? quiet(c) : nan_result(result, a);
}

namespace detail {

inline bool all_finite_nonzero(double a, double b) { return is_finite(a) && is_finite(b) && a != 0 && b != 0; }

// Normalises a 128-bit significand to 64 bits with a sticky last bit.
inline double pack_f64(bool negative, int exponent, uint128 significand, Rounding rounding) {
  const uint64_t high = uint64_t(significand >> 64);
  if (high != 0) {
    const int shift = 64 - std::countl_zero(high);
    const uint128 lost = significand & ((uint128{1} << shift) - 1);
    significand = significand >> shift | (lost != 0);
    exponent += shift;
  }
  return f64_of(round_and_pack(kFormatF64, negative, exponent, uint64_t(significand), rounding));
}

inline int leading_zeros(uint128 x) {
  const uint64_t high = uint64_t(x >> 64);
  return high ? std::countl_zero(high) : 64 + std::countl_zero(uint64_t(x));
}

// a*b + c for finite a, b, c with a*b and c nonzero.
inline double fma_f64_exact(double a, double b, double c, Rounding rounding) {
  const Unpacked ua = unpack(a), ub = unpack(b), uc = unpack(c);
  uint128 product = uint128{ua.significand} * ub.significand;
  uint128 addend = uc.significand;
  bool product_negative = ua.negative != ub.negative;
  bool addend_negative = uc.negative;
  // Both leading ones go to bit 125, which leaves room for the carry and many bits below for the sticky one.
  int product_shift = leading_zeros(product) - 2, addend_shift = leading_zeros(addend) - 2;
  product <<= product_shift;
  addend <<= addend_shift;
  int product_exponent = ua.exponent + ub.exponent - product_shift;
  int addend_exponent = uc.exponent - addend_shift;
  if (product_exponent < addend_exponent) {
    std::swap(product, addend);
    std::swap(product_exponent, addend_exponent);
    std::swap(product_negative, addend_negative);
  }
  const int gap = product_exponent - addend_exponent;
  if (gap > 126) {
    addend = 1;
  } else if (gap > 0) {
    const uint128 lost = addend & ((uint128{1} << gap) - 1);
    addend = addend >> gap | (lost != 0);
  }
  if (product_negative == addend_negative) return pack_f64(product_negative, product_exponent, product + addend, rounding);
  if (product == addend) return rounding == Rounding::Down ? -0.0 : 0.0;
  if (product > addend) return pack_f64(product_negative, product_exponent, product - addend, rounding);
  return pack_f64(addend_negative, product_exponent, addend - product, rounding);
}

}  // namespace detail

inline double fma_f64(double a, double b, double c, Rounding rounding) {
  if (rounding == Rounding::NearestEven) return nan_result(__builtin_fma(a, b, c), a, b, c);
  if (detail::all_finite_nonzero(a, b) && is_finite(c) && c != 0) return detail::fma_f64_exact(a, b, c, rounding);
  if (detail::all_finite_nonzero(a, b) && c == 0) {
    const Unpacked ua = unpack(a), ub = unpack(b);
    return detail::pack_f64(ua.negative != ub.negative, ua.exponent + ub.exponent, uint128{ua.significand} * ub.significand, rounding);
  }
  // A finite product that overflows must not meet an infinite c.
  if (!is_finite(c) && is_finite(a) && is_finite(b)) return nan_result(c, a, b, c);
  // A zero product or an infinite factor: the sum is exact.
  const double product = a * b;
  return nan_result(zero_sum(product + c, product, c, rounding), a, b, c);
}

inline double add_f64(double a, double b, Rounding rounding) {
  if (rounding == Rounding::NearestEven) return nan_result(a + b, a, b);
  if (detail::all_finite_nonzero(a, b)) return detail::fma_f64_exact(a, 1.0, b, rounding);
  return nan_result(zero_sum(a + b, a, b, rounding), a, b);
}

inline double sub_f64(double a, double b, Rounding rounding) { return b != b ? nan_result(a - b, a, b) : add_f64(a, -b, rounding); }

inline double mul_f64(double a, double b, Rounding rounding) {
  if (rounding == Rounding::NearestEven || !detail::all_finite_nonzero(a, b)) return nan_result(a * b, a, b);
  const Unpacked ua = unpack(a), ub = unpack(b);
  return detail::pack_f64(ua.negative != ub.negative, ua.exponent + ub.exponent, uint128{ua.significand} * ub.significand, rounding);
}

inline double div_f64(double a, double b, Rounding rounding) {
  if (rounding == Rounding::NearestEven || !detail::all_finite_nonzero(a, b)) return nan_result(a / b, b, a);
  const Unpacked ua = unpack(a), ub = unpack(b);
  const int a_shift = std::countl_zero(ua.significand) - 1, b_shift = std::countl_zero(ub.significand) - 1;
  const uint64_t divisor = ub.significand << b_shift;
  const uint128 dividend = uint128{ua.significand << a_shift} << 62;
  const uint128 quotient = dividend / divisor;
  const bool inexact = dividend % divisor != 0;
  return detail::pack_f64(ua.negative != ub.negative, ua.exponent - a_shift - 63 - ub.exponent + b_shift, quotient << 1 | inexact,
                          rounding);
}

inline double rcp_f64(double a, Rounding rounding) { return div_f64(1.0, a, rounding); }

inline double sqrt_f64(double a, Rounding rounding) {
  const double nearest = __builtin_sqrt(a);
  if (rounding == Rounding::NearestEven || !(a > 0) || !is_finite(a)) return nan_result(nearest, a);
  // Scaled to [1, 4) the residual a - r*r is exact in one fma; a root never is subnormal, so the scaling is harmless.
  const Unpacked ua = unpack(a);
  const int zeros = std::countl_zero(ua.significand) - 11;
  const double in_1_to_4 = f64_of(uint64_t(1023 + ((ua.exponent - zeros) & 1)) << 52 | ((ua.significand << zeros) & 0xfffffffffffff));
  const double root = f64_of((bits_of(nearest) & 0xfffffffffffff) | uint64_t{1023} << 52);
  const double residual = __builtin_fma(-root, root, in_1_to_4);
  if (rounding == Rounding::Up) return residual > 0 ? f64_of(bits_of(nearest) + 1) : nearest;
  return residual < 0 ? f64_of(bits_of(nearest) - 1) : nearest;
}

// min and max: a NaN loses to a number; -0 is below +0. `.NaN` makes a NaN win instead.
inline float min_f32(float a, float b) {
  return canonical(a != a ? b : b != b ? a : a < b ? a : b < a ? b : f32_of(bits_of(a) | bits_of(b)));
}
inline float max_f32(float a, float b) {
  return canonical(a != a ? b : b != b ? a : a > b ? a : b > a ? b : f32_of(bits_of(a) & bits_of(b)));
}

struct MinMaxMode {
  bool ftz = false;
  bool nan = false;
  bool xorsign_abs = false;
};

inline float min_max_f32(float a, float b, bool want_max, MinMaxMode mode) {
  a = flush_if(a, mode.ftz);
  b = flush_if(b, mode.ftz);
  const uint32_t sign = (bits_of(a) ^ bits_of(b)) & 0x80000000;
  if (mode.xorsign_abs) {
    a = magnitude(a);
    b = magnitude(b);
  }
  const bool any_nan = a != a || b != b;
  float r = want_max ? max_f32(a, b) : min_f32(a, b);
  if (mode.nan && any_nan) r = f32_of(kNanF32);
  return mode.xorsign_abs && r == r ? f32_of((bits_of(r) & 0x7fffffff) | sign) : r;
}

inline double min_f64(double a, double b) {
  if (a != a && b != b) return nan_result(a, a, b);
  return a != a ? b : b != b ? a : a < b ? a : b < a ? b : f64_of(bits_of(a) | bits_of(b));
}
inline double max_f64(double a, double b) {
  if (a != a && b != b) return nan_result(a, a, b);
  return a != a ? b : b != b ? a : a > b ? a : b > a ? b : f64_of(bits_of(a) & bits_of(b));
}

// abs and neg are arithmetic: f32 NaNs become canonical, f64 NaNs quiet with their sign kept.
inline float abs_f32(float a, bool ftz) { return canonical(magnitude(flush_if(a, ftz))); }
inline float neg_f32(float a, bool ftz) { return canonical(-flush_if(a, ftz)); }
inline double abs_f64(double a) { return a != a ? quiet(a) : magnitude(a); }
inline double neg_f64(double a) { return a != a ? quiet(a) : -a; }

// copysign d, a, b: the sign of a on the magnitude of b.
inline float copysign_f32(float a, float b) { return f32_of((bits_of(a) & 0x80000000) | (bits_of(b) & 0x7fffffff)); }
inline double copysign_f64(double a, double b) { return f64_of((bits_of(a) & 0x8000000000000000) | (bits_of(b) & 0x7fffffffffffffff)); }

}  // namespace warpbeam::isa
