// build: -lcurand
// Random numbers that a block draws together (MTGP32, with sets of parameters of our own), and numbers from a table.
// The sums of the former are an H100's.
#include <curand.h>
#include <curand_kernel.h>
#include <curand_mtgp32_host.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("FAIL %s\n", what);
}

static mtgp32_params_fast_t sets[CURAND_NUM_MTGP32_PARAMS];

static void make_sets() {
  unsigned x = 12345;
  const auto next = [&] { return x = x * 1664525u + 1013904223u; };
  for (auto& set : sets) {
    set.mexp = 11213;
    set.pos = 3 + next() % 90;
    set.sh1 = 1 + next() % 30;
    set.sh2 = 1 + next() % 30;
    for (unsigned i = 0; i < 16; ++i) {
      set.tbl[i] = next();
      set.tmp_tbl[i] = next();
      set.flt_tmp_tbl[i] = 0x3f800000u | next() >> 9;
    }
    set.mask = 0xfff80000u;
  }
}

constexpr int kBlocks = 5, kKinds = 9, kRounds = 40;

__device__ unsigned draw(curandStateMtgp32* state, int kind) {
  switch (kind) {
    case 0: return curand(state);
    case 1: return __float_as_uint(curand_uniform(state));
    case 2: return (unsigned)__double2ull_rn(curand_uniform_double(state) * 1e9);
    case 3: return (unsigned)(int)rintf(curand_normal(state) * 1e1f);
    case 4: return (unsigned)(int)rint(curand_normal_double(state) * 1e6);
    case 5: return (unsigned)rintf(curand_log_normal(state, 0.5f, 0.25f) * 100.0f);
    case 6: return curand_mtgp32_specific(state, threadIdx.x, blockDim.x);
    case 7: return __float_as_uint(curand_mtgp32_single_specific(state, threadIdx.x, blockDim.x));
    default: return __float_as_uint(curand_mtgp32_single(state));
  }
}

__global__ void draw_all(curandStateMtgp32* states, int kind, unsigned* sums) {
  unsigned sum = 0;
  for (int round = 0; round < kRounds; ++round) sum = sum * 31 + draw(&states[blockIdx.x], kind);
  atomicAdd(&sums[blockIdx.x], sum * (2 * threadIdx.x + 1));
}

static void blocks() {
  mtgp32_kernel_params* parameters;
  curandStateMtgp32* states;
  unsigned* sums;
  cudaMalloc(&parameters, sizeof *parameters);
  cudaMalloc(&states, kBlocks * sizeof *states);
  cudaMallocManaged(&sums, kBlocks * sizeof *sums);
  expect(curandMakeMTGP32Constants(sets, parameters) == CURAND_STATUS_SUCCESS, "constants");
  static const unsigned known[kKinds] = {732122919u, 2695452439u, 1563215421u, 1198459829u, 2130607483u,
                                         2876670600u, 1859858985u, 3602605797u, 4166280840u};
  for (int kind = 0; kind < kKinds; ++kind) {
    expect(curandMakeMTGP32KernelState(states, sets, parameters, kBlocks, 0x123456789abcdefull) == CURAND_STATUS_SUCCESS,
           "states");
    for (int i = 0; i < kBlocks; ++i) sums[i] = 0;
    // What the floats in [1, 2) read and write overlaps, as with cuRAND: one warp does so in step.
    draw_all<<<kBlocks, kind >= 7 ? 32 : 256>>>(states, kind, sums);
    draw_all<<<kBlocks, kind >= 7 ? 32 : 96>>>(states, kind, sums);
    expect(cudaDeviceSynchronize() == cudaSuccess, "launch");
    unsigned sum = 0;
    for (int i = 0; i < kBlocks; ++i) sum = sum * 31 + sums[i];
    if (sum != known[kind]) printf("kind %d: %uu\n", kind, sum);
    expect(sum == known[kind], "numbers of a block");
  }
  cudaFree(parameters);
  cudaFree(states);
  cudaFree(sums);
}

template <class State>
__device__ void begin(State* state) {
  curand_init(7, threadIdx.x + blockIdx.x * blockDim.x, 0, state);
}

template <class State>
__global__ void from_table(curandDiscreteDistribution_t distribution, unsigned* out, int count) {
  State state;
  begin(&state);
  for (int i = 0; i < count; ++i) out[(blockIdx.x * blockDim.x + threadIdx.x) * count + i] = curand_discrete(&state, distribution);
}

template <class State>
static void moments(const char* name, double mean) {
  constexpr int kThreads = 256, kEach = 128;
  curandDiscreteDistribution_t distribution;
  expect(curandCreatePoissonDistribution(mean, &distribution) == CURAND_STATUS_SUCCESS, "curandCreatePoissonDistribution");
  unsigned* out;
  cudaMalloc(&out, kThreads * kEach * sizeof *out);
  from_table<State><<<4, kThreads / 4>>>(distribution, out, kEach);
  std::vector<unsigned> numbers(kThreads * kEach);
  expect(cudaMemcpy(numbers.data(), out, numbers.size() * sizeof *out, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
  double sum = 0, squares = 0, zeros = 0;
  for (unsigned x : numbers) {
    sum += x;
    squares += (x - mean) * (x - mean);
    zeros += x == 0;
  }
  const double n = numbers.size(), error = std::fabs(sum / n - mean) / std::sqrt(mean / n);
  const double spread = squares / n / mean, none = std::exp(-mean);
  if (error > 5 || std::fabs(spread - 1) > 0.06 || std::fabs(zeros / n - none) > 0.02)
    printf("%s %g: mean %g deviations off, variance %g, zeros %g of %g\n", name, mean, error, spread, zeros / n, none);
  expect(error <= 5 && std::fabs(spread - 1) <= 0.06 && std::fabs(zeros / n - none) <= 0.02, "numbers of a table");
  expect(curandDestroyDistribution(distribution) == CURAND_STATUS_SUCCESS, "curandDestroyDistribution");
  cudaFree(out);
}

int main() {
  make_sets();
  blocks();
  for (double mean : {0.3, 2.0, 40.0, 1500.0, 3000.0}) {
    moments<curandStateXORWOW_t>("XORWOW", mean);
    moments<curandStatePhilox4_32_10_t>("Philox", mean);
    moments<curandStateMRG32k3a_t>("MRG32k3a", mean);
  }
  curandDiscreteDistribution_t none;
  expect(curandCreatePoissonDistribution(0, &none) == CURAND_STATUS_OUT_OF_RANGE, "a mean of 0");
  expect(curandCreatePoissonDistribution(400001, &none) == CURAND_STATUS_OUT_OF_RANGE, "a large mean");
  expect(curandCreatePoissonDistribution(1, nullptr) == CURAND_STATUS_NOT_INITIALIZED, "no place for a distribution");
  expect(curandDestroyDistribution(nullptr) == CURAND_STATUS_NOT_INITIALIZED, "no distribution");
  printf(failures ? "%d FAILED\n" : "PASSED\n", failures);
  return failures != 0;
}
