// MTGP32 (M. Saito, M. Matsumoto, "Variants of Mersenne Twister Suitable for Graphic Processors", arXiv:1005.4973): the
// threads of a block share one state, and each call makes a number for each of them. The sets of parameters come with
// the program; cuRAND's own 200 are not here.
#ifndef WARPBEAM_CURAND_MTGP32_H
#define WARPBEAM_CURAND_MTGP32_H
#pragma GCC system_header

#include "poisson.h"

#define MTGPDC_MEXP 11213
#define MTGPDC_N 351
#define MTGPDC_FLOOR_2P 256
#define MTGPDC_CEIL_2P 512
#define MTGPDC_PARAM_TABLE mtgp32dc_params_fast_11213
#define MTGP32_STATE_SIZE 1024
#define MTGP32_STATE_MASK 1023
#define CURAND_NUM_MTGP32_PARAMS 200
#define MEXP 11213
#define THREAD_NUM MTGPDC_FLOOR_2P
#define LARGE_SIZE (THREAD_NUM * 3)
#define TBL_SIZE 16

struct mtgp32_params_fast {
  int mexp, pos, sh1, sh2;
  unsigned int tbl[16], tmp_tbl[16], flt_tmp_tbl[16];
  unsigned int mask;
  unsigned char poly_sha1[21];
};
typedef struct mtgp32_params_fast mtgp32_params_fast_t;

// The same sets as kernels read them.
struct mtgp32_kernel_params {
  unsigned int pos_tbl[CURAND_NUM_MTGP32_PARAMS];
  unsigned int param_tbl[CURAND_NUM_MTGP32_PARAMS][TBL_SIZE];
  unsigned int temper_tbl[CURAND_NUM_MTGP32_PARAMS][TBL_SIZE];
  unsigned int single_temper_tbl[CURAND_NUM_MTGP32_PARAMS][TBL_SIZE];
  unsigned int sh1_tbl[CURAND_NUM_MTGP32_PARAMS];
  unsigned int sh2_tbl[CURAND_NUM_MTGP32_PARAMS];
  unsigned int mask[1];
};
typedef struct mtgp32_kernel_params mtgp32_kernel_params_t;

// A ring of words, of which the MTGPDC_N from `offset` on are the generator's.
struct curandStateMtgp32 {
  unsigned int s[MTGP32_STATE_SIZE];
  int offset;
  int pIdx;
  mtgp32_kernel_params_t* k;
};
typedef struct curandStateMtgp32 curandStateMtgp32_t;

#ifdef __CUDACC__
namespace warpbeam_curand {

// The word of the number `t` places on.
static __forceinline__ __device__ unsigned int fresh_word(const curandStateMtgp32_t* state, unsigned int t) {
  const mtgp32_kernel_params_t& k = *state->k;
  const int set = state->pIdx;
  const unsigned int at = t + state->offset;
  unsigned int x = (state->s[at & MTGP32_STATE_MASK] & k.mask[0]) ^ state->s[(at + 1) & MTGP32_STATE_MASK];
  x ^= x << k.sh1_tbl[set];
  const unsigned int y = x ^ (state->s[(at + k.pos_tbl[set]) & MTGP32_STATE_MASK] >> k.sh2_tbl[set]);
  return y ^ k.param_tbl[set][y & 15];
}

// Which entry of the tempering tables belongs to it.
static __forceinline__ __device__ unsigned int tempering(const curandStateMtgp32_t* state, unsigned int t) {
  unsigned int x = state->s[(t + state->offset + state->k->pos_tbl[state->pIdx] - 1) & MTGP32_STATE_MASK];
  x ^= x >> 16;
  x ^= x >> 8;
  return x & 15;
}

// All threads have read and written before the ring moves on, and nobody goes on before it has.
static __forceinline__ __device__ void move_on(curandStateMtgp32_t* state, bool first, unsigned int count) {
  __syncthreads();
  if (first) state->offset = (state->offset + count) & MTGP32_STATE_MASK;
  __syncthreads();
}

static __forceinline__ __device__ unsigned int next_word(curandStateMtgp32_t* state, unsigned int t,
                                                         unsigned int count) {
  const unsigned int fresh = fresh_word(state, t);
  state->s[(t + state->offset + MTGPDC_N) & MTGP32_STATE_MASK] = fresh;
  const unsigned int result = fresh ^ state->k->temper_tbl[state->pIdx][tempering(state, t)];
  move_on(state, t == 0, count);
  return result;
}

// The words of floats in [1, 2) are kept at `t`, wherever the ring begins, before the tempering is looked up: so does cuRAND.
static __forceinline__ __device__ float next_single(curandStateMtgp32_t* state, unsigned int t, unsigned int count) {
  const unsigned int fresh = fresh_word(state, t);
  state->s[t] = fresh;
  const unsigned int bits = (fresh >> 9) ^ state->k->single_temper_tbl[state->pIdx][tempering(state, t)];
  move_on(state, threadIdx.x == 0, count);
  return __uint_as_float(bits);
}

}  // namespace warpbeam_curand

