// The .approx instructions, bit for bit as an sm_90 device computes them: the special function unit (mufu.h) and the
// few instructions that ptxas puts around it where the PTX instruction promises more than the unit does.
#pragma once
#include "isa/arith/convert.h"
#include "isa/arith/half.h"
#include "isa/arith/mufu.h"
#include "isa/arith/round.h"

namespace warpbeam::isa {

namespace detail {
[[gnu::always_inline]] inline bool is_subnormal_or_zero(float x) { return magnitude(x) < 0x1p-126f; }
}  // namespace detail

// Without .ftz, operands whose reciprocal or root would leave the unit's range are scaled by a power of two.
[[gnu::always_inline]] inline float rcp_approx_f32(float x, bool ftz) {
  const float scale = ftz ? 1.0f : magnitude(x) > 0x1p126f ? 0.25f : detail::is_subnormal_or_zero(x) ? 0x1p24f : 1.0f;
  const float r = f32_of(mufu::rcp(bits_of(x * scale)));
  return ftz ? r : canonical(r * scale);
}

[[gnu::always_inline]] inline float sqrt_approx_f32(float x, bool ftz) {
  const bool scaled = !ftz && detail::is_subnormal_or_zero(x);
  const float r = f32_of(mufu::sqrt(bits_of(scaled ? x * 0x1p24f : x)));
  return scaled ? canonical(r * 0x1p-12f) : r;
}

[[gnu::always_inline]] inline float rsqrt_approx_f32(float x, bool ftz) {
  const bool scaled = !ftz && detail::is_subnormal_or_zero(x);
  const float r = f32_of(mufu::rsqrt(bits_of(scaled ? x * 0x1p24f : x)));
  return scaled ? canonical(r * 0x1p12f) : r;
}

// Subnormal results come from squaring the result for half the operand.
[[gnu::always_inline]] inline float ex2_approx_f32(float x, bool ftz) {
  const bool halved = !ftz && x < -126.0f;
  const float r = f32_of(mufu::ex2(bits_of(halved ? x * 0.5f : x)));
  return halved ? r * r : r;
}

[[gnu::always_inline]] inline float lg2_approx_f32(float x, bool ftz) {
  const bool scaled = !ftz && detail::is_subnormal_or_zero(x);
  const float r = f32_of(mufu::lg2(bits_of(scaled ? x * 0x1p24f : x)));
  return scaled ? canonical(r - 24.0f) : r;
}

// The unit works on turns: the operand is first multiplied by 1/(2 pi), rounded toward zero. With or without .ftz the
// multiplication keeps subnormals and the unit then drops them.
[[gnu::always_inline]] inline float turns(float x) { return round_to_f32(static_cast<double>(x) * f32_of(0x3e22f983), Rounding::Zero); }

[[gnu::always_inline]] inline float sin_approx_f32(float x, bool) { return f32_of(mufu::sine(bits_of(turns(x)), false)); }
[[gnu::always_inline]] inline float cos_approx_f32(float x, bool) { return f32_of(mufu::sine(bits_of(turns(x)), true)); }

[[gnu::always_inline]] inline float tanh_approx_f32(float x) { return f32_of(mufu::tanh(bits_of(x))); }

// a * (1/b). Beyond 2^126 the reciprocal is zero; a subnormal b is scaled, together with a, unless .ftz drops it.
[[gnu::always_inline]] inline float div_approx_f32(float a, float b, bool ftz) {
  const float scale = !ftz && detail::is_subnormal_or_zero(b) ? 0x1p24f : 1.0f;
  return mul_f32(a * scale, f32_of(mufu::rcp(bits_of(b * scale))), {Rounding::NearestEven, ftz, false});
}

[[gnu::always_inline]] inline float div_full_f32(float a, float b, bool ftz) {
  a = flush_if(a, ftz);
  b = flush_if(b, ftz);
  const float scale = magnitude(b) > 0x1p126f ? 0.25f : !ftz && detail::is_subnormal_or_zero(b) ? 0x1p24f : 1.0f;
  a = flush_if(a * scale, ftz);
  return mul_f32(a, f32_of(mufu::rcp(bits_of(b * scale))), {Rounding::NearestEven, ftz, false});
}

// The f64 forms read and write only the upper word; the lower word of the result is zero.
[[gnu::always_inline]] inline double rcp_approx_ftz_f64(double x) {
  return f64_of(uint64_t{mufu::rcp64h(static_cast<uint32_t>(bits_of(x) >> 32))} << 32);
}
[[gnu::always_inline]] inline double rsqrt_approx_ftz_f64(double x) {
  return f64_of(uint64_t{mufu::rsqrt64h(static_cast<uint32_t>(bits_of(x) >> 32))} << 32);
}

// One step of a third-order iteration from the unit's 20 bits.
inline double rsqrt_approx_f64(double x) {
  if (x != x) return f64_of(bits_of(x) | 0x8000000000000);
  if (x == 0) return f64_of((bits_of(x) & 0x8000000000000000) | 0x7ff0000000000000);
  if (x < 0) return f64_of(kNanF64);
  if (!is_finite(x)) return 0.0;
  const bool subnormal = x < 0x1p-1022;
  if (subnormal) x *= 0x1p54;
  const double y = rsqrt_approx_ftz_f64(x);
  const double e = __builtin_fma(x, -(y * y), 1.0);
  const double r = __builtin_fma(__builtin_fma(e, 0.375, 0.5), y * e, y);
  return subnormal ? r * 0x1p27 : r;
}

// The 16-bit forms truncate the unit's f32 result; what is too large is infinite.
[[gnu::always_inline]] inline uint16_t ex2_approx_f16(uint16_t h) {
  const uint32_t r = mufu::ex2(bits_of(f16_to_f32(h)));
  const bool overflow = r >= 0x47800000 && r <= mufu::kInfinity;
  return overflow ? 0x7c00 : f32_to_f16(f32_of(r), Rounding::Zero);
}
[[gnu::always_inline]] inline uint16_t ex2_approx_ftz_bf16(uint16_t h) {
  return static_cast<uint16_t>(mufu::ex2(bits_of(bf16_to_f32(h))) >> 16);
}
[[gnu::always_inline]] inline uint16_t tanh_approx_f16(uint16_t h) {
  return f32_to_f16(f32_of(mufu::tanh(bits_of(f16_to_f32(h)))), Rounding::Zero);
}
[[gnu::always_inline]] inline uint16_t tanh_approx_bf16(uint16_t h) {
  return static_cast<uint16_t>(mufu::tanh(bits_of(bf16_to_f32(h))) >> 16);
}

}  // namespace warpbeam::isa
