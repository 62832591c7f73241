// The special function unit (MUFU), bit for bit.
//
// The unit evaluates a quadratic a + b*x + c*x^2 per table segment in fixed point with a truncated squarer and
// truncates the sum (S. Oberman and M. Siu, "A High-Performance Area-Efficient Multifunction Interpolator", ARITH
// 2005). All functions take and return f32 bit patterns, read subnormals as zero and flush subnormal results, whatever
// the instruction's .ftz says; approx.h adds the scaling steps that instructions without .ftz put around the unit.
#pragma once
#include "isa/arith/float_bits.h"
#include "isa/arith/mufu_tables.h"

namespace warpbeam::isa::mufu {

inline constexpr uint32_t kInfinity = 0x7f800000;

// x*x / 2^19 for 17-bit x: each partial product loses the bits below the last column. Of the two halves of x, the upper
// one's square keeps all of its bits and the lower one's none; the products of one with the other lose theirs.
[[gnu::always_inline]] inline uint32_t square(uint32_t x) {
  const uint32_t high = x >> 9, low = x & 0x1ff;
  uint32_t mixed = 0;
  for (int i = 1; i < 8; ++i) mixed += high >> i & 1 ? low >> (9 - i) : 0;
  return (high * high >> 1) + mixed;
}

// A fixed-point number below 2^63 with the given weight of bit 0, truncated to 24 significant bits.
[[gnu::always_inline]] inline uint32_t truncate_to_f32(uint64_t fixed, int exponent_of_bit_0) {
  if (fixed == 0) return 0;
  const int top = 63 - std::countl_zero(fixed);
  const uint64_t significand = top > 23 ? fixed >> (top - 23) : fixed << (23 - top);
  return (uint32_t(top + exponent_of_bit_0 + 127) << 23) + (uint32_t(significand) & 0x7fffff);
}

[[gnu::always_inline]] inline uint32_t rcp(uint32_t bits) {
  const uint32_t sign = bits & 0x80000000;
  const int exponent = int(bits >> 23 & 0xff);
  const uint32_t fraction = bits & 0x7fffff;
  const Segment s = kReciprocal[fraction >> 16];
  const uint32_t x = fraction & 0xffff;
  const int64_t sum = (int64_t{s.value} << 13) + int64_t{s.slope} * x + int64_t{s.curvature} * square(x << 1) + 0x7e7;
  // 2^24 stands for one; the hidden bit adds itself to the exponent.
  const int32_t result = ((252 - exponent) << 23) + int32_t(sum >> 15);
  if (exponent == 0) return sign | kInfinity;
  if (exponent == 255) return fraction ? kNanF32 : sign;
  return sign | (result < 0x00800000 ? 0 : uint32_t(result));
}

// The index of the square-root tables: one bit of exponent above six of fraction.
[[gnu::always_inline]] inline uint32_t root_operand(uint32_t bits) { return (bits & 0x7fffff) | (~bits & 0x800000); }

[[gnu::always_inline]] inline uint32_t rsqrt(uint32_t bits) {
  const int exponent = int(bits >> 23 & 0xff);
  const uint32_t operand = root_operand(bits);
  const Segment s = kReciprocalRoot[operand >> 17];
  const uint32_t x = operand & 0x1ffff;
  const int64_t sum = (int64_t{s.value} << 14) + int64_t{s.slope} * x + (int64_t{s.curvature} * square(x) << 2) + 0x3fff;
  const int half = (exponent - 127) >> 1;
  uint32_t result = (uint32_t(125 - half) << 23) + uint32_t(sum >> 16);
  // Even powers of two are exact.
  if (operand == 0) result = uint32_t(127 - half) << 23;
  if (exponent == 0) return (bits & 0x80000000) | kInfinity;
  if (bits > kInfinity) return kNanF32;
  return bits == kInfinity ? 0 : result;
}

[[gnu::always_inline]] inline uint32_t sqrt(uint32_t bits) {
  const int exponent = int(bits >> 23 & 0xff);
  const uint32_t operand = root_operand(bits);
  const bool odd = operand >> 23;
  const Segment s = kSquareRoot[operand >> 17];
  const uint32_t x = operand & 0x1ffff;
  const int64_t linear = int64_t{s.slope} * x;
  const int64_t curved = int64_t{s.curvature} * square(x);
  const int64_t sum = odd ? (int64_t{s.value} << 14) + linear + curved + 0x3fff : (int64_t{s.value} << 15) + linear + curved * 2 + 0x7fff;
  const int half = (exponent - 127) >> 1;
  uint32_t result = (uint32_t(126 + half) << 23) + uint32_t(sum >> (odd ? 16 : 17));
  if (operand == 0) result = uint32_t(127 + half) << 23;
  if (exponent == 0) return bits & 0x80000000;
  if (bits > kInfinity) return kNanF32;
  return bits == kInfinity ? kInfinity : result;
}

// The f64 seeds work on the upper word: the same tables, the result cut to 20 bits of fraction.
[[gnu::always_inline]] inline uint32_t rcp64h(uint32_t high) {
  const uint32_t sign = high & 0x80000000;
  const int exponent = int(high >> 20 & 0x7ff);
  const uint32_t fraction = high & 0xfffff;
  const Segment s = kReciprocal[fraction >> 13];
  const uint32_t x = (fraction & 0x1fff) << 3;
  const int64_t sum = (int64_t{s.value} << 13) + int64_t{s.slope} * x + int64_t{s.curvature} * square(x << 1) + 0x7e7;
  const int32_t result = (2044 - exponent) * 0x100000 + int32_t(sum >> 18);
  if (exponent == 0) return sign | 0x7ff00000;
  if (exponent == 0x7ff) return fraction ? 0x7fffffff : sign;
  return sign | (result < 0x00100000 ? 0 : uint32_t(result));
}

[[gnu::always_inline]] inline uint32_t rsqrt64h(uint32_t high) {
  const int exponent = int(high >> 20 & 0x7ff);
  const uint32_t operand = (high & 0xfffff) << 3 | (~high & 0x100000) << 3;
  const Segment s = kReciprocalRoot[operand >> 17];
  const uint32_t x = operand & 0x1ffff;
  const int64_t sum = (int64_t{s.value} << 14) + int64_t{s.slope} * x + (int64_t{s.curvature} * square(x) << 2) + 0x3fff;
  const int half = (exponent - 1023) >> 1;
  uint32_t result = (uint32_t(1021 - half) << 20) + uint32_t(sum >> 19);
  if (operand == 0) result = uint32_t(1023 - half) << 20;
  if (exponent == 0) return (high & 0x80000000) | 0x7ff00000;
  if (high > 0x7ff00000) return 0x7fffffff;
  return high == 0x7ff00000 ? 0 : result;
}

// |x| * 2^fraction_bits for |x| below 2^(31 - fraction_bits).
[[gnu::always_inline]] inline uint32_t to_fixed(uint32_t bits, int fraction_bits) {
  const int shift = int(bits >> 23 & 0xff) - 150 + fraction_bits;
  const uint32_t significand = (bits & 0x7fffff) | 0x800000;
  return shift >= 0 ? significand << (shift & 31) : shift > -25 ? significand >> (-shift & 31) : 0;
}

[[gnu::always_inline]] inline uint32_t ex2(uint32_t bits) {
  const uint32_t size = bits & 0x7fffffff;
  if (size > kInfinity) return kNanF32;
  if (size >= 0x43000000) return bits >> 31 ? 0 : kInfinity;  // |x| >= 128
  const uint32_t fixed = to_fixed(bits, 23);
  // Negating complements the bits and adds one only to whole numbers.
  const uint32_t negated = fixed & 0x7fffff ? ~fixed : 0 - fixed;
  const int32_t power = int32_t(bits >> 31 ? negated : fixed);
  const uint32_t fraction = uint32_t(power) & 0x7fffff;
  const Segment s = kExponential[fraction >> 17];
  const uint32_t x = fraction & 0x1ffff;
  const int64_t sum = (int64_t{s.value} << 13) + int64_t{s.slope} * x + int64_t{s.curvature} * square(x) + 0x17e2;
  const int32_t result = ((power >> 23) + 126) * 0x800000 + int32_t(sum >> 15);
  return result < 0x00800000 ? 0 : uint32_t(result);
}

[[gnu::always_inline]] inline uint32_t lg2(uint32_t bits) {
  const int exponent = int(bits >> 23 & 0xff);
  const uint32_t fraction = bits & 0x7fffff;
  const Segment s = kLogarithm[fraction >> 17];
  const uint32_t x = fraction & 0x1ffff;
  int64_t sum = (int64_t{s.value} << 12) + int64_t{s.slope} * x + int64_t{s.curvature} * square(x) * 2 + 0x345;
  if (bits == 0x3f800000) sum = 0;
  const int64_t fixed = (sum >> 2) + int64_t{exponent - 127} * (int64_t{1} << 36);
  if (exponent == 0) return 0xff800000;
  if (bits > kInfinity) return kNanF32;
  if (bits == kInfinity) return kInfinity;
  return fixed < 0 ? 0x80000000 | truncate_to_f32(uint64_t(~fixed), -36) : truncate_to_f32(uint64_t(fixed), -36);
}

// The sine of an operand in turns; the cosine starts a quarter turn on.
[[gnu::always_inline]] inline uint32_t sine(uint32_t bits, bool cosine) {
  const int exponent = int(bits >> 23 & 0xff);
  if (exponent == 255) return kNanF32;
  // Quarter turns with 23 bits after the point; whole turns fall off the top.
  const int shift = exponent - 150 + 25;
  const uint64_t significand = (bits & 0x7fffff) | 0x800000;
  const uint64_t quarters = shift >= 25 ? 0 : shift >= 0 ? significand << shift : shift > -25 ? significand >> -shift : 0;
  uint32_t phase = uint32_t(quarters) & 0x1ffffff;
  uint32_t sign = cosine ? 0 : bits & 0x80000000;
  if (cosine) phase += 0x800000;
  if (phase & 0x1000000) sign ^= 0x80000000;
  if (phase & 0x800000) phase = ~phase;
  const Segment s = kSine[phase >> 17 & 0x3f];
  const uint32_t x = phase & 0x1ffff;
  const int64_t sum = (int64_t{s.value} << 11) + int64_t{s.slope} * x + int64_t{s.curvature} * square(x);
  return sign | truncate_to_f32(uint64_t(sum), -37);
}

[[gnu::always_inline]] inline uint32_t tanh(uint32_t bits) {
  // Per octave from 2^-8: the first segment and how many bits of the fraction choose one inside the octave.
  constexpr uint8_t kFirst[11] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
  constexpr uint8_t kIndexBits[11] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};
  const uint32_t sign = bits & 0x80000000;
  const int octave = int(bits >> 23 & 0xff) - 119;
  const uint32_t fraction = bits & 0x7fffff;
  if ((bits & 0x7fffffff) > kInfinity) return kNanF32;
  if (octave > 10) return sign | 0x3f800000;
  if (octave < 0) return bits;
  const uint32_t kept = fraction >> (6 - kIndexBits[octave]);
  const Segment s = kTanh[kFirst[octave] + (kept >> 17)];
  const uint32_t x = kept & 0x1ffff;
  const int64_t sum = (int64_t{s.value} << 18) + int64_t{s.slope} * 8 * x + int64_t{s.curvature} * 16 * square(x);
  return sign | truncate_to_f32(uint64_t(sum), -42);
}

}  // namespace warpbeam::isa::mufu
