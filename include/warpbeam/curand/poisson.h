// Poisson numbers. Small rates multiply uniform numbers (D. Knuth), middle ones reject out of an approximate inverse of
// the incomplete gamma function, large ones round a normal number. Sobol sequences spend one number per result.
#ifndef WARPBEAM_CURAND_POISSON_H
#define WARPBEAM_CURAND_POISSON_H
#pragma GCC system_header

#include "normal.h"

namespace warpbeam_curand {

#ifdef __CUDA_ARCH__
QUALIFIERS float inverse_root(float a) {
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(a) : "f"(a));
  return a;
}
QUALIFIERS float exponential(float a) {
  a = a * 1.4426950408889634074;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(a) : "f"(a));
  return a;
}
QUALIFIERS float logarithm(float a) {
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(a) : "f"(a));
  return a * 0.69314718055994530942;
}
QUALIFIERS float reciprocal(float a) {
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(a) : "f"(a));
  return a;
}
#else
QUALIFIERS float inverse_root(float a) { return 1.0f / sqrtf(a); }
QUALIFIERS float exponential(float a) { return expf(a); }
QUALIFIERS float logarithm(float a) { return logf(a); }
QUALIFIERS float reciprocal(float a) { return 1.0f / a; }
#endif

// A logistic curve in place of the regularized incomplete gamma function of `rate`: 1 / (1 + exp(slope (rate - x) -
// shift))^2.
struct GammaCurve {
  float rate, slope, shift;
};

QUALIFIERS GammaCurve gamma_curve(float rate) {
  GammaCurve curve;
  curve.rate = rate;
  curve.slope = 1.43248035075540910f * inverse_root(rate - 0.12400979329415655f) + 0.00025361074907033f;
  curve.shift = 0.21096734870196546f * inverse_root(rate - 1.97381164089999420f) + 0.94201734077887530f;
  return curve;
}

QUALIFIERS float gamma_at(GammaCurve curve, float x) {
  const float root = 1.0f + exponential(curve.slope * (curve.rate - x) - curve.shift);
  return reciprocal(root * root);
}

QUALIFIERS float gamma_inverse(GammaCurve curve, float y) {
  const float exponent = curve.shift + logarithm(inverse_root(y) - 1.0f);
  return -exponent * reciprocal(curve.slope) + curve.rate;
}

// log((n - 1)!), by Stirling's series with the coefficients of J. Hart et al., "Computer Approximations" (1968).
QUALIFIERS double log_factorial_below(int n) {
  if (n <= 8) {
    double product = 1;
    for (int i = 2; i < n; ++i) product *= i;
    return log(product);
  }
  const double x = n, inverse = 1.0 / x, square = inverse * inverse;
  double series = -0.1633436431e-2;
  series = series * square + 0.83645878922e-3;
  series = series * square - 0.5951896861197e-3;
  series = series * square + 0.793650576493454e-3;
  series = series * square - 0.277777777735865004e-2;
  series = series * square + 0.833333333333331018375e-1;
  series = series * inverse + 0.918938533204672;
  return (0.5 * log(x) * (x - 0.5) - x + series) + 0.5 * log(x) * (x - 0.5);
}

template <class State>
QUALIFIERS unsigned int poisson_small(State* state, float exp_rate) {
  unsigned int count = 0;
  for (float product = exp_rate * curand_uniform(state); product > 1.0f; product *= curand_uniform(state)) ++count;
  return count;
}

template <class State>
QUALIFIERS unsigned int poisson_middle(State* state, float rate) {
  const float log_rate = logarithm(rate);
  const GammaCurve curve = gamma_curve(rate);
  for (;;) {
    const float x = floorf(gamma_inverse(curve, curand_uniform(state)));
    const float height = (gamma_at(curve, x + 1.0f) - gamma_at(curve, x)) * 1.3f;
    const float tried = curand_uniform(state) * height;
    const float wanted = exponential(-rate + x * log_rate - (float)log_factorial_below((int)(1.0f + x)));
    if (tried < wanted && height >= 1e-20) return (unsigned int)x;
  }
}

