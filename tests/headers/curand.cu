#include <curand_kernel.h>
#include <nv/target>

template <class State>
__device__ void pseudorandom(State* s, double* out) {
  curand_init(1ull, 2ull, 3ull, s);
  skipahead(5ull, s);
  const float2 n = curand_normal2(s), l = curand_log_normal2(s, .5f, .25f);
  const double2 nd = curand_normal2_double(s), ld = curand_log_normal2_double(s, .5, .25);
  *out = curand(s) + curand_uniform(s) + curand_uniform_double(s) + curand_normal(s) + curand_normal_double(s) +
         curand_log_normal(s, 0.f, 1.f) + curand_log_normal_double(s, 0., 1.) + curand_poisson(s, 3.) + n.x + l.y + nd.x +
         ld.y;
}

template <class State, class Vectors>
__device__ void quasirandom(State* s, Vectors& vectors, double* out) {
  curand_init(vectors, 0, s);
  skipahead(5, s);
  *out = curand(s) + curand_uniform(s) + curand_uniform_double(s) + curand_normal(s) + curand_normal_double(s) +
         curand_log_normal(s, 0.f, 1.f) + curand_log_normal_double(s, 0., 1.) + curand_poisson(s, 3.);
}

__global__ void all(curandState* a, curandStatePhilox4_32_10_t* b, curandStateMRG32k3a_t* c, curandStateSobol32_t* d,
                    curandStateSobol64_t* e, curandDirectionVectors32_t* v32, curandDirectionVectors64_t* v64,
                    double* out) {
  pseudorandom(a, out);
  pseudorandom(b, out);
  pseudorandom(c, out);
  quasirandom(d, *v32, out);
  quasirandom(e, *v64, out);
  skipahead_sequence(1, a);
  skipahead_sequence(1, b);
  skipahead_sequence(1, c);
  skipahead_subsequence(1, c);
  NV_IF_TARGET(NV_IS_DEVICE, (*out += curand_uniform4(b).x + curand_poisson4(b, 2.).w + curand_normal4(b).y;))
}

__global__ void block(curandStateMtgp32_t* s, double* out) {
  out[threadIdx.x] = curand(s) + curand_uniform(s) + curand_uniform_double(s) + curand_normal(s) + curand_normal_double(s) +
                     curand_log_normal(s, 0.f, 1.f) + curand_log_normal_double(s, 0., 1.) + curand_poisson(s, 3.) +
                     curand_mtgp32_single(s) + curand_mtgp32_specific(s, threadIdx.x, 32);
}

__global__ void tabulated(curandState* a, curandStatePhilox4_32_10_t* b, curandStateMRG32k3a_t* c, curandStateMtgp32_t* m,
                          curandStateSobol32_t* d, curandStateSobol64_t* e, curandDiscreteDistribution_t t, unsigned* out) {
  *out = curand_discrete(a, t) + curand_discrete(b, t) + curand_discrete(c, t) + curand_discrete(m, t) +
         curand_discrete(d, t) + curand_discrete(e, t) + curand_discrete4(b, t).z;
}
