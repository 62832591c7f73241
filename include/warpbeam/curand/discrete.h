// Numbers with a distribution that the host has tabulated (curandCreatePoissonDistribution): one uniform number is looked
// up in the distribution function. The distribution is the documented one, the sequence is not cuRAND's.
#ifndef WARPBEAM_CURAND_DISCRETE_H
#define WARPBEAM_CURAND_DISCRETE_H
#pragma GCC system_header

#include "mtgp32.h"

// In device memory, the table behind it.
struct curandDiscreteDistribution_st {
  double mean;
  unsigned int shift;    // the first result
  unsigned int length;   // of the table; 0: a normal number is rounded
  const double* at_most; // the probability of shift + i or less
};

#ifdef __CUDA_ARCH__
namespace warpbeam_curand {

template <class Word>
__device__ unsigned int discrete(Word x, curandDiscreteDistribution_t distribution) {
  if (distribution->length == 0) return poisson_large(_curand_normal_icdf_double(x), distribution->mean);
  const double u = below_one(x);
  unsigned int first = 0, last = distribution->length - 1;
  while (first < last) {
    const unsigned int middle = (first + last) / 2;
    if (u <= distribution->at_most[middle])
      last = middle;
    else
      first = middle + 1;
  }
  return distribution->shift + first;
}

}  // namespace warpbeam_curand

#define WB_DEFINE_DISCRETE(State)                                                                          \
  static __forceinline__ __device__ unsigned int curand_discrete(State* state,                             \
                                                                 curandDiscreteDistribution_t distribution) { \
    return warpbeam_curand::discrete(curand(state), distribution);                                         \
  }
static __forceinline__ __device__ uint4 curand_discrete4(curandStatePhilox4_32_10_t* state,
                                                         curandDiscreteDistribution_t distribution) {
  using warpbeam_curand::discrete;
  const uint4 x = curand4(state);
  return make_uint4(discrete(x.x, distribution), discrete(x.y, distribution), discrete(x.z, distribution),
                    discrete(x.w, distribution));
}
#elif defined(__CUDACC__)
#define WB_DEFINE_DISCRETE(State) \
  __device__ unsigned int curand_discrete(State* state, curandDiscreteDistribution_t distribution);
__device__ uint4 curand_discrete4(curandStatePhilox4_32_10_t* state, curandDiscreteDistribution_t distribution);
#endif
#ifdef __CUDACC__
WB_DEFINE_DISCRETE(curandStateXORWOW_t)
WB_DEFINE_DISCRETE(curandStatePhilox4_32_10_t)
WB_DEFINE_DISCRETE(curandStateMRG32k3a_t)
WB_DEFINE_DISCRETE(curandStateMtgp32_t)
WB_DEFINE_DISCRETE(curandStateSobol32_t)
WB_DEFINE_DISCRETE(curandStateScrambledSobol32_t)
WB_DEFINE_DISCRETE(curandStateSobol64_t)
WB_DEFINE_DISCRETE(curandStateScrambledSobol64_t)
#undef WB_DEFINE_DISCRETE
#endif

#endif
