// The single-precision functions of the device library that programs call in their inner loops.
//
// Each is a polynomial or a quotient of them in double, rounded once at the end: about half an ulp, no tables, no
// library calls and (but for huge angles) no branches, so a loop over lanes becomes vector code and gives the same bits
// on every host. Series are cut where the first dropped term is below 2^-45 of the result.
#pragma once
#include <cmath>

#include "isa/arith/convert.h"

namespace warpbeam::isa::library {

// --- kernels in double ---------------------------------------------------------------------------------------------

// 2^x for |x| < 1000.
[[gnu::always_inline]] inline double exp2_kernel(double x) {
  constexpr double kMagic = 0x1.8p52;
  const double shifted = x + kMagic;
  const double t = (x - (shifted - kMagic)) * 0.69314718055994530942;
  double p = 1.0 / 479001600;
  p = p * t + 1.0 / 39916800;
  p = p * t + 1.0 / 3628800;
  p = p * t + 1.0 / 362880;
  p = p * t + 1.0 / 40320;
  p = p * t + 1.0 / 5040;
  p = p * t + 1.0 / 720;
  p = p * t + 1.0 / 120;
  p = p * t + 1.0 / 24;
  p = p * t + 1.0 / 6;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  return p * f64_of((bits_of(shifted) - bits_of(kMagic) + 1023) << 52);
}

// A double has room for every product of a float with a power of two that is not zero or infinite as a float.
[[gnu::always_inline]] inline float ldexp_f32(float x, int32_t n) {
  n = n > 300 ? 300 : n;
  n = n < -300 ? -300 : n;
  return canonical(static_cast<float>(static_cast<double>(x) * f64_of(static_cast<uint64_t>(n + 1023) << 52)));
}

// log2 of a positive, finite, normal double; exact digits near 1 too.
[[gnu::always_inline]] inline double log2_kernel(double x) {
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const uint64_t shifted = bits_of(x) - kRootHalf;
  const double exponent = static_cast<double>(static_cast<int32_t>(static_cast<int64_t>(shifted) >> 52));
  const double m = f64_of((shifted & 0xfffffffffffff) + kRootHalf);
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double p = 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return exponent + 2.8853900817779268147 * (s + s * z * p);
}

// The operand brought into the kernels' range; what the cast to float then makes of it is zero or infinity.
[[gnu::always_inline]] inline double exp2_any(double x) {
  x = x > 300 ? 300 : x;
  x = x < -300 ? -300 : x;
  return exp2_kernel(x);
}

constexpr double kLog2E = 1.4426950408889634074;
constexpr double kLog2Of10 = 3.3219280948873623479;
constexpr double kLn2 = 0.69314718055994530942;
constexpr double kHalfPi = 1.5707963267948966192;

// The logarithm of zero, negative numbers, infinity and NaN, and the kernel for all others.
[[gnu::always_inline]] inline double log2_any(double x) {
  const double r = log2_kernel(x > 0x1p-1000 ? x : 1.0);
  return x > 0 ? (x < HUGE_VAL ? r : x) : x == 0 ? -HUGE_VAL : NAN;
}

[[gnu::always_inline]] inline float to_f32(double x) { return canonical(static_cast<float>(x)); }

// --- exponentials and logarithms -----------------------------------------------------------------------------------

[[gnu::always_inline]] inline float exp_f32(float x) { return to_f32(exp2_any(x * kLog2E)); }
[[gnu::always_inline]] inline float exp2_f32(float x) { return to_f32(exp2_any(x)); }
[[gnu::always_inline]] inline float exp10_f32(float x) { return to_f32(exp2_any(x * kLog2Of10)); }
[[gnu::always_inline]] inline float expm1_f32(float x) {
  const double d = x;
  const double small = d + d * d * (0.5 + d * (1.0 / 6));
  return x == 0 ? x : to_f32(magnitude(d) < 0x1p-10 ? small : exp2_any(d * kLog2E) - 1);
}

[[gnu::always_inline]] inline float log2_f32(float x) { return to_f32(log2_any(x)); }
[[gnu::always_inline]] inline float log_f32(float x) { return to_f32(log2_any(x) * kLn2); }
[[gnu::always_inline]] inline float log10_f32(float x) { return to_f32(log2_any(x) * 0.30102999566398119521); }
[[gnu::always_inline]] inline float log1p_f32(float x) {
  const double d = x;
  const double small = d - d * d * (0.5 - d * (1.0 / 3));
  return x == 0 ? x : to_f32(magnitude(d) < 0x1p-10 ? small : log2_any(1 + d) * kLn2);
}

// The corners are C99's (Annex F): pow(1, y) and pow(x, 0) are 1 even for NaN; the sign comes from odd whole exponents.
[[gnu::always_inline]] inline float pow_f32(float x, float y) {
  const double size = magnitude(static_cast<double>(x));
  const float y_size = magnitude(y);
  const bool whole = y_size >= 0x1p23f || round_to_integral(static_cast<double>(y), Rounding::Zero) == y;
  // Floats from 2^24 up are even.
  const bool odd = whole && y_size < 0x1p24f && (static_cast<int32_t>(y_size < 0x1p24f ? y : 0) & 1);
  double product = y * log2_any(size);
  // 0 * inf only arises for |x| = 1, where any exponent gives 1.
  product = size == 1 ? 0 : product;
  double r = exp2_any(product);
  // Clamping leaves 2^300 where infinity is meant; the cast makes it so. Exact zeros for zero and infinite operands.
  r = product == -HUGE_VAL ? 0 : r;
  r = product != product ? NAN : r;
  r = x < 0 && !whole && is_finite(x) ? NAN : r;
  r = std::signbit(x) && odd ? -r : r;
  return y == 0 || x == 1 ? 1.0f : x != x || y != y ? f32_of(kNanF32) : to_f32(r);
}

[[gnu::always_inline]] inline float cbrt_f32(float x) {
  const double size = magnitude(static_cast<double>(x));
  const double r = exp2_kernel(log2_kernel(size > 0 && size < HUGE_VAL ? size : 1.0) * (1.0 / 3));
  return x != x || x == 0 || !is_finite(x) ? canonical(x) : to_f32(x < 0 ? -r : r);
}
[[gnu::always_inline]] inline float rcbrt_f32(float x) {
  const double size = magnitude(static_cast<double>(x));
  const double r = exp2_kernel(log2_kernel(size > 0 && size < HUGE_VAL ? size : 1.0) * (-1.0 / 3));
  return x != x || x == 0 || !is_finite(x) ? canonical(1.0f / x) : to_f32(x < 0 ? -r : r);
}

// --- circular functions --------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline double sin_kernel(double x) {
  const double z = x * x;
  double p = -1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  return x + x * z * p;
}

