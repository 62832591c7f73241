// cvt: between integers, integers and floats, and floats of every width, each rounded once and exactly.
//
// 16-bit floats, fp8 and tf32 travel as bits. The order of the optional steps is the machine's: .ftz on the operand,
// the conversion, NaN made canonical, .ftz on the result, then .sat or .relu.
#pragma once
#include <limits>
#include <type_traits>

#include "isa/arith/float_bits.h"

namespace warpbeam::isa {

// --- integer to integer -------------------------------------------------------------------------------------------

// Without .sat the value is cut to the width of D (and sign- or zero-extended by its type); with .sat it is clamped.
template <class D, class S>
inline D convert_int(S x, bool sat) {
  static_assert(std::is_integral_v<D> && std::is_integral_v<S>);
  if (!sat) return static_cast<D>(x);
  using Limits = std::numeric_limits<D>;
  if constexpr (std::is_signed_v<S>) {
    if (x < 0) {
      if constexpr (!std::is_signed_v<D>) return 0;
      return static_cast<int64_t>(x) < static_cast<int64_t>(Limits::min()) ? Limits::min() : static_cast<D>(x);
    }
  }
  return static_cast<uint64_t>(x) > static_cast<uint64_t>(Limits::max()) ? Limits::max() : static_cast<D>(x);
}

// --- float to integral float (cvt.rni.f32.f32 and friends) ---------------------------------------------------------

inline double round_to_integral(double x, Rounding rounding) {
  constexpr double kMagic = 0x1p52;
  const double size = magnitude(x);
  if (!(size < kMagic)) return x;
  // Nearest even through the magic number, then one step if the direction asks for it.
  double whole = (size + kMagic) - kMagic;
  const bool negative = bits_of(x) >> 63;
  const bool away = (rounding == Rounding::Down && negative) || (rounding == Rounding::Up && !negative);
  const bool toward = rounding != Rounding::NearestEven && !away;
  if (toward && whole > size) whole -= 1;
  if (away && whole < size) whole += 1;
  return f64_of(bits_of(whole) | (bits_of(x) & 0x8000000000000000));
}

// NaN comes back quiet.
inline double cvt_integral_f64(double x, Rounding rounding) {
  return x != x ? f64_of(bits_of(x) | 0x8000000000000) : round_to_integral(x, rounding);
}

inline float round_to_integral(float x, Rounding rounding) {
  return canonical(static_cast<float>(round_to_integral(static_cast<double>(x), rounding)));
}

// --- float to integer ----------------------------------------------------------------------------------------------

// Out of range saturates. NaN gives 0 from 32-bit and shorter floats to 32-bit and shorter integers, otherwise the
// integer with only its top bit set.
template <class D, class F>
inline D float_to_int(F x, Rounding rounding) {
  static_assert(std::is_integral_v<D> && std::is_floating_point_v<F>);
  using Limits = std::numeric_limits<D>;
  constexpr bool kNanIsZero = sizeof(F) <= 4 && sizeof(D) <= 4;
  constexpr D kNan = kNanIsZero ? D(0) : D(std::make_unsigned_t<D>(1) << (sizeof(D) * 8 - 1));
  // 2^width is exact in double; the largest integer itself may not be.
  constexpr double kTooBig =
      std::is_signed_v<D> ? -static_cast<double>(Limits::min()) : 2.0 * static_cast<double>(uint64_t{1} << (sizeof(D) * 8 - 1));
  const double whole = round_to_integral(static_cast<double>(x), rounding);
  if (x != x) return kNan;
  if (whole >= kTooBig) return Limits::max();
  if (whole < static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<D>(whole);
}

// --- integer to float ----------------------------------------------------------------------------------------------

template <class S>
inline uint64_t int_to_format(Format format, S x, Rounding rounding) {
  if (x == 0) return 0;
  bool negative = false;
  uint64_t size = static_cast<uint64_t>(x);
  if constexpr (std::is_signed_v<S>) {
    negative = x < 0;
    size = negative ? uint64_t{0} - static_cast<uint64_t>(static_cast<int64_t>(x)) : static_cast<uint64_t>(x);
  }
  return round_and_pack(format, negative, 0, size, rounding);
}

template <class S>
inline float int_to_f32(S x, Rounding rounding) {
  if (rounding == Rounding::NearestEven) return static_cast<float>(x);
  if constexpr (sizeof(S) <= 4) return round_to_f32(static_cast<double>(x), rounding);
  return f32_of(static_cast<uint32_t>(int_to_format(kFormatF32, x, rounding)));
}

template <class S>
inline double int_to_f64(S x, Rounding rounding) {
  if (rounding == Rounding::NearestEven || sizeof(S) <= 4) return static_cast<double>(x);
  return f64_of(int_to_format(kFormatF64, x, rounding));
}

template <class S>
inline uint16_t int_to_f16(S x, Rounding rounding) {
  return static_cast<uint16_t>(int_to_format(kFormatF16, x, rounding));
}

template <class S>
inline uint16_t int_to_bf16(S x, Rounding rounding) {
  return static_cast<uint16_t>(int_to_format(kFormatBf16, x, rounding));
}

// --- widening (exact) ----------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline float f16_to_f32(uint16_t h) {
  const uint32_t size = uint32_t(h & 0x7fff) << 13;
  const uint32_t sign = uint32_t(h & 0x8000) << 16;
  // Normal numbers and infinities only need their exponent rebiased; subnormals are normalised by a subtraction.
  const uint32_t rebiased = size + (size >= 0x0f800000 ? 0x70000000 : 0x38000000);
  const float subnormal = f32_of(size + 0x38800000) - f32_of(0x38800000);
  return f32_of((size < 0x00800000 ? bits_of(subnormal) : rebiased) | sign);
}

[[gnu::always_inline]] inline float bf16_to_f32(uint16_t h) { return f32_of(uint32_t(h) << 16); }

// What cvt does with NaN differs by unit: f16 -> f32 makes it canonical, bf16 -> f32 keeps its bits, and everything
// that has an f64 on one side keeps the sign and as much of the payload as fits, made quiet.
inline float cvt_f32_f16(uint16_t h) { return canonical(f16_to_f32(h)); }
inline float cvt_f32_bf16(uint16_t h) { return bf16_to_f32(h); }
inline double cvt_f64_f32(float x) {
  const uint64_t bits = bits_of(x);
  const uint64_t nan = (bits & 0x80000000) << 32 | 0x7ff8000000000000 | (bits & 0x7fffff) << 29;
  return x != x ? f64_of(nan) : static_cast<double>(x);
}
inline double cvt_f64_f16(uint16_t h) { return cvt_f64_f32(f16_to_f32(h)); }
inline double cvt_f64_bf16(uint16_t h) { return cvt_f64_f32(bf16_to_f32(h)); }

// --- narrowing -----------------------------------------------------------------------------------------------------

inline uint32_t narrow_nan(double x, int exponent_bits, int fraction_bits) {
  const uint64_t bits = bits_of(x);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63) << (exponent_bits + fraction_bits);
  const uint32_t exponent = ((2u << exponent_bits) - 1) << (fraction_bits - 1);  // all ones and the quiet bit
  return sign | exponent | static_cast<uint32_t>((bits & 0xfffffffffffff) >> (52 - fraction_bits));
}

