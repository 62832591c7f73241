// The same block 100 to 1000 times: full waves, a block more than a wave, blocks of unequal length.
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

__global__ void equal_work(float* out, int rounds) {
  float v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = v * 0.99f + __sinf(v);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void unequal_work(float* out, int rounds) {
  float v = threadIdx.x;
  for (int i = 0; i < rounds * int(blockIdx.x % 16); ++i) v = v * 0.99f + __sinf(v);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void one_long_block(float* out, int rounds) {
  float v = threadIdx.x;
  for (int i = 0; i < (blockIdx.x == gridDim.x - 1 ? rounds * 10 : rounds); ++i) v = v * 0.99f + __sinf(v);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

int main() {
  float* out;
  CHECK(cudaMalloc(&out, 1 << 22));
  for (int blocks : {100, 132, 133, 200, 264, 265, 400, 528}) THRICE equal_work<<<blocks, 1024>>>(out, 40);
  for (int blocks : {132, 529, 1000}) THRICE equal_work<<<blocks, 128>>>(out, 200);
  THRICE unequal_work<<<528, 256>>>(out, 20);
  THRICE one_long_block<<<528, 256>>>(out, 50);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
