// Normal and log-normal numbers. The pseudorandom generators make them in pairs (G. Box, M. Muller, 1958) and keep the
// second; Sobol sequences go through the inverse of the distribution function, which keeps their order.
#ifndef WARPBEAM_CURAND_NORMAL_H
#define WARPBEAM_CURAND_NORMAL_H
#pragma GCC system_header

#include "uniform.h"

#ifndef __CUDACC_RTC__
#include <math.h>
#endif

namespace warpbeam_curand {

// What comes out of u in (0, 1] and an angle
QUALIFIERS float2 pair_of(float u, float angle) {
  const float radius = sqrtf(-2.0f * logf(u));
  float sine, cosine;
#ifdef __CUDA_ARCH__
  __sincosf(angle, &sine, &cosine);
#else
  sine = sinf(angle);
  cosine = cosf(angle);
#endif
  return make_float2(sine * radius, cosine * radius);
}
QUALIFIERS double2 pair_of_double(double u, double half_turns) {
  const double radius = sqrt(-2.0 * log(u));
  double sine, cosine;
#ifdef __CUDA_ARCH__
  sincospi(half_turns, &sine, &cosine);
#else
  sine = sin(half_turns * CURAND_PI_DOUBLE);
  cosine = cos(half_turns * CURAND_PI_DOUBLE);
#endif
  return make_double2(sine * radius, cosine * radius);
}

}  // namespace warpbeam_curand

QUALIFIERS float2 _curand_box_muller(unsigned int x, unsigned int y) {
  return warpbeam_curand::pair_of(_curand_uniform(x), y * CURAND_2POW32_INV_2PI + (CURAND_2POW32_INV_2PI / 2));
}
QUALIFIERS double2 _curand_box_muller_double(unsigned int x0, unsigned int x1, unsigned int y0, unsigned int y1) {
  return warpbeam_curand::pair_of_double(_curand_uniform_double_hq(x0, x1), 2.0 * _curand_uniform_double_hq(y0, y1));
}

QUALIFIERS float2 curand_normal2(curandStateXORWOW_t* state) {
  const unsigned int x = curand(state), y = curand(state);
  return _curand_box_muller(x, y);
}
QUALIFIERS float2 curand_normal2(curandStatePhilox4_32_10_t* state) {
  const unsigned int x = curand(state), y = curand(state);
  return _curand_box_muller(x, y);
}
QUALIFIERS float2 curand_normal2(curandStateMRG32k3a_t* state) {
  const float u = curand_uniform(state), angle = curand_uniform(state) * CURAND_2PI;
  return warpbeam_curand::pair_of(u, angle);
}
QUALIFIERS double2 curand_normal2_double(curandStateXORWOW_t* state) {
  const unsigned int x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
  return _curand_box_muller_double(x0, x1, y0, y1);
}
QUALIFIERS double2 curand_normal2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return _curand_box_muller_double(x.x, x.y, x.z, x.w);
}
QUALIFIERS double2 curand_normal2_double(curandStateMRG32k3a_t* state) {
  const double u = curand_uniform_double(state), half_turns = curand_uniform_double(state) * 2.0;
  return warpbeam_curand::pair_of_double(u, half_turns);
}
QUALIFIERS float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 a = _curand_box_muller(x.x, x.y), b = _curand_box_muller(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
QUALIFIERS double4 curand_normal4_double(curandStatePhilox4_32_10_t* state) {
  const double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
  return make_double4(a.x, a.y, b.x, b.y);
}

QUALIFIERS float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float stddev) {
  const float4 v = curand_normal4(state);
  return make_float4(expf(mean + (stddev * v.x)), expf(mean + (stddev * v.y)), expf(mean + (stddev * v.z)),
                     expf(mean + (stddev * v.w)));
}
QUALIFIERS double4 curand_log_normal4_double(curandStatePhilox4_32_10_t* state, double mean, double stddev) {
  const double4 v = curand_normal4_double(state);
  return make_double4(exp(mean + (stddev * v.x)), exp(mean + (stddev * v.y)), exp(mean + (stddev * v.z)),
                      exp(mean + (stddev * v.w)));
}