inline float cvt_f32_f64(double x, Rounding rounding) { return x != x ? f32_of(narrow_nan(x, 8, 23)) : round_to_f32(x, rounding); }

// The .ftz of cvt.f16.f32 changes nothing: the unit reads subnormals as they are.
[[gnu::always_inline]] inline uint16_t f32_to_f16(float x, Rounding rounding) {
  const uint32_t bits = bits_of(x);
  const uint32_t size = bits & 0x7fffffff;
  const uint32_t sign = bits >> 16 & 0x8000;
  if (rounding == Rounding::NearestEven) {
    // Adding a power of two that puts the wanted last bit at the end of the f32 significand lets the host round.
    const float aligned = f32_of(size) + f32_of(0x3f000000);
    const uint32_t subnormal = bits_of(aligned) - 0x3f000000;
    const uint32_t normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    uint32_t h = size < 0x38800000 ? subnormal : normal;
    h = size >= 0x47800000 ? 0x7c00 : h;
    return static_cast<uint16_t>(size > 0x7f800000 ? kNanF16 : h | sign);
  }
  if (size > 0x7f800000) return kNanF16;
  if (size == 0x7f800000) return static_cast<uint16_t>(0x7c00 | sign);
  if (size == 0) return static_cast<uint16_t>(sign);
  const uint32_t field = size >> 23;
  const uint64_t significand = field ? (size & 0x7fffff) | 0x800000 : size;
  return static_cast<uint16_t>(round_and_pack(kFormatF16, sign != 0, int(field ? field : 1) - 150, significand, rounding));
}

