// Numbers in (0, 1] out of words: every distribution starts here.
#ifndef WARPBEAM_CURAND_UNIFORM_H
#define WARPBEAM_CURAND_UNIFORM_H
#pragma GCC system_header

#include "mrg32k3a.h"
#include "philox.h"
#include "sobol.h"
#include "xorwow.h"

QUALIFIERS float _curand_uniform(unsigned int x) { return x * CURAND_2POW32_INV + (CURAND_2POW32_INV / 2.0f); }
QUALIFIERS float _curand_uniform(unsigned long long x) { return _curand_uniform((unsigned int)(x >> 32)); }
QUALIFIERS float4 _curand_uniform4(uint4 x) {
  return make_float4(_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z), _curand_uniform(x.w));
}
QUALIFIERS double _curand_uniform_double(unsigned int x) {
  return x * CURAND_2POW32_INV_DOUBLE + CURAND_2POW32_INV_DOUBLE;
}
QUALIFIERS double _curand_uniform_double(unsigned long long x) {
  return (x >> 11) * CURAND_2POW53_INV_DOUBLE + (CURAND_2POW53_INV_DOUBLE / 2.0);
}
// 53 bits out of two words
QUALIFIERS double _curand_uniform_double_hq(unsigned int x, unsigned int y) {
  const unsigned long long z = x ^ ((unsigned long long)y << 21);
  return z * CURAND_2POW53_INV_DOUBLE + (CURAND_2POW53_INV_DOUBLE / 2.0);
}

#define WB_DEFINE_UNIFORM(State)                                                           \
  QUALIFIERS float curand_uniform(State* state) { return _curand_uniform(curand(state)); } \
  QUALIFIERS double curand_uniform_double(State* state) { return _curand_uniform_double(curand(state)); }

WB_DEFINE_UNIFORM(curandStatePhilox4_32_10_t)
WB_DEFINE_UNIFORM(curandStateSobol32_t)
WB_DEFINE_UNIFORM(curandStateScrambledSobol32_t)
WB_DEFINE_UNIFORM(curandStateSobol64_t)
WB_DEFINE_UNIFORM(curandStateScrambledSobol64_t)
#undef WB_DEFINE_UNIFORM

QUALIFIERS float curand_uniform(curandStateXORWOW_t* state) { return _curand_uniform(curand(state)); }
QUALIFIERS double curand_uniform_double(curandStateXORWOW_t* state) {
  const unsigned int x = curand(state), y = curand(state);
  return _curand_uniform_double_hq(x, y);
}

QUALIFIERS double curand_uniform_double(curandStateMRG32k3a_t* state) { return curand_MRG32k3a(state) * MRG32K3A_NORM; }
QUALIFIERS float curand_uniform(curandStateMRG32k3a_t* state) { return (float)curand_uniform_double(state); }

QUALIFIERS float4 curand_uniform4(curandStatePhilox4_32_10_t* state) { return _curand_uniform4(curand4(state)); }
QUALIFIERS double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(_curand_uniform_double_hq(x.x, x.y), _curand_uniform_double_hq(x.z, x.w));
}
QUALIFIERS double4 curand_uniform4_double(curandStatePhilox4_32_10_t* state) {
  const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
  return make_double4(a.x, a.y, b.x, b.y);
}

#endif