// Blocks have up to 256 threads. The place of threadIdx.z and .y is cuRAND's: rows of blocks that are not as wide as
// they are high overlap there as well.
static __forceinline__ __device__ unsigned int curand(curandStateMtgp32_t* state) {
  return warpbeam_curand::next_word(
      state, blockDim.z * blockDim.y * threadIdx.z + blockDim.x * threadIdx.y + threadIdx.x,
      blockDim.x * blockDim.y * blockDim.z);
}
static __forceinline__ __device__ unsigned int curand_mtgp32_specific(curandStateMtgp32_t* state, unsigned char index,
                                                                      unsigned char n) {
  return warpbeam_curand::next_word(state, index, n);
}
static __forceinline__ __device__ float curand_mtgp32_single(curandStateMtgp32_t* state) {
  const unsigned int rows = blockDim.z * blockDim.y;
  return warpbeam_curand::next_single(state, rows + threadIdx.x, rows * blockDim.x);
}
static __forceinline__ __device__ float curand_mtgp32_single_specific(curandStateMtgp32_t* state, unsigned char index,
                                                                      unsigned char n) {
  return warpbeam_curand::next_single(state, index, n);
}

static __forceinline__ __device__ float curand_uniform(curandStateMtgp32_t* state) {
  return curand(state) * CURAND_2POW32_INV + (CURAND_2POW32_INV / 2.0f);
}
static __forceinline__ __device__ double curand_uniform_double(curandStateMtgp32_t* state) {
  return curand(state) * CURAND_2POW32_INV_DOUBLE + CURAND_2POW32_INV_DOUBLE;
}
#ifdef __CUDA_ARCH__
static __forceinline__ __device__ float curand_normal(curandStateMtgp32_t* state) {
  return _curand_normal_icdf(curand(state));
}
static __forceinline__ __device__ double curand_normal_double(curandStateMtgp32_t* state) {
  return _curand_normal_icdf_double(curand(state));
}
static __forceinline__ __device__ float curand_log_normal(curandStateMtgp32_t* state, float mean, float stddev) {
  return expf(mean + (stddev * _curand_normal_icdf(curand(state))));
}
static __forceinline__ __device__ double curand_log_normal_double(curandStateMtgp32_t* state, double mean,
                                                                  double stddev) {
  return exp(mean + (stddev * _curand_normal_icdf_double(curand(state))));
}
static __forceinline__ __device__ unsigned int curand_poisson(curandStateMtgp32_t* state, double lambda) {
  return warpbeam_curand::poisson_in_order(curand(state), lambda);
}
#else
__device__ float curand_normal(curandStateMtgp32_t* state);
__device__ double curand_normal_double(curandStateMtgp32_t* state);
__device__ float curand_log_normal(curandStateMtgp32_t* state, float mean, float stddev);
__device__ double curand_log_normal_double(curandStateMtgp32_t* state, double mean, double stddev);
__device__ unsigned int curand_poisson(curandStateMtgp32_t* state, double lambda);
#endif
#endif

#endif