// bf16 is the upper half of an f32, so rounding is integer arithmetic on the bits.
[[gnu::always_inline]] inline uint16_t f32_to_bf16(float x, Rounding rounding) {
  const uint32_t bits = bits_of(x);
  const bool negative = bits >> 31;
  const bool infinite = (bits & 0x7fffffff) == 0x7f800000;
  const uint32_t add = rounding == Rounding::NearestEven                                                     ? 0x7fff + (bits >> 16 & 1)
                       : rounding == Rounding::NearestAway                                                   ? 0x8000
                       : (rounding == Rounding::Up && !negative) || (rounding == Rounding::Down && negative) ? 0xffff
                                                                                                             : 0;
  const uint32_t rounded = (bits + (infinite ? 0 : add)) >> 16;
  return static_cast<uint16_t>(x != x ? kNanBf16 : rounded);
}

inline uint16_t f64_to_f16(double x, Rounding rounding) {
  return x != x ? static_cast<uint16_t>(narrow_nan(x, 5, 10)) : f32_to_f16(round_to_odd_f32(x), rounding);
}
inline uint16_t f64_to_bf16(double x, Rounding rounding) {
  return x != x ? static_cast<uint16_t>(narrow_nan(x, 8, 7)) : f32_to_bf16(round_to_odd_f32(x), rounding);
}

// cvt.rna/rn/rz.tf32.f32: the 13 low bits of the f32 become zero. Rounding away is done by plain integer arithmetic,
// which cuts a NaN's payload; the other roundings return the canonical NaN.
inline uint32_t f32_to_tf32(float x, Rounding rounding) {
  const uint32_t bits = bits_of(x);
  if (x != x) return rounding == Rounding::NearestAway ? bits & 0xffffe000 : 0x7fffe000;
  if ((bits & 0x7fffffff) == 0x7f800000) return bits;
  const uint32_t add = rounding == Rounding::NearestAway ? 0x1000 : rounding == Rounding::NearestEven ? 0xfff + (bits >> 13 & 1) : 0;
  return (bits + add) & 0xffffe000;
}
inline uint32_t relu_tf32(uint32_t x) { return x >> 31 && (x & 0x7fffffff) <= 0x7f800000 ? 0 : x; }
// Whatever lies beyond the largest number, infinity or a NaN's bits, is brought one step down.
inline uint32_t satfinite_tf32(uint32_t x) { return (x & 0x7fffffff) > 0x7f7fe000 ? x - 0x2000 : x; }

// The optional last steps of a narrowing conversion.
inline uint16_t relu_f16(uint16_t h) { return (h & 0x7fff) > 0x7c00 ? kNanF16 : h & 0x8000 ? 0 : h; }
inline uint16_t relu_bf16(uint16_t h) { return (h & 0x7fff) > 0x7f80 ? kNanBf16 : h & 0x8000 ? 0 : h; }
inline uint16_t satfinite_f16(uint16_t h) { return (h & 0x7fff) == 0x7c00 ? h - 1 : h; }
inline uint16_t satfinite_bf16(uint16_t h) { return (h & 0x7fff) == 0x7f80 ? h - 1 : h; }
inline uint16_t saturate_f16(uint16_t h) { return (h & 0x7fff) > 0x7c00 || h & 0x8000 ? 0 : h > 0x3c00 ? 0x3c00 : h; }
inline uint16_t saturate_bf16(uint16_t h) { return (h & 0x7fff) > 0x7f80 || h & 0x8000 ? 0 : h > 0x3f80 ? 0x3f80 : h; }
inline uint16_t flush_f16(uint16_t h) { return h & 0x7c00 ? h : h & 0x8000; }

