// More values than registers: long sums of products kept at once, states of generators, wide accumulators, with bounds that force spills.
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

template <int Values>
__device__ void mix(const float* in, float* out, int rounds) {
  float v[Values];
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
#pragma unroll
  for (int k = 0; k < Values; ++k) v[k] = in[(k * threads + thread) & 0xfffff];
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < Values; ++k) v[k] = v[k] * 0.5f + v[(k * 7 + 3) % Values];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < Values; ++k) sum += v[k];
  out[thread] = sum;
}

__global__ void sixty(const float* in, float* out, int rounds) { mix<60>(in, out, rounds); }
__global__ void __launch_bounds__(1024) sixty_in_64(const float* in, float* out, int rounds) { mix<60>(in, out, rounds); }
__global__ void __launch_bounds__(1024, 2) sixty_in_32(const float* in, float* out, int rounds) { mix<60>(in, out, rounds); }
__global__ void __launch_bounds__(512) hundred_in_128(const float* in, float* out, int rounds) { mix<120>(in, out, rounds); }
__global__ void three_hundred(const float* in, float* out, int rounds) { mix<300>(in, out, rounds); }

int main() {
  const int n = 1 << 20;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemset(in, 0, n * 4));
  THRICE sixty<<<132, 256>>>(in, out, 8);
  THRICE sixty_in_64<<<132, 256>>>(in, out, 8);
  THRICE sixty_in_32<<<132, 256>>>(in, out, 8);
  THRICE hundred_in_128<<<132, 128>>>(in, out, 8);
  THRICE three_hundred<<<132, 64>>>(in, out, 4);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
