// What kernels find out by their own clocks: how long an instruction, and a load from each memory, takes, and what other warps make of it.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kSteps = 256;

__global__ void chain_of_products(float* out, float a, long long* cycles) {
  float x = threadIdx.x;
  const long long begin = clock64();
#pragma unroll 32
  for (int i = 0; i < kSteps; ++i) x = x * a + a;
  const long long end = clock64();
  out[threadIdx.x] = x;
  cycles[threadIdx.x] = end - begin;
}

// Twice, so that the caches have it.
template <bool kPastL1>
__global__ void chase(const unsigned* next, unsigned* out, long long* cycles) {
  unsigned at = 0;
  for (int i = 0; i < kSteps; ++i) at = next[at];
  unsigned again = at & 1;
  const long long begin = clock64();
  for (int i = 0; i < kSteps; ++i) again = kPastL1 ? __ldcg(next + again) : next[again];
  const long long end = clock64();
  *out = again;
  *cycles = end - begin;
}

__global__ void chase_shared(unsigned* out, long long* cycles) {
  __shared__ unsigned next[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (i + 33) % 1024;
  __syncthreads();
  unsigned at = threadIdx.x;
  const unsigned begin = clock();
#pragma unroll 8
  for (int i = 0; i < kSteps; ++i) at = next[at];
  const unsigned end = clock();
  out[threadIdx.x] = at;
  cycles[threadIdx.x] = end - begin;
}

static int failures = 0;
static void expect(const char* what, double value, double least, double most) {
  const bool right = value >= least && value <= most;
  failures += !right;
  std::printf("%s%s %.1f (%g to %g)\n", right ? "" : "FAILED ", what, value, least, most);
}

int main() {
  float* out;
  unsigned *next, *last;
  long long* cycles;
  cudaMalloc(&out, 4096), cudaMalloc(&next, 1 << 20), cudaMalloc(&last, 4096);
  cudaMallocManaged(&cycles, 1024 * sizeof(long long));
  const auto longest = [&](int threads) {
    cudaDeviceSynchronize();
    return double(*std::max_element(cycles, cycles + threads)) / kSteps;
  };
  for (int run = 0; run < 3; ++run) {  // the later ones are not followed
    chain_of_products<<<1, 32>>>(out, 0.5f, cycles);
    expect("a multiply-add of one warp", longest(32), 3.5, 5);
  }
  chain_of_products<<<1, 1024>>>(out, 0.5f, cycles);
  expect("of 32 warps, eight on a scheduler", longest(1024), 7.5, 20);
  const size_t words = 1 << 16, stride = 64;
  std::vector<unsigned> host(words);
  for (size_t i = 0; i < words; ++i) host[i] = unsigned((i + stride) % words) & ~1u;
  cudaMemcpy(next, host.data(), words * 4, cudaMemcpyHostToDevice);
  chase<false><<<1, 1>>>(next, last, cycles);
  expect("a load that L1 has", longest(1), 20, 60);
  chase<true><<<1, 1>>>(next, last, cycles);
  expect("a load that L2 has", longest(1), 150, 400);
  chase_shared<<<1, 32>>>(last, cycles);
  expect("a load from shared memory", longest(32), 15, 40);
  return failures != 0;
}
