// XORWOW (G. Marsaglia, "Xorshift RNGs", 2003): five words of xorshift plus a Weyl sequence; the default generator.
#ifndef WARPBEAM_CURAND_XORWOW_H
#define WARPBEAM_CURAND_XORWOW_H
#pragma GCC system_header

#include "xorwow_jumps.h"

QUALIFIERS unsigned int curand(curandStateXORWOW_t* state) {
  const unsigned int t = state->v[0] ^ (state->v[0] >> 2), newest = state->v[4];
  state->v[0] = state->v[1];
  state->v[1] = state->v[2];
  state->v[2] = state->v[3];
  state->v[3] = newest;
  state->v[4] = newest ^ (newest << 4) ^ t ^ (t << 1);
  state->d += 362437;
  return state->v[4] + state->d;
}

QUALIFIERS void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  warpbeam_curand::jump_offset(n, state->v);
  state->d += 362437 * (unsigned int)n;
}

// 2^67 steps per sequence; the Weyl part repeats after 2^32.
QUALIFIERS void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
  warpbeam_curand::jump_sequences(n, state->v);
}

QUALIFIERS void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandStateXORWOW_t* state) {
  const unsigned int low = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u);
  const unsigned int high = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
  state->d = 6615241u + high + low;
  state->v[0] = 123456789u + low;
  state->v[1] = 362436069u ^ low;
  state->v[2] = 521288629u + high;
  state->v[3] = 88675123u ^ high;
  state->v[4] = 5783321u + low;
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
  warpbeam_curand::forget_extras(state);
}

#endif