[[gnu::always_inline]] inline double cos_kernel(double x) {
  const double z = x * x;
  double p = 1.0 / 20922789888000.0;
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600;
  p = p * z - 1.0 / 3628800;
  p = p * z + 1.0 / 40320;
  p = p * z - 1.0 / 720;
  p = p * z + 1.0 / 24;
  p = p * z - 0.5;
  return 1 + z * p;
}

// An angle as a count of quarter turns and a rest within an eighth.
struct QuarterTurns {
  double rest;
  int32_t count;
};

// For |x| >= 2^25: multiplies the significand by the digits of 2/pi that can matter (Payne and Hanek 1983).
[[gnu::always_inline]] inline QuarterTurns reduce_huge(float x) {
  constexpr uint32_t kTwoOverPi[7] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  const uint32_t bits = bits_of(x);
  const int exponent = static_cast<int>(bits >> 23 & 0xff);
  // Digits before this one contribute whole multiples of 4. Other operands only need to stay inside the table.
  const int first = exponent < 152 ? 0 : exponent > 254 ? 102 : exponent - 152;
  const uint32_t* t = kTwoOverPi + (first >> 5);
  const uint32_t off = first & 31;
  auto window = [&](int k) { return (uint64_t{t[k]} << 32 | t[k + 1]) << off >> 32; };
  const uint64_t significand = (bits & 0x7fffff) | 0x800000;
  // The product's two bits of count and 62 of fraction.
  const uint64_t top = (window(0) * significand << 32) + window(1) * significand + (window(2) * significand >> 32);
  const int64_t fraction = static_cast<int64_t>(top << 2);
  // A fraction above one half counts as the next quarter and a negative rest.
  const int32_t count = static_cast<int32_t>(top >> 62) + (fraction < 0);
  const double rest = exponent == 255 ? NAN : static_cast<double>(fraction) * 0x1p-64 * kHalfPi;
  return {bits >> 31 ? -rest : rest, bits >> 31 ? -count : count};
}