#define WB_DEFINE_NORMAL_PAIRS(State, Real, _double, exponential)                                  \
  QUALIFIERS Real##2 curand_log_normal2##_double(State* state, Real mean, Real stddev) {           \
    const Real##2 v = curand_normal2##_double(state);                                              \
    return make_##Real##2(exponential(mean + (stddev * v.x)), exponential(mean + (stddev * v.y))); \
  }                                                                                                \
  QUALIFIERS Real curand_normal##_double(State* state) {                                           \
    if (state->boxmuller_flag##_double == EXTRA_FLAG_NORMAL) {                                     \
      state->boxmuller_flag##_double = 0;                                                          \
      return state->boxmuller_extra##_double;                                                      \
    }                                                                                              \
    const Real##2 v = curand_normal2##_double(state);                                              \
    state->boxmuller_extra##_double = v.y;                                                         \
    state->boxmuller_flag##_double = EXTRA_FLAG_NORMAL;                                            \
    return v.x;                                                                                    \
  }                                                                                                \
  QUALIFIERS Real curand_log_normal##_double(State* state, Real mean, Real stddev) {               \
    if (state->boxmuller_flag##_double == EXTRA_FLAG_LOG_NORMAL) {                                 \
      state->boxmuller_flag##_double = 0;                                                          \
      return state->boxmuller_extra##_double;                                                      \
    }                                                                                              \
    const Real##2 v = curand_log_normal2##_double(state, mean, stddev);                            \
    state->boxmuller_extra##_double = v.y;                                                         \
    state->boxmuller_flag##_double = EXTRA_FLAG_LOG_NORMAL;                                        \
    return v.x;                                                                                    \
  }

WB_DEFINE_NORMAL_PAIRS(curandStateXORWOW_t, float, , expf)
WB_DEFINE_NORMAL_PAIRS(curandStatePhilox4_32_10_t, float, , expf)
WB_DEFINE_NORMAL_PAIRS(curandStateMRG32k3a_t, float, , expf)
WB_DEFINE_NORMAL_PAIRS(curandStateXORWOW_t, double, _double, exp)
WB_DEFINE_NORMAL_PAIRS(curandStatePhilox4_32_10_t, double, _double, exp)
WB_DEFINE_NORMAL_PAIRS(curandStateMRG32k3a_t, double, _double, exp)
#undef WB_DEFINE_NORMAL_PAIRS

// The inverse of the distribution function: -sqrt(2) erfcinv(2 p), mirrored for the upper half to keep its precision.
#ifdef __CUDA_ARCH__
QUALIFIERS float _curand_normal_icdf(unsigned int x) {
  const bool upper = x > 0x80000000u;
  const float tail = 1.4142135f * erfcinvf(2.0f * _curand_uniform(upper ? ~x : x));
  return upper ? tail : -tail;
}
QUALIFIERS float _curand_normal_icdf(unsigned long long x) { return _curand_normal_icdf((unsigned int)(x >> 32)); }
QUALIFIERS double _curand_normal_icdf_double(unsigned int x) {
  const bool upper = x > 0x80000000u;
  const double p = (upper ? ~x : x) * CURAND_2POW32_INV_DOUBLE + (CURAND_2POW32_INV_DOUBLE / 2.0);
  const double tail = 1.4142135623730951 * erfcinv(2.0 * p);
  return upper ? tail : -tail;
}
QUALIFIERS double _curand_normal_icdf_double(unsigned long long x) {
  x >>= 11;
  const bool upper = x > 0x10000000000000ull;
  const double p = (upper ? 0x1fffffffffffffull - x : x) * CURAND_2POW53_INV_DOUBLE + (CURAND_2POW53_INV_DOUBLE / 2.0);
  const double tail = 1.4142135623730951 * erfcinv(2.0 * p);
  return upper ? tail : -tail;
}

#define WB_DEFINE_NORMAL_IN_ORDER(State)                                                                     \
  QUALIFIERS float curand_normal(State* state) { return _curand_normal_icdf(curand(state)); }                \
  QUALIFIERS double curand_normal_double(State* state) { return _curand_normal_icdf_double(curand(state)); } \
  QUALIFIERS float curand_log_normal(State* state, float mean, float stddev) {                               \
    return expf(mean + (stddev * _curand_normal_icdf(curand(state))));                                       \
  }                                                                                                          \
  QUALIFIERS double curand_log_normal_double(State* state, double mean, double stddev) {                     \
    return exp(mean + (stddev * _curand_normal_icdf_double(curand(state))));                                 \
  }
#else
// C has no inverse error function: these are for kernels.
#define WB_DEFINE_NORMAL_IN_ORDER(State)                                      \
  __device__ float curand_normal(State* state);                               \
  __device__ double curand_normal_double(State* state);                       \
  __device__ float curand_log_normal(State* state, float mean, float stddev); \
  __device__ double curand_log_normal_double(State* state, double mean, double stddev);
#endif
WB_DEFINE_NORMAL_IN_ORDER(curandStateSobol32_t)
WB_DEFINE_NORMAL_IN_ORDER(curandStateScrambledSobol32_t)
WB_DEFINE_NORMAL_IN_ORDER(curandStateSobol64_t)
WB_DEFINE_NORMAL_IN_ORDER(curandStateScrambledSobol64_t)
#undef WB_DEFINE_NORMAL_IN_ORDER

#endif
