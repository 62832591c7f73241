// Jumps of the XORWOW generator. One step of its xorshift part is a linear map A of 160 bits over GF(2), so n steps are
// A^n. By Cayley and Hamilton A^n = q(A) with q = x^n mod P, where P is A's characteristic polynomial: a jump needs
// five words per power of two, not a matrix, and the compiler computes them from P.
#ifndef WARPBEAM_CURAND_XORWOW_JUMPS_H
#define WARPBEAM_CURAND_XORWOW_JUMPS_H
#pragma GCC system_header

#include "states.h"

#ifdef WB_CURAND_CODE_RUNS_HERE
namespace warpbeam_curand {

// A polynomial over GF(2) of a degree below 160: the coefficients of x^0 … x^127, and of x^128 … x^159.
typedef unsigned __int128 Low;
struct Polynomial {
  Low low;
  unsigned int high;
};
#define WB_XORWOW_POLYNOMIAL(high, middle, bottom) {((warpbeam_curand::Low)middle << 64) | bottom, high}
// What x^160 is modulo P, and x^(2^67): sequences are 2^67 numbers apart.
#define WB_XORWOW_X_160 WB_XORWOW_POLYNOMIAL(0xf0eu, 0x0f3c003500062121u, 0x0861003000060001u)
#define WB_XORWOW_X_2_67 WB_XORWOW_POLYNOMIAL(0x947e6dd2u, 0x930052d41a87dad0u, 0x77bbc24826294934u)

#if __cplusplus >= 201402L
#define WB_XORWOW_CONSTEXPR constexpr
#else
#define WB_XORWOW_CONSTEXPR __host__ __device__ inline
#endif

WB_XORWOW_CONSTEXPR void multiply_by_x(Polynomial& p) {
  constexpr Polynomial rest = WB_XORWOW_X_160;
  const bool overflow = p.high >> 31;
  p.high = (p.high << 1) | (unsigned int)(p.low >> 127);
  p.low <<= 1;
  if (overflow) {
    p.high ^= rest.high;
    p.low ^= rest.low;
  }
}

WB_XORWOW_CONSTEXPR bool has(const Polynomial& p, int power) {
  return power < 128 ? (p.low >> power) & 1 : (p.high >> (power - 128)) & 1;
}

WB_XORWOW_CONSTEXPR Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial result = {0, 0};
  for (int power = 159; power >= 0; --power) {
    multiply_by_x(result);
    if (has(b, power)) {
      result.high ^= a.high;
      result.low ^= a.low;
    }
  }
  return result;
}

#if __cplusplus >= 201402L
// x^160, x^162 … x^318: squaring over GF(2) doubles every exponent, and these are the ones that leave the polynomial.
struct EvenPowers {
  Polynomial p[80];
};
constexpr EvenPowers even_powers() {
  EvenPowers powers{};
  powers.p[0] = WB_XORWOW_X_160;
  for (int i = 1; i < 80; ++i) {
    powers.p[i] = powers.p[i - 1];
    multiply_by_x(powers.p[i]);
    multiply_by_x(powers.p[i]);
  }
  return powers;
}
constexpr Polynomial square(const Polynomial& p, const EvenPowers& even) {
  Polynomial result = {0, 0};
  for (int i = 0; i < 64; ++i) result.low |= ((p.low >> i) & 1) << (2 * i);
  for (int i = 64; i < 80; ++i) result.high |= (unsigned int)(p.low >> i & 1) << (2 * i - 128);
  for (int i = 80; i < 160; ++i)
    if (has(p, i)) {
      result.high ^= even.p[i - 80].high;
      result.low ^= even.p[i - 80].low;
    }
  return result;
}

// first^(2^k)
struct Jumps {
  Polynomial power[64];
};
constexpr Jumps jumps(const Polynomial& first) {
  const EvenPowers even = even_powers();
  Jumps all{};
  all.power[0] = first;
  for (int k = 1; k < 64; ++k) all.power[k] = square(all.power[k - 1], even);
  return all;
}

