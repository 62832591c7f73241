// Histograms of bytes: in global memory, in shared memory, a copy for each warp; even, skewed and constant input.
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

__global__ void in_global(const unsigned char* data, int n, unsigned* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[data[i]], 1u);
}

__global__ void in_shared(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

__global__ void by_warp(const uchar4* data, int n, unsigned* bins) {
  __shared__ unsigned local[8][256];
  for (int i = threadIdx.x; i < 8 * 256; i += blockDim.x) local[i / 256][i % 256] = 0;
  __syncthreads();
  unsigned* own = local[threadIdx.x / 32];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uchar4 v = data[i];
    atomicAdd(&own[v.x], 1u);
    atomicAdd(&own[v.y], 1u);
    atomicAdd(&own[v.z], 1u);
    atomicAdd(&own[v.w], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    unsigned sum = 0;
    for (int w = 0; w < 8; ++w) sum += local[w][i];
    atomicAdd(&bins[i], sum);
  }
}

int main() {
  const int n = 1 << 20;
  std::vector<unsigned char> host(n);
  unsigned char* data;
  unsigned* bins;
  CHECK(cudaMalloc(&data, n));
  CHECK(cudaMalloc(&bins, 256 * sizeof(unsigned)));
  CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
  for (int kind = 0; kind < 3; ++kind) {
    unsigned state = 1;
    for (auto& v : host) {
      state = state * 1664525u + 1013904223u;
      v = kind == 0 ? state >> 24 : kind == 1 ? (state >> 24) * (state >> 24) * (state >> 24) >> 16 & 255 : 42;
    }
    CHECK(cudaMemcpy(data, host.data(), n, cudaMemcpyHostToDevice));
    THRICE in_global<<<264, 256>>>(data, n, bins);
    THRICE in_shared<<<264, 256>>>(data, n, bins);
    THRICE by_warp<<<132, 256>>>((uchar4*)data, n / 4, bins);
  }
  unsigned first;
  CHECK(cudaMemcpy(&first, bins, sizeof first, cudaMemcpyDeviceToHost));
  std::printf("%u\n", first);
  return 0;
}
