// f16 and bf16 arithmetic on bits, rounded once to nearest even.
//
// Sums and products go through f32, whose 24 bits are enough for a second rounding of two 11- or 8-bit operands to be
// harmless; fused multiply-add goes through a double rounded to odd. NaN results are canonical (0x7fff).
#pragma once
#include "isa/arith/convert.h"
#include "isa/arith/round.h"

namespace warpbeam::isa {

struct HalfMode {
  bool ftz = false;   // f16 only
  bool sat = false;   // clamp to [0, 1], NaN becomes +0
  bool relu = false;  // clamp below at +0, NaN stays NaN
};

// What differs between the two 16-bit formats.
struct F16 {
  static constexpr uint16_t kNan = kNanF16, kInfinity = 0x7c00;
  static constexpr float kFlushBelow = 0x1p-14f * (1 - 0x1p-12f);
  static float widen(uint16_t h) { return f16_to_f32(h); }
  static uint16_t narrow(float x) { return f32_to_f16(x, Rounding::NearestEven); }
  static uint16_t flush(uint16_t h) { return flush_f16(h); }
  static uint16_t saturate(uint16_t h) { return saturate_f16(h); }
  static uint16_t relu(uint16_t h) { return relu_f16(h); }
};

struct Bf16 {
  static constexpr uint16_t kNan = kNanBf16, kInfinity = 0x7f80;
  static constexpr float kFlushBelow = 0x1p-126f;
  static float widen(uint16_t h) { return bf16_to_f32(h); }
  static uint16_t narrow(float x) { return f32_to_bf16(x, Rounding::NearestEven); }
  static uint16_t flush(uint16_t h) { return h & 0x7f80 ? h : h & 0x8000; }
  static uint16_t saturate(uint16_t h) { return saturate_bf16(h); }
  static uint16_t relu(uint16_t h) { return relu_bf16(h); }
};

template <class H>
[[gnu::always_inline]] inline bool half_is_nan(uint16_t h) {
  return (h & 0x7fff) > H::kInfinity;
}

template <class H>
[[gnu::always_inline]] inline uint16_t half_finish(float x, HalfMode mode) {
  uint16_t h = H::narrow(x);
  // As for f32, .ftz looks at the value rounded with an unbounded exponent.
  if (mode.ftz && magnitude(x) < H::kFlushBelow) h &= 0x8000;
  if (mode.sat) h = H::saturate(h);
  if (mode.relu) h = H::relu(h);
  return h;
}

template <class H>
[[gnu::always_inline]] inline float half_operand(uint16_t h, HalfMode mode) {
  return H::widen(mode.ftz ? H::flush(h) : h);
}

template <class H>
[[gnu::always_inline]] inline uint16_t half_add(uint16_t a, uint16_t b, HalfMode mode = {}) {
  return half_finish<H>(half_operand<H>(a, mode) + half_operand<H>(b, mode), mode);
}

template <class H>
[[gnu::always_inline]] inline uint16_t half_sub(uint16_t a, uint16_t b, HalfMode mode = {}) {
  return half_finish<H>(half_operand<H>(a, mode) - half_operand<H>(b, mode), mode);
}

template <class H>
[[gnu::always_inline]] inline uint16_t half_mul(uint16_t a, uint16_t b, HalfMode mode = {}) {
  return half_finish<H>(half_operand<H>(a, mode) * half_operand<H>(b, mode), mode);
}

template <class H>
[[gnu::always_inline]] inline uint16_t half_fma(uint16_t a, uint16_t b, uint16_t c, HalfMode mode = {}) {
  const double sum = fma_to_odd(half_operand<H>(a, mode), half_operand<H>(b, mode), half_operand<H>(c, mode));
  return half_finish<H>(round_to_odd_f32(sum), mode);
}

// fma.oob: a factor that is the "out of bounds" NaN makes the result +0.
[[gnu::always_inline]] inline bool is_out_of_bounds(uint16_t h) { return (h & 0x7fff) == 0x7ff7; }

template <class H>
[[gnu::always_inline]] inline uint16_t half_fma_oob(uint16_t a, uint16_t b, uint16_t c, HalfMode mode = {}) {
  return is_out_of_bounds(a) || is_out_of_bounds(b) ? 0 : half_fma<H>(a, b, c, mode);
}

template <class H>
[[gnu::always_inline]] inline uint16_t half_neg(uint16_t a, HalfMode mode = {}) {
  if (half_is_nan<H>(a)) return H::kNan;
  return static_cast<uint16_t>((mode.ftz ? H::flush(a) : a) ^ 0x8000);
}

template <class H>
[[gnu::always_inline]] inline uint16_t half_abs(uint16_t a, HalfMode mode = {}) {
  if (half_is_nan<H>(a)) return H::kNan;
  return static_cast<uint16_t>((mode.ftz ? H::flush(a) : a) & 0x7fff);
}

template <class H>
[[gnu::always_inline]] inline uint16_t half_min_max(uint16_t a, uint16_t b, bool want_max, MinMaxMode mode = {}) {
  if (mode.ftz) {
    a = H::flush(a);
    b = H::flush(b);
  }
  const uint16_t sign = (a ^ b) & 0x8000;
  if (mode.xorsign_abs) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  const bool a_nan = half_is_nan<H>(a), b_nan = half_is_nan<H>(b);
  if ((a_nan && b_nan) || (mode.nan && (a_nan || b_nan))) return H::kNan;
  // As sign-magnitude integers: all halves in order, -0 just below +0.
  const int32_t a_order = a & 0x8000 ? -int32_t(a & 0x7fff) - 1 : a;
  const int32_t b_order = b & 0x8000 ? -int32_t(b & 0x7fff) - 1 : b;
  const bool take_a = b_nan || (!a_nan && (want_max ? a_order >= b_order : a_order <= b_order));
  const uint16_t r = take_a ? a : b;
  return mode.xorsign_abs ? uint16_t((r & 0x7fff) | sign) : r;
}

// Two lanes in one register: applies a 16-bit operation to both halves.
template <class Op, class... Pairs>
[[gnu::always_inline]] inline uint32_t on_halves(Op op, Pairs... pairs) {
  [[clang::always_inline]] return pack_halves(op(upper_half(pairs)...), op(lower_half(pairs)...));
}

}  // namespace warpbeam::isa