// --- fp8 -----------------------------------------------------------------------------------------------------------

// e4m3 has no infinity: the largest number is 448 = 0x7e and 0x7f is NaN. cvt to fp8 always is .rn.satfinite.
inline uint8_t f32_to_e4m3(float x) {
  const uint8_t sign = bits_of(x) >> 24 & 0x80;
  const float size = magnitude(x);
  if (x != x) return 0x7f;
  if (size >= 448.0f) return sign | 0x7e;
  if (size == 0) return sign;
  const Unpacked u = unpack(static_cast<double>(size));
  constexpr Format kE4m3{4, -6, 8};
  return sign | static_cast<uint8_t>(round_and_pack(kE4m3, false, u.exponent, u.significand, Rounding::NearestEven));
}

inline uint8_t f32_to_e5m2(float x) {
  const uint8_t sign = bits_of(x) >> 24 & 0x80;
  const float size = magnitude(x);
  if (x != x) return 0x7f;
  if (size >= 57344.0f) return sign | 0x7b;
  if (size == 0) return sign;
  const Unpacked u = unpack(static_cast<double>(size));
  return sign | static_cast<uint8_t>(round_and_pack(kFormatE5m2, false, u.exponent, u.significand, Rounding::NearestEven));
}

// .relu on fp8: negative numbers (and -0) become +0, NaN stays.
inline uint8_t relu_fp8(uint8_t q) { return (q & 0x7f) == 0x7f ? 0x7f : q & 0x80 ? 0 : q; }

inline uint16_t e4m3_to_f16(uint8_t q) {
  if ((q & 0x7f) == 0x7f) return kNanF16;
  const uint32_t size = q & 0x7f;
  // As f16 bits the number is 2^8 times too small, subnormals included.
  return f32_to_f16(f16_to_f32(static_cast<uint16_t>(size << 7)) * 256.0f, Rounding::NearestEven) | uint16_t(q & 0x80) << 8;
}

inline uint16_t e5m2_to_f16(uint8_t q) { return (q & 0x7f) > 0x7c ? kNanF16 : static_cast<uint16_t>(q << 8); }

// --- packing -------------------------------------------------------------------------------------------------------

// cvt.f16x2.f32 d, a, b puts a in the upper half.
inline uint32_t pack_halves(uint16_t upper, uint16_t lower) { return uint32_t(upper) << 16 | lower; }
inline uint16_t lower_half(uint32_t pair) { return static_cast<uint16_t>(pair); }
inline uint16_t upper_half(uint32_t pair) { return static_cast<uint16_t>(pair >> 16); }

// cvt.pack.sat.{u16,s16,u8,s8,u4,s4,u2,s2}.s32.b32: clamp a and b to `width` bits; the 16-bit form fills the register,
// narrower forms shift c up and append a then b.
inline int32_t clamp_to_width(int32_t x, int width, bool is_signed) {
  const int32_t low = is_signed ? -(1 << (width - 1)) : 0;
  const int32_t high = is_signed ? (1 << (width - 1)) - 1 : (1 << width) - 1;
  return x < low ? low : x > high ? high : x;
}

inline uint32_t cvt_pack(int32_t a, int32_t b, uint32_t c, int width, bool is_signed) {
  const uint32_t mask = (uint32_t{1} << width) - 1;
  const uint32_t upper = static_cast<uint32_t>(clamp_to_width(a, width, is_signed)) & mask;
  const uint32_t lower = static_cast<uint32_t>(clamp_to_width(b, width, is_signed)) & mask;
  const uint32_t pair = upper << width | lower;
  return width == 16 ? pair : c << (2 * width) | pair;
}

}  // namespace warpbeam::isa
