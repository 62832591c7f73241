// The .approx instructions: reciprocal, roots, 2^x, log2, sine, cosine, tanh and the divisions built from them.
//
// Each has the special values of its table in the PTX manual and lies within the manual's error bound. The kernels work
// in double with fixed polynomials, so results do not depend on the host's math library.
#pragma once
#include "isa/arith/convert.h"
#include "isa/arith/half.h"
#include "isa/arith/round.h"

namespace warpbeam::isa {

namespace detail {

// 2^x for |x| <= 0.5: Taylor series of e^(x ln 2).
inline double exp2_fraction(double x) {
  const double t = x * 0.69314718055994530942;
  double p = 1.0 / 39916800;
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
  return p * t + 1.0;
}

// 2^x for |x| < 1000.
inline double exp2_f64(double x) {
  constexpr double kMagic = 0x1.8p52;
  const double shifted = x + kMagic;
  const double whole = shifted - kMagic;
  const uint64_t scale = (bits_of(shifted) - bits_of(kMagic) + 1023) << 52;
  return exp2_fraction(x - whole) * f64_of(scale);
}

// log2 of a positive normal double.
inline double log2_f64(double x) {
  // Split so that the significand lies in [sqrt(1/2), sqrt(2)).
  const uint64_t bits = bits_of(x);
  const uint64_t shifted = bits - 0x3fe6a09e667f3bcd;
  const double exponent = static_cast<double>(static_cast<int64_t>(shifted) >> 52);
  const double m = f64_of((shifted & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
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
  p = p * z + 1.0;
  return exponent + 2.8853900817779268147 * s * p;
}

// sin(2 pi t) for any finite t; the cosine asks a quarter turn further on.
inline double sin_turns(double t, bool cosine) {
  double r = t - round_to_integral(t, Rounding::NearestEven);  // exact, in [-1/2, 1/2]
  if (cosine)
    r = 0.25 - magnitude(r);  // cos is even: cos(r) = sin(1/4 - |r|)
  else if (r > 0.25)
    r = 0.5 - r;
  else if (r < -0.25)
    r = -0.5 - r;
  const double x = r * 6.2831853071795864769;
  const double z = x * x;
  double p = 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  return x + x * z * p;
}

}  // namespace detail

inline float rcp_approx_f32(float x, bool ftz) {
  x = flush_if(x, ftz);
  return flush_if(canonical(static_cast<float>(1.0 / x)), ftz);
}

inline float sqrt_approx_f32(float x, bool ftz) {
  x = flush_if(x, ftz);
  return canonical(static_cast<float>(__builtin_sqrt(static_cast<double>(x))));
}

inline float rsqrt_approx_f32(float x, bool ftz) {
  x = flush_if(x, ftz);
  return canonical(static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x))));
}

inline float ex2_approx_f32(float x, bool ftz) {
  x = flush_if(x, ftz);
  // Beyond these the result is zero or infinity whatever the digits.
  const float clamped = x > 200.0f ? 200.0f : x < -200.0f ? -200.0f : x;
  const float r = static_cast<float>(detail::exp2_f64(x == x ? clamped : 0.0f));
  return x != x ? f32_of(kNanF32) : flush_if(r, ftz);
}

inline float lg2_approx_f32(float x, bool ftz) {
  x = flush_if(x, ftz);
  if (!(x > 0)) return x == 0 ? f32_of(0xff800000) : f32_of(kNanF32);
  if (!is_finite(x)) return x;
  return static_cast<float>(detail::log2_f64(x));
}

// The unit works on turns: the operand is first multiplied by 1/(2 pi), rounded toward zero.
inline float turns(float x) { return round_to_f32(static_cast<double>(x) * f32_of(0x3e22f983), Rounding::Zero); }

inline float sin_approx_f32(float x, bool ftz) {
  x = flush_if(x, ftz);
  if (!is_finite(x)) return f32_of(kNanF32);
  const float t = turns(x);
  return t == 0 ? x : flush_if(static_cast<float>(detail::sin_turns(t, false)), ftz);
}

inline float cos_approx_f32(float x, bool ftz) {
  x = flush_if(x, ftz);
  if (!is_finite(x)) return f32_of(kNanF32);
  return static_cast<float>(detail::sin_turns(turns(x), true));
}

inline double tanh_f64(double x) {
  const double size = magnitude(x);
  if (size < 0x1p-8) {
    const double z = x * x;
    return x - x * z * (1.0 / 3 - z * (2.0 / 15));
  }
  const double e = detail::exp2_f64((size > 20 ? 20 : size) * 2.8853900817779268147);
  const double r = 1.0 - 2.0 / (e + 1.0);
  return x < 0 ? -r : r;
}

inline float tanh_approx_f32(float x) { return x != x ? f32_of(kNanF32) : static_cast<float>(tanh_f64(x)); }

// div.approx multiplies by the reciprocal, which is zero for |b| > 2^126.
inline float div_approx_f32(float a, float b, bool ftz) {
  a = flush_if(a, ftz);
  const float r = magnitude(b) > 0x1p126f && is_finite(b) ? copysign_f32(b, 0.0f) : rcp_approx_f32(b, ftz);
  return finish(a * r, {Rounding::NearestEven, ftz, false});
}

// div.full scales both operands where the reciprocal would leave the normal range.
inline float div_full_f32(float a, float b, bool ftz) {
  a = flush_if(a, ftz);
  b = flush_if(b, ftz);
  const float size = magnitude(b);
  const float scale = size > 0x1p126f ? 0.25f : size < 0x1p-126f ? 0x1p24f : 1.0f;
  return finish((a * scale) * rcp_approx_f32(b * scale, ftz), {Rounding::NearestEven, ftz, false});
}

// The f64 units read and write only the upper word; the lower word of the result is zero.
inline double upper_word(double x) { return f64_of(bits_of(x) & 0xffffffff00000000); }
inline double flush_f64(double x) {
  return (bits_of(x) & 0x7ff0000000000000) == 0 ? f64_of(bits_of(x) & 0x8000000000000000) : x;
}

inline double rcp_approx_ftz_f64(double x) {
  x = upper_word(flush_f64(x));
  return flush_f64(upper_word(nan_result(1.0 / x, x)));
}

inline double rsqrt_approx_ftz_f64(double x) {
  x = upper_word(flush_f64(x));
  return upper_word(nan_result(1.0 / __builtin_sqrt(x), x));
}

inline double rsqrt_approx_f64(double x) { return nan_result(1.0 / __builtin_sqrt(x), x); }

// The 16-bit forms round the f32 result.
inline uint16_t ex2_approx_f16(uint16_t h) {
  return f32_to_f16(ex2_approx_f32(f16_to_f32(h), false), Rounding::NearestEven);
}
inline uint16_t ex2_approx_ftz_bf16(uint16_t h) {
  return Bf16::flush(f32_to_bf16(ex2_approx_f32(bf16_to_f32(Bf16::flush(h)), true), Rounding::NearestEven));
}
inline uint16_t tanh_approx_f16(uint16_t h) {
  return f32_to_f16(tanh_approx_f32(f16_to_f32(h)), Rounding::NearestEven);
}
inline uint16_t tanh_approx_bf16(uint16_t h) {
  return f32_to_bf16(tanh_approx_f32(bf16_to_f32(h)), Rounding::NearestEven);
}

}  // namespace warpbeam::isa
