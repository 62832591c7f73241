// Philox4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): four words at a time out of a
// counter. The sequence's number is the counter's upper half, so sequences are 2^66 words apart.
#ifndef WARPBEAM_CURAND_PHILOX_H
#define WARPBEAM_CURAND_PHILOX_H
#pragma GCC system_header

#include "states.h"

QUALIFIERS uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long even = 0xD2511F53ull * counter.x, odd = 0xCD9E8D57ull * counter.z;
    counter = make_uint4((unsigned int)(odd >> 32) ^ counter.y ^ key.x, (unsigned int)odd,
                         (unsigned int)(even >> 32) ^ counter.w ^ key.y, (unsigned int)even);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

QUALIFIERS void Philox_State_Incr(curandStatePhilox4_32_10_t* s, unsigned long long n) {
  const unsigned long long low = s->ctr.x | ((unsigned long long)s->ctr.y << 32), sum = low + n;
  s->ctr.x = (unsigned int)sum;
  s->ctr.y = (unsigned int)(sum >> 32);
  if (sum < low && ++s->ctr.z == 0) ++s->ctr.w;
}

QUALIFIERS void Philox_State_Incr(curandStatePhilox4_32_10_t* s) {
  if (++s->ctr.x == 0 && ++s->ctr.y == 0 && ++s->ctr.z == 0) ++s->ctr.w;
}

QUALIFIERS void Philox_State_Incr_hi(curandStatePhilox4_32_10_t* s, unsigned long long n) {
  const unsigned long long high = (s->ctr.z | ((unsigned long long)s->ctr.w << 32)) + n;
  s->ctr.z = (unsigned int)high;
  s->ctr.w = (unsigned int)(high >> 32);
}

QUALIFIERS unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const unsigned int at = state->STATE;
  const unsigned int result = at == 1   ? state->output.y
                              : at == 2 ? state->output.z
                              : at == 3 ? state->output.w
                                        : state->output.x;
  if (++state->STATE == 4) {
    Philox_State_Incr(state);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
    state->STATE = 0;
  }
  return result;
}

QUALIFIERS uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 now = state->output;
  Philox_State_Incr(state);
  const uint4 next = state->output = curand_Philox4x32_10(state->ctr, state->key);
  switch (state->STATE) {
    case 1:
      return make_uint4(now.y, now.z, now.w, next.x);
    case 2:
      return make_uint4(now.z, now.w, next.x, next.y);
    case 3:
      return make_uint4(now.w, next.x, next.y, next.z);
    default:
      return now;
  }
}

QUALIFIERS void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned int at = state->STATE + (unsigned int)(n & 3);
  state->STATE = at & 3;
  Philox_State_Incr(state, n / 4 + at / 4);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}

QUALIFIERS void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  Philox_State_Incr_hi(state, n);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}

QUALIFIERS void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
  state->STATE = 0;
  Philox_State_Incr_hi(state, subsequence);
  skipahead(offset, state);
  warpbeam_curand::forget_extras(state);
}

#endif