[[gnu::always_inline]] inline QuarterTurns reduce(float x) {
  constexpr double kMagic = 0x1.8p52;
  // pi/2 in three parts; the products with counts below 2^25 are exact for the first two.
  constexpr double kPart1 = 0x1.921fb54p0, kPart2 = 0x1.10b4611p-30, kPart3 = 0x1.a62633145c06ep-58;
  const double shifted = x * (1 / kHalfPi) + kMagic;
  const double count = shifted - kMagic;
  const double rest = ((x - count * kPart1) - count * kPart2) - count * kPart3;
  // Both ways are taken and one is kept, so that a loop over lanes has no branch.
  const QuarterTurns huge = reduce_huge(x);
  const bool near = magnitude(x) < 0x1p25f;
  return {near ? rest : huge.rest, near ? static_cast<int32_t>(bits_of(shifted)) : huge.count};
}

[[gnu::always_inline]] inline double sin_of(QuarterTurns q) {
  const double r = q.count & 1 ? cos_kernel(q.rest) : sin_kernel(q.rest);
  return q.count & 2 ? -r : r;
}
[[gnu::always_inline]] inline double cos_of(QuarterTurns q) { return sin_of({q.rest, q.count + 1}); }

[[gnu::always_inline]] inline float sin_f32(float x) { return x == 0 ? x : to_f32(sin_of(reduce(x))); }
[[gnu::always_inline]] inline float cos_f32(float x) { return to_f32(cos_of(reduce(x))); }
[[gnu::always_inline]] inline float tan_f32(float x) {
  const QuarterTurns q = reduce(x);
  const double s = sin_kernel(q.rest), c = cos_kernel(q.rest);
  return x == 0 ? x : to_f32(q.count & 1 ? -c / s : s / c);
}

// Angles in half turns: exact reduction.
[[gnu::always_inline]] inline QuarterTurns reduce_pi(float x) {
  const double turns = x * 0.5;  // whole turns drop out exactly
  const double part = turns - round_to_integral(turns, Rounding::NearestEven);
  const double count = round_to_integral(part * 4, Rounding::NearestEven);
  return {(part - count * 0.25) * (4 * kHalfPi), static_cast<int32_t>(count == count ? count : 0)};
}
// Whole operands give a zero with the operand's sign; the cosine's zeros are positive.
[[gnu::always_inline]] inline float sinpi_f32(float x) {
  const double r = sin_of(reduce_pi(x));
  return r == 0 ? f32_of(bits_of(x) & 0x80000000) : to_f32(r);
}
[[gnu::always_inline]] inline float cospi_f32(float x) {
  const double r = cos_of(reduce_pi(x));
  return r == 0 ? 0.0f : to_f32(r);
}