// Threads of one warp usually ask for sequences with consecutive numbers: for each of the lowest hexadecimal digits
// there is a polynomial per value, so that lanes with different digits jump together.
enum { kDigits = 3 };
struct DigitJumps {
  Polynomial value[kDigits][16];
};
constexpr DigitJumps digit_jumps(const Jumps& jumps) {
  DigitJumps all{};
  for (int digit = 0; digit < kDigits; ++digit) {
    all.value[digit][0].low = 1;
    for (int value = 1; value < 16; ++value) {
      const int lowest = value & 1 ? 0 : value & 2 ? 1 : value & 4 ? 2 : 3;
      const Polynomial& single = jumps.power[4 * digit + lowest];
      all.value[digit][value] = value & (value - 1) ? product(all.value[digit][value & (value - 1)], single) : single;
    }
  }
  return all;
}

static constexpr Jumps kOffsets = jumps({2, 0});
static constexpr Jumps kSequences = jumps(WB_XORWOW_X_2_67);
static constexpr DigitJumps kSequenceDigits = digit_jumps(kSequences);
#endif

// q(A) applied to the state, by Horner: r = A r + (a coefficient) s, from the highest coefficient on. The words of r
// take turns as the oldest, so five steps move nothing.
QUALIFIERS void apply(const Polynomial& q, unsigned int s[5]) {
  const unsigned long long bottom = (unsigned long long)q.low, middle = (unsigned long long)(q.low >> 64);
  unsigned int c0 = (unsigned int)bottom, c1 = (unsigned int)(bottom >> 32), c2 = (unsigned int)middle,
               c3 = (unsigned int)(middle >> 32), c4 = q.high;
  unsigned int r[5] = {0, 0, 0, 0, 0};
#pragma unroll 1
  for (int fives = 0; fives < 32; ++fives) {
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      const unsigned int newest = r[(i + 4) % 5], t = r[i] ^ (r[i] >> 2);
      r[i] = newest ^ (newest << 4) ^ t ^ (t << 1);
      const unsigned int chosen = (unsigned int)((int)(c4 << i) >> 31);
#pragma unroll
      for (int word = 0; word < 5; ++word) r[(i + 1 + word) % 5] ^= s[word] & chosen;
    }
    c4 = (c4 << 5) | (c3 >> 27);
    c3 = (c3 << 5) | (c2 >> 27);
    c2 = (c2 << 5) | (c1 >> 27);
    c1 = (c1 << 5) | (c0 >> 27);
    c0 <<= 5;
  }
#pragma unroll
  for (int word = 0; word < 5; ++word) s[word] = r[word];
}

#if __cplusplus >= 201402L
QUALIFIERS void jump(const Polynomial* powers, unsigned long long n, unsigned int s[5]) {
  for (; n != 0; n >>= 1, ++powers)
    if (n & 1) apply(*powers, s);
}
QUALIFIERS void jump_offset(unsigned long long n, unsigned int s[5]) { jump(kOffsets.power, n, s); }
QUALIFIERS void jump_sequences(unsigned long long n, unsigned int s[5]) {
#pragma unroll 1
  for (int digit = 0; digit < kDigits; ++digit) {
    const unsigned int value = (unsigned int)(n >> (4 * digit)) & 15;
    if (value != 0) apply(kSequenceDigits.value[digit][value], s);
  }
  jump(kSequences.power + 4 * kDigits, n >> (4 * kDigits), s);
}
#else
// The compiler computes no loops in C++11; the threads square for themselves.
QUALIFIERS void jump(Polynomial power, unsigned long long n, unsigned int s[5]) {
  for (; n != 0; n >>= 1, power = product(power, power))
    if (n & 1) apply(power, s);
}
QUALIFIERS void jump_offset(unsigned long long n, unsigned int s[5]) { jump(Polynomial{2, 0}, n, s); }
QUALIFIERS void jump_sequences(unsigned long long n, unsigned int s[5]) { jump(Polynomial WB_XORWOW_X_2_67, n, s); }
#endif

}  // namespace warpbeam_curand
#else
namespace warpbeam_curand {
QUALIFIERS void jump_offset(unsigned long long, unsigned int*) {}
QUALIFIERS void jump_sequences(unsigned long long, unsigned int*) {}
}  // namespace warpbeam_curand
#endif

#endif
