// How often each byte, and each of many keys, comes: in global memory, in a block's shared memory, in one table a warp, by thread.
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

__global__ void global_counts(const unsigned char* data, int n, unsigned* counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[data[i]], 1u);
}

__global__ void shared_counts(const unsigned char* data, int n, unsigned* counts) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

__global__ void warp_tables(const uchar4* data, int n, unsigned* counts) {
  __shared__ unsigned tables[8][256];
  for (int i = threadIdx.x; i < 2048; i += 256) (&tables[0][0])[i] = 0;
  __syncthreads();
  unsigned* mine = tables[threadIdx.x / 32];
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += 256 * gridDim.x) {
    uchar4 v = data[i];
    atomicAdd(&mine[v.x], 1u);
    atomicAdd(&mine[v.y], 1u);
    atomicAdd(&mine[v.z], 1u);
    atomicAdd(&mine[v.w], 1u);
  }
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < 8; w++) sum += tables[w][threadIdx.x];
  atomicAdd(&counts[threadIdx.x], sum);
}

__global__ void many_keys(const unsigned* keys, int n, unsigned* counts, int size) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&counts[keys[i] % size], 1u);
}

__global__ void weighted(const unsigned char* data, const float* weights, int n, float* sums) {
  __shared__ float local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&local[data[i] / 4], weights[i]);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&sums[threadIdx.x], local[threadIdx.x]);
}

int main() {
  const int n = 4 << 20;
  std::vector<unsigned char> bytes(n);
  std::vector<unsigned> keys(n);
  unsigned state = 1;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = state >> 24;
    keys[i] = state >> 8;
  }
  unsigned char* data;
  unsigned *k, *counts;
  float *weights, *sums;
  CHECK(cudaMalloc(&data, n));
  CHECK(cudaMalloc(&k, n * 4));
  CHECK(cudaMalloc(&weights, n * 4));
  CHECK(cudaMalloc(&sums, 64 * 4));
  CHECK(cudaMalloc(&counts, 65536 * 4));
  CHECK(cudaMemcpy(data, bytes.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(k, keys.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(weights, 0, n * 4));
  CHECK(cudaMemset(counts, 0, 65536 * 4));
  CHECK(cudaMemset(sums, 0, 64 * 4));
  THRICE global_counts<<<n / 256, 256>>>(data, n, counts);
  THRICE shared_counts<<<264, 256>>>(data, n, counts);
  THRICE warp_tables<<<264, 256>>>(reinterpret_cast<uchar4*>(data), n, counts);
  THRICE many_keys<<<1024, 256>>>(k, n, counts, 65536);
  THRICE weighted<<<264, 256>>>(data, weights, n, sums);
  CHECK(cudaMemcpy(keys.data(), counts, 4096, cudaMemcpyDeviceToHost));
  std::printf("%u\n", keys[77]);
  return 0;
}