// atan of 0 <= x <= infinity: the reciprocal above 1, the angle halved twice, then the series.
[[gnu::always_inline]] inline double atan_kernel(double x) {
  const bool above = x > 1;
  double t = above ? 1 / x : x;
  t = t / (1 + __builtin_sqrt(1 + t * t));
  t = t / (1 + __builtin_sqrt(1 + t * t));
  const double z = t * t;
  double p = -1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z - 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z - 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z - 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z - 1.0 / 3;
  const double r = 4 * (t + t * z * p);
  return above ? kHalfPi - r : r;
}

[[gnu::always_inline]] inline float with_sign_of(float sign, double size) {
  return canonical(static_cast<float>(std::copysign(size, static_cast<double>(sign))));
}

[[gnu::always_inline]] inline float atan_f32(float x) { return with_sign_of(x, atan_kernel(magnitude(double(x)))); }
[[gnu::always_inline]] inline float asin_f32(float x) {
  const double size = magnitude(static_cast<double>(x));
  return with_sign_of(x, atan_kernel(size / __builtin_sqrt((1 - size) * (1 + size))));
}
[[gnu::always_inline]] inline float acos_f32(float x) {
  const double d = x;
  return to_f32(2 * atan_kernel(__builtin_sqrt((1 - d) / (1 + d))));
}
[[gnu::always_inline]] inline float atan2_f32(float y, float x) {
  const double ys = magnitude(static_cast<double>(y)), xs = magnitude(static_cast<double>(x));
  const double high = ys > xs ? ys : xs, low = ys > xs ? xs : ys;
  const double ratio = high == 0 ? 0 : low == HUGE_VAL ? 1 : low / high;
  double r = atan_kernel(ratio);
  r = ys > xs ? kHalfPi - r : r;
  r = std::signbit(x) ? 2 * kHalfPi - r : r;
  return x != x || y != y ? f32_of(kNanF32) : with_sign_of(y, r);
}

// --- hyperbolic functions ------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline float sinh_f32(float x) {
  const double d = x, e = exp2_any(d * kLog2E);
  return to_f32(magnitude(d) < 0x1p-10 ? d + d * d * d * (1.0 / 6) : 0.5 * (e - 1 / e));
}
[[gnu::always_inline]] inline float cosh_f32(float x) {
  const double e = exp2_any(x * kLog2E);
  return to_f32(0.5 * (e + 1 / e));
}
[[gnu::always_inline]] inline float tanh_f32(float x) {
  const double d = x, e = exp2_any(d * (2 * kLog2E));
  return x == 0 ? x : to_f32(magnitude(d) < 0x1p-10 ? d - d * d * d * (1.0 / 3) : 1 - 2 / (e + 1));
}
[[gnu::always_inline]] inline float asinh_f32(float x) {
  const double d = magnitude(static_cast<double>(x));
  const double r = d < 0x1p-10 ? d - d * d * d * (1.0 / 6) : kLn2 * log2_any(d + __builtin_sqrt(d * d + 1));
  return with_sign_of(x, r);
}
[[gnu::always_inline]] inline float acosh_f32(float x) {
  const double d = x;
  return d < 1 ? f32_of(kNanF32) : to_f32(kLn2 * log2_any(d + __builtin_sqrt((d - 1) * (d + 1))));
}
[[gnu::always_inline]] inline float atanh_f32(float x) {
  const double d = magnitude(static_cast<double>(x));
  const double r = d < 0x1p-10 ? d + d * d * d * (1.0 / 3) : 0.5 * kLn2 * log2_any((1 + d) / (1 - d));
  return with_sign_of(x, r);
}

// --- error functions -----------------------------------------------------------------------------------------------

