// MRG32k3a (P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number
// generators", 1999): two recurrences of order three, x[n+3] = a x[n+2] + b x[n+1] + c x[n], modulo two primes near
// 2^32. A jump by n multiplies by x^n modulo the recurrence's characteristic polynomial.
#ifndef WARPBEAM_CURAND_MRG32K3A_H
#define WARPBEAM_CURAND_MRG32K3A_H
#pragma GCC system_header

#include "states.h"

#define MRG32K3A_NORM (2.3283065498378288e-10)
// (2^32 - 1) / modulus 1, as cuRAND rounds it
#define MRG32K3A_BITS_NORM 1.000000048662

namespace warpbeam_curand {

typedef unsigned long long Wide;

struct FirstRecurrence {
  static constexpr Wide modulus = 4294967087u, a = 0, b = 1403580u, c = modulus - 810728u;
};
struct SecondRecurrence {
  static constexpr Wide modulus = 4294944443u, a = 527612u, b = 0, c = modulus - 1370589u;
};

template <class R>
QUALIFIERS unsigned int next(const unsigned int x[3]) {
  return (unsigned int)((R::a * x[2] % R::modulus + R::b * x[1] % R::modulus + R::c * x[0] % R::modulus) % R::modulus);
}

template <class R>
QUALIFIERS unsigned int step(unsigned int x[3]) {
  const unsigned int newest = next<R>(x);
  x[0] = x[1];
  x[1] = x[2];
  x[2] = newest;
  return newest;
}

// A whole number from 1 to the first modulus.
QUALIFIERS unsigned int whole(curandStateMRG32k3a_t* state) {
  const unsigned int first = step<FirstRecurrence>(state->s1), second = step<SecondRecurrence>(state->s2);
  return first - second + (first <= second ? (unsigned int)FirstRecurrence::modulus : 0);
}

#ifdef WB_CURAND_CODE_RUNS_HERE
// q[0] + q[1] x + q[2] x^2
struct Cubic {
  unsigned int q[3];
};

template <class R>
constexpr Cubic with_fourth(Wide q0, Wide q1, Wide q2, Wide q3) {  // x^3 = a x^2 + b x + c
  return Cubic{{(unsigned int)((q0 + q3 * R::c) % R::modulus), (unsigned int)((q1 + q3 * R::b) % R::modulus),
                (unsigned int)((q2 + q3 * R::a) % R::modulus)}};
}
template <class R>
constexpr Cubic with_fifth(Wide q0, Wide q1, Wide q2, Wide q3, Wide q4) {
  return with_fourth<R>(q0, (q1 + q4 * R::c) % R::modulus, (q2 + q4 * R::b) % R::modulus,
                        (q3 + q4 * R::a) % R::modulus);
}
template <class R>
constexpr Cubic squared(Cubic p) {
  return with_fifth<R>((Wide)p.q[0] * p.q[0] % R::modulus, (Wide)p.q[0] * p.q[1] % R::modulus * 2 % R::modulus,
                       ((Wide)p.q[0] * p.q[2] % R::modulus * 2 + (Wide)p.q[1] * p.q[1] % R::modulus) % R::modulus,
                       (Wide)p.q[1] * p.q[2] % R::modulus * 2 % R::modulus, (Wide)p.q[2] * p.q[2] % R::modulus);
}

// x^(2^k), out of x^(2^0)
template <class R>
constexpr Cubic power_of_two(int k, Cubic p) {
  return k == 0 ? p : power_of_two<R>(k - 1, squared<R>(p));
}

// n 2^first_power steps
template <class R, int first_power>
QUALIFIERS void jump(unsigned long long n, unsigned int x[3]) {
  constexpr Cubic first = power_of_two<R>(first_power, Cubic{{0, 1, 0}});
  Cubic p = first;
  for (; n != 0; n >>= 1, p = squared<R>(p)) {
    if ((n & 1) == 0) continue;
    unsigned int moving[3] = {x[0], x[1], x[2]}, result[3];
    for (int i = 0; i < 3; ++i) {
      Wide sum = 0;
      for (int j = 0; j < 3; ++j) sum += (Wide)p.q[j] * moving[j] % R::modulus;
      result[i] = (unsigned int)(sum % R::modulus);
      step<R>(moving);
    }
    for (int i = 0; i < 3; ++i) x[i] = result[i];
  }
}
#else
template <class R, int first_power>
QUALIFIERS void jump(unsigned long long, unsigned int*) {}
#endif

template <int first_power>
QUALIFIERS void jump(unsigned long long n, curandStateMRG32k3a_t* state) {
  jump<FirstRecurrence, first_power>(n, state->s1);
  jump<SecondRecurrence, first_power>(n, state->s2);
}

}  // namespace warpbeam_curand

QUALIFIERS double curand_MRG32k3a(curandStateMRG32k3a_t* state) { return warpbeam_curand::whole(state); }

QUALIFIERS unsigned int curand(curandStateMRG32k3a_t* state) {
  return (unsigned int)(curand_MRG32k3a(state) * MRG32K3A_BITS_NORM);
}

QUALIFIERS void skipahead(unsigned long long n, curandStateMRG32k3a_t* state) { warpbeam_curand::jump<0>(n, state); }

QUALIFIERS void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  warpbeam_curand::jump<76>(n, state);
}

QUALIFIERS void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  warpbeam_curand::jump<127>(n, state);
}

QUALIFIERS void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandStateMRG32k3a_t* state) {
  using warpbeam_curand::Wide;
  const Wide low = (unsigned int)seed ^ 0x55555555u, high = (unsigned int)(seed >> 32) ^ 0xAAAAAAAAu;
  for (int i = 0; i < 3; ++i) {
    state->s1[i] =
        seed == 0 ? 12345u : (unsigned int)((i == 1 ? high : low) * 12345u % warpbeam_curand::FirstRecurrence::modulus);
    state->s2[i] = seed == 0
                       ? 12345u
                       : (unsigned int)((i == 1 ? low : high) * 12345u % warpbeam_curand::SecondRecurrence::modulus);
  }
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
  warpbeam_curand::forget_extras(state);
}

#endif