QUALIFIERS unsigned int poisson_large(double normal, double rate) {
  return (unsigned int)((sqrt(rate) * normal) + rate + 0.5);
}

template <class State>
QUALIFIERS unsigned int poisson(State* state, double rate) {
  if (rate < 64) return poisson_small(state, expf((float)rate));
  if (rate > 4000) return poisson_large(curand_normal_double(state), rate);
  return poisson_middle(state, (float)rate);
}

// One uniform number is followed down the distribution function, in pieces of 500 so that exp(-rate) does not vanish.
QUALIFIERS unsigned int poisson_below(double u, double rate) {
  double term = 1.0, total = 1.0;
  unsigned int count = 0;
  int done = 0;
  do {
    const double piece = rate > done + 500.0 ? exp(-500.0) : exp(done - rate);
    term *= piece;
    total *= piece;
    done += 500;
    while (u > total) {
      ++count;
      term *= rate / (double)count;
      total += term;
    }
  } while (done < rate);
  return count;
}
// Never 1, which would be followed for ever.
QUALIFIERS double below_one(unsigned int x) { return x * CURAND_2POW32_INV_DOUBLE + (CURAND_2POW32_INV_DOUBLE / 2.0); }
QUALIFIERS double below_one(unsigned long long x) {
  return (x >> 11) * CURAND_2POW53_INV_DOUBLE + (CURAND_2POW53_INV_DOUBLE / 4.0);
}

#ifdef __CUDA_ARCH__
template <class Word>
QUALIFIERS unsigned int poisson_in_order(Word x, double rate) {
  return rate < 1000 ? poisson_below(below_one(x), rate) : poisson_large(_curand_normal_icdf_double(x), rate);
}
#else
template <class Word>
__device__ unsigned int poisson_in_order(Word x, double rate);
#endif

}  // namespace warpbeam_curand

#define WB_DEFINE_POISSON(State)                                        \
  QUALIFIERS unsigned int curand_poisson(State* state, double lambda) { \
    return warpbeam_curand::poisson(state, lambda);                     \
  }
WB_DEFINE_POISSON(curandStateXORWOW_t)
WB_DEFINE_POISSON(curandStatePhilox4_32_10_t)
WB_DEFINE_POISSON(curandStateMRG32k3a_t)
#undef WB_DEFINE_POISSON

#ifdef __CUDA_ARCH__
#define WB_DEFINE_POISSON(State)                                        \
  QUALIFIERS unsigned int curand_poisson(State* state, double lambda) { \
    return warpbeam_curand::poisson_in_order(curand(state), lambda);    \
  }
#else
#define WB_DEFINE_POISSON(State) __device__ unsigned int curand_poisson(State* state, double lambda);
#endif
WB_DEFINE_POISSON(curandStateSobol32_t)
WB_DEFINE_POISSON(curandStateScrambledSobol32_t)
WB_DEFINE_POISSON(curandStateSobol64_t)
WB_DEFINE_POISSON(curandStateScrambledSobol64_t)
#undef WB_DEFINE_POISSON

QUALIFIERS uint4 curand_poisson4(curandStatePhilox4_32_10_t* state, double lambda) {
  if (lambda > 4000) {
    const double4 v = curand_normal4_double(state);
    return make_uint4(warpbeam_curand::poisson_large(v.x, lambda), warpbeam_curand::poisson_large(v.y, lambda),
                      warpbeam_curand::poisson_large(v.z, lambda), warpbeam_curand::poisson_large(v.w, lambda));
  }
  uint4 result;
  result.x = curand_poisson(state, lambda);
  result.y = curand_poisson(state, lambda);
  result.z = curand_poisson(state, lambda);
  result.w = curand_poisson(state, lambda);
  return result;
}

#endif