// erfc(z) of a z that is not negative: t * g(t) * exp(-z^2) with t = 2 / (2 + z), where g is smooth from 1 / (2 sqrt(pi)) at
// infinity to 1 at zero. The polynomial interpolates it at Chebyshev's points, to 8e-13.
[[gnu::always_inline]] inline double erfc_of_size(double z) {
  const double t = 2 / (2 + z), u = 2 * t - 1;
  double p = -1.2226783346788533e-07;
  p = p * u + 2.3490646428929917e-07;
  p = p * u + 6.1782439714347989e-07;
  p = p * u - 2.0076965591484499e-06;
  p = p * u - 1.2894776799677559e-07;
  p = p * u + 8.1319124796755326e-06;
  p = p * u - 1.1132320887724041e-05;
  p = p * u - 1.7076483585126503e-05;
  p = p * u + 7.2347069512749144e-05;
  p = p * u - 1.7195048733340795e-05;
  p = p * u - 0.00033156248620570171;
  p = p * u + 0.00041865162176368494;
  p = p * u + 0.0015453092404432249;
  p = p * u - 0.0032395930938622828;
  p = p * u - 0.010755331126936045;
  p = p * u + 0.018221115788887819;
  p = p * u + 0.13973604628106212;
  p = p * u + 0.34358034220628958;
  p = p * u + 0.5107913526210115;
  return t * p * exp2_any(-z * z * kLog2E);
}
// erf(x) / x for |x| < 1: the series of its integral.
[[gnu::always_inline]] inline double erf_slope(double x) {
  const double z = x * x;
  double p = 1.0 / 40537905408000;
  p = p * -z + 1.0 / 2528170444800.0;
  p = p * -z + 1.0 / 168129561600.0;
  p = p * -z + 1.0 / 11975040000.0;
  p = p * -z + 1.0 / 918086400;
  p = p * -z + 1.0 / 76204800;
  p = p * -z + 1.0 / 6894720;
  p = p * -z + 1.0 / 685440;
  p = p * -z + 1.0 / 75600;
  p = p * -z + 1.0 / 9360;
  p = p * -z + 1.0 / 1320;
  p = p * -z + 1.0 / 216;
  p = p * -z + 1.0 / 42;
  p = p * -z + 0.1;
  p = p * -z + 1.0 / 3;
  p = p * -z + 1.0;
  return p * 1.1283791670955125739;
}
[[gnu::always_inline]] inline double erfc_any(double x) {
  const double c = erfc_of_size(magnitude(x));
  return x < 0 ? 2 - c : c;
}
[[gnu::always_inline]] inline float erf_f32(float x) {
  const double d = magnitude(static_cast<double>(x));
  return with_sign_of(x, d < 1 ? d * erf_slope(d) : 1 - erfc_of_size(d));
}
[[gnu::always_inline]] inline float erfc_f32(float x) { return to_f32(erfc_any(x)); }
[[gnu::always_inline]] inline float normcdf_f32(float x) { return to_f32(0.5 * erfc_any(x * -0.70710678118654752440)); }

// --- lengths -------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline double square_of(float x) { return static_cast<double>(x) * x; }

template <class... F>
[[gnu::always_inline]] inline double length_of(F... x) {
  const double sum = (square_of(x) + ...);
  // An infinite component wins over a NaN.
  return ((magnitude(x) == HUGE_VALF) || ...) ? HUGE_VAL : __builtin_sqrt(sum);
}

[[gnu::always_inline]] inline float hypot_f32(float x, float y) { return to_f32(length_of(x, y)); }
[[gnu::always_inline]] inline float rhypot_f32(float x, float y) { return to_f32(1 / length_of(x, y)); }
[[gnu::always_inline]] inline float norm3d_f32(float x, float y, float z) { return to_f32(length_of(x, y, z)); }
[[gnu::always_inline]] inline float rnorm3d_f32(float x, float y, float z) { return to_f32(1 / length_of(x, y, z)); }
[[gnu::always_inline]] inline float norm4d_f32(float x, float y, float z, float w) { return to_f32(length_of(x, y, z, w)); }
[[gnu::always_inline]] inline float rnorm4d_f32(float x, float y, float z, float w) { return to_f32(1 / length_of(x, y, z, w)); }

}  // namespace warpbeam::isa::library
