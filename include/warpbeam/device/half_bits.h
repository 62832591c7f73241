// The two 16-bit floating-point formats on their bits: widening, narrowing in every rounding mode, fused multiply-add.
// This is what host code and old architectures use, bit for bit what the instructions give.
#ifndef WARPBEAM_DEVICE_HALF_BITS_H
#define WARPBEAM_DEVICE_HALF_BITS_H

#include "attributes.h"

enum wb_rounding { wb_rn, wb_rz, wb_ru, wb_rd };

// A format with `significand` stored bits; f16 has 10 of them and 5 of exponent, bf16 7 and 8.
template <int significand>
struct wb_narrow_float {
  static constexpr int max_exponent = significand == 10 ? 15 : 127;
  static constexpr int min_exponent = 1 - max_exponent;
  static constexpr unsigned int infinity = (unsigned int)(2 * max_exponent + 1) << significand;
  static constexpr unsigned int nan = 0x7fff;

  static __host__ __device__ unsigned short narrow(double x, wb_rounding mode) {
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
    const unsigned int sign = (unsigned int)(bits >> 48) & 0x8000u;
    const int biased = (int)(bits >> 52) & 0x7ff;
    unsigned long long fraction = bits & 0xfffffffffffffull;
    if (biased == 0x7ff) return (unsigned short)(fraction ? nan : sign | infinity);
    if (biased == 0 && fraction == 0) return (unsigned short)sign;
    int exponent = biased - 1023;
    if (biased != 0) fraction |= 1ull << 52;
    // Cut below the last bit kept: a subnormal result keeps fewer.
    int cut = 52 - significand;
    if (exponent < min_exponent) {
      cut += min_exponent - exponent;
      exponent = min_exponent - 1;
    }
    unsigned long long kept, rest, half;
    if (cut > 62) {
      kept = 0, rest = 1, half = 2;  // below half of the smallest number
    } else {
      kept = fraction >> cut, rest = fraction & ((1ull << cut) - 1), half = 1ull << (cut - 1);
    }
    const bool away = mode == wb_rn   ? rest > half || (rest == half && (kept & 1))
                      : mode == wb_ru ? rest != 0 && !sign
                      : mode == wb_rd ? rest != 0 && sign != 0
                                      : false;
    // The hidden bit of a normal number carries into the exponent by itself, and so does rounding up.
    unsigned long long magnitude = kept + away;
    if (exponent >= min_exponent) magnitude += (unsigned long long)(exponent + max_exponent - 1) << significand;
    if (magnitude >= infinity) {
      const bool to_infinity = mode == wb_rn || (mode == wb_ru && !sign) || (mode == wb_rd && sign);
      magnitude = to_infinity ? infinity : infinity - 1;
    }
    return (unsigned short)(sign | magnitude);
  }

  static __host__ __device__ unsigned short narrow(float x, wb_rounding mode) {
    if (significand != 7) return narrow((double)x, mode);
    // bf16 is the upper half of a float.
    const unsigned int bits = __builtin_bit_cast(unsigned int, x);
    if (x != x) return nan;
    const unsigned int rest = bits & 0xffffu, kept = bits >> 16;
    const bool away = mode == wb_rn   ? rest > 0x8000u || (rest == 0x8000u && (kept & 1))
                      : mode == wb_ru ? rest != 0 && !(bits >> 31)
                      : mode == wb_rd ? rest != 0 && bits >> 31
                                      : false;
    return (unsigned short)(kept + away);
  }

  // A 64-bit integer has more bits than double; forcing the last one on keeps it from landing on a tie.
  static __host__ __device__ unsigned short narrow(unsigned long long x, bool negative, wb_rounding mode) {
    if (x >> 53) x = (x & ~2047ull) | ((x & 2047ull) ? 2048ull : 0);
    const double magnitude = (double)x;
    return narrow(negative ? -magnitude : magnitude, mode);
  }

  static __host__ __device__ float widen(unsigned short h) {
    if (significand == 7) return __builtin_bit_cast(float, (unsigned int)h << 16);
    const unsigned int sign = (unsigned int)(h & 0x8000u) << 16;
    const unsigned int magnitude = h & 0x7fffu;
    if (magnitude >= infinity) {
      return __builtin_bit_cast(float, magnitude > infinity ? 0x7fffffffu : sign | 0x7f800000u);
    }
    if (magnitude >= 1u << significand) {
      return __builtin_bit_cast(float, sign | ((magnitude << (23 - significand)) + ((127u - max_exponent) << 23)));
    }
    const float value = (float)magnitude * 5.9604644775390625e-8f;  // subnormal: in units of 2^-24
    return sign ? -value : value;
  }

  // a·b is exact in double. The sum is rounded to odd, which leaves the second rounding right.
  static __host__ __device__ unsigned short fma(unsigned short a, unsigned short b, unsigned short c) {
    const double product = (double)widen(a) * (double)widen(b);
    const double addend = (double)widen(c);
    double sum = product + addend;
    const double part = sum - product;
    const double error = (product - (sum - part)) + (addend - part);
    long long bits = __builtin_bit_cast(long long, sum);
    if (error == error && error != 0.0 && !(bits & 1)) {
      bits += (error > 0.0) == (sum > 0.0) ? 1 : -1;
      sum = __builtin_bit_cast(double, bits);
    }
    return narrow(sum, wb_rn);
  }

  static __host__ __device__ bool is_nan(unsigned short h) { return (h & 0x7fffu) > infinity; }
  // As the instructions order them: -0 before +0, and a number before NaN.
  static __host__ __device__ bool less(unsigned short a, unsigned short b) {
    const int x = a & 0x8000u ? -(int)(a & 0x7fffu) - 1 : (int)a;
    const int y = b & 0x8000u ? -(int)(b & 0x7fffu) - 1 : (int)b;
    return x < y;
  }
  static __host__ __device__ unsigned short extremum(unsigned short a, unsigned short b, bool max, bool nan_wins) {
    if (is_nan(a) || is_nan(b)) {
      if (nan_wins || (is_nan(a) && is_nan(b))) return nan;
      return is_nan(a) ? b : a;
    }
    return less(a, b) == max ? b : a;
  }
  // Clamped to [0, 1]; NaN becomes +0.
  static __host__ __device__ unsigned short saturate(unsigned short h) {
    const unsigned short one = (unsigned short)(max_exponent << significand);
    if (is_nan(h) || (h & 0x8000u)) return 0;
    return h > one ? one : h;
  }
  static __host__ __device__ unsigned short relu(unsigned short h) {
    return is_nan(h) ? (unsigned short)nan : h & 0x8000u ? (unsigned short)0 : h;
  }
};

#endif
