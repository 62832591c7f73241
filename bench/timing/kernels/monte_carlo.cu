// Monte Carlo: pi with two generators, an integral, prices of an option along paths.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

__device__ unsigned xorshift(unsigned& s) {
  s ^= s << 13;
  s ^= s >> 17;
  s ^= s << 5;
  return s;
}

__global__ void pi_xorshift(unsigned long long* hits, int samples) {
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 2891336453u, inside = 0;
  for (int i = 0; i < samples; ++i) {
    float x = xorshift(state) * 2.3283064e-10f, y = xorshift(state) * 2.3283064e-10f;
    if (x * x + y * y <= 1.0f) ++inside;
  }
  atomicAdd(hits, (unsigned long long)inside);
}

__global__ void pi_congruential(unsigned* counts, int samples) {
  unsigned long long state = blockIdx.x * blockDim.x + threadIdx.x + 1;
  unsigned inside = 0;
  for (int i = 0; i < samples; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    double x = (state >> 11) * (1.0 / 9007199254740992.0);
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    double y = (state >> 11) * (1.0 / 9007199254740992.0);
    inside += x * x + y * y <= 1.0;
  }
  counts[blockIdx.x * blockDim.x + threadIdx.x] = inside;
}

__global__ void integral(float* sums, int samples) {
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1;
  float sum = 0;
  for (int i = 0; i < samples; ++i) {
    float x = xorshift(state) * 2.3283064e-10f;
    sum += expf(-x * x) * sinf(x);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void paths(float* payoff, int steps) {
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 99;
  float price = 100.0f, average = 0;
  for (int s = 0; s < steps; ++s) {
    float u = (xorshift(state) + 1.0f) * 2.3283064e-10f, v = xorshift(state) * 2.3283064e-10f;
    float normal = sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);
    price *= expf(0.0001f + 0.01f * normal);
    average += price;
  }
  payoff[blockIdx.x * blockDim.x + threadIdx.x] = fmaxf(average / steps - 100.0f, 0.0f);
}

int main() {
  unsigned long long* hits;
  float* values;
  CHECK(cudaMalloc(&hits, sizeof *hits));
  CHECK(cudaMalloc(&values, 65536 * sizeof(float)));
  CHECK(cudaMemset(hits, 0, sizeof *hits));
  THRICE pi_xorshift<<<256, 256>>>(hits, 64);
  THRICE pi_xorshift<<<33, 128>>>(hits, 500);
  THRICE pi_congruential<<<128, 256>>>((unsigned*)values, 40);
  THRICE integral<<<128, 256>>>(values, 50);
  THRICE paths<<<64, 256>>>(values, 30);
  unsigned long long total;
  CHECK(cudaMemcpy(&total, hits, sizeof total, cudaMemcpyDeviceToHost));
  std::printf("%llu\n", total);
  return 0;
}
