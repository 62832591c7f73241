// Sobol sequences, plain and scrambled, with 32 and 64 bits: number n is the exclusive or of the direction vectors that
// n's Gray code selects, so each number differs from the one before it by a single vector.
#ifndef WARPBEAM_CURAND_SOBOL_H
#define WARPBEAM_CURAND_SOBOL_H
#pragma GCC system_header

#include "states.h"

namespace warpbeam_curand {

template <class State, class Word>
QUALIFIERS void skip_sobol(Word n, State* state) {
  state->i += n;
  state->x = state->c;
  Word gray = state->i ^ (state->i >> 1);
  for (int k = 0; gray != 0; ++k, gray >>= 1)
    if (gray & 1) state->x ^= state->direction_vectors[k];
}

template <class State, class Word>
QUALIFIERS void init_sobol(const Word* vectors, Word scramble, Word offset, State* state) {
  for (unsigned int k = 0; k < 8 * sizeof(Word); ++k) state->direction_vectors[k] = vectors[k];
  state->i = 0;
  state->c = scramble;
  skip_sobol(offset, state);
}

QUALIFIERS int lowest_zero(unsigned int x) { return x == ~0u ? 31 : __builtin_ctz(~x); }
QUALIFIERS int lowest_zero(unsigned long long x) { return x == ~0ull ? 63 : __builtin_ctzll(~x); }

}  // namespace warpbeam_curand

#define WB_DEFINE_SOBOL(Word, State)                                              \
  QUALIFIERS Word curand(State* state) {                                          \
    const Word result = state->x;                                                 \
    state->x ^= state->direction_vectors[warpbeam_curand::lowest_zero(state->i)]; \
    ++state->i;                                                                   \
    return result;                                                                \
  }                                                                               \
  QUALIFIERS void skipahead(Word n, State* state) { warpbeam_curand::skip_sobol(n, state); }

WB_DEFINE_SOBOL(unsigned int, curandStateSobol32_t)
WB_DEFINE_SOBOL(unsigned int, curandStateScrambledSobol32_t)
WB_DEFINE_SOBOL(unsigned long long, curandStateSobol64_t)
WB_DEFINE_SOBOL(unsigned long long, curandStateScrambledSobol64_t)
#undef WB_DEFINE_SOBOL

QUALIFIERS void curand_init(curandDirectionVectors32_t direction_vectors, unsigned int offset,
                            curandStateSobol32_t* state) {
  warpbeam_curand::init_sobol(direction_vectors, 0u, offset, state);
}

QUALIFIERS void curand_init(curandDirectionVectors32_t direction_vectors, unsigned int scramble_c, unsigned int offset,
                            curandStateScrambledSobol32_t* state) {
  warpbeam_curand::init_sobol(direction_vectors, scramble_c, offset, state);
}

QUALIFIERS void curand_init(curandDirectionVectors64_t direction_vectors, unsigned long long offset,
                            curandStateSobol64_t* state) {
  warpbeam_curand::init_sobol(direction_vectors, 0ull, offset, state);
}

QUALIFIERS void curand_init(curandDirectionVectors64_t direction_vectors, unsigned long long scramble_c,
                            unsigned long long offset, curandStateScrambledSobol64_t* state) {
  warpbeam_curand::init_sobol(direction_vectors, scramble_c, offset, state);
}

#endif
