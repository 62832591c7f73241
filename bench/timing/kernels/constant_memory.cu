// Tables in constant memory: read alike by all lanes, by index, with one address a lane; against global and shared memory.
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

__constant__ float table[4096];

__global__ void uniform(float* out, int rounds) {
  float sum = threadIdx.x;
  for (int r = 0; r < rounds; ++r)
#pragma unroll 8
    for (int k = 0; k < 64; ++k) sum = sum * 0.5f + table[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void by_index(const int* index, float* out, int rounds) {
  float sum = threadIdx.x;
  for (int r = 0; r < rounds; ++r) sum += table[(index[r & 255] + r) & 4095];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void by_lane(float* out, int rounds, int distinct) {
  float sum = threadIdx.x;
  for (int r = 0; r < rounds; ++r) sum += table[(threadIdx.x % distinct * 33 + r * 5) & 4095];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void from_global(const float* data, float* out, int rounds, int distinct) {
  float sum = threadIdx.x;
  for (int r = 0; r < rounds; ++r) sum += __ldg(&data[(threadIdx.x % distinct * 33 + r * 5) & 4095]);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void from_shared(const float* data, float* out, int rounds, int distinct) {
  __shared__ float copy[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) copy[i] = data[i];
  __syncthreads();
  float sum = threadIdx.x;
  for (int r = 0; r < rounds; ++r) sum += copy[(threadIdx.x % distinct * 33 + r * 5) & 4095];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  std::vector<float> host(4096, 0.5f);
  CHECK(cudaMemcpyToSymbol(table, host.data(), 16384));
  float *data, *out;
  CHECK(cudaMalloc(&data, 16384));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemset(data, 0, 16384));
  THRICE uniform<<<132, 256>>>(out, 8);
  THRICE by_index<<<132, 256>>>((int*)data, out, 200);
  for (int distinct : {1, 4, 32}) THRICE by_lane<<<132, 256>>>(out, 100, distinct);
  for (int distinct : {1, 32}) THRICE from_global<<<132, 256>>>(data, out, 100, distinct);
  THRICE from_shared<<<132, 256>>>(data, out, 100, 32);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
