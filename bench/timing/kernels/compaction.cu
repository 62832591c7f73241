// Keeping what satisfies a condition: a counter, one atomic a warp, one a block; partitions and runs.
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

__global__ void counter(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 3 == 0) out[atomicAdd(count, 1)] = in[i];
}

__global__ void by_warp(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  bool keep = i < n && in[i] % 3 == 0;
  unsigned mask = __ballot_sync(0xffffffff, keep);
  int base = 0;
  if (lane == 0 && mask) base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(0xffffffff, base, 0);
  if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
}

__global__ void by_block(const int* in, int* out, int* count, int n) {
  __shared__ int warp_counts[8], base;
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = i < n ? in[i] : 1;
  bool keep = v % 3 == 0;
  unsigned mask = __ballot_sync(0xffffffff, keep);
  if (lane == 0) warp_counts[warp] = __popc(mask);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int w = 0; w < 8; ++w) {
      int c = warp_counts[w];
      warp_counts[w] = sum;
      sum += c;
    }
    base = atomicAdd(count, sum);
  }
  __syncthreads();
  if (keep) out[base + warp_counts[warp] + __popc(mask & ((1u << lane) - 1))] = v;
}

__global__ void run_starts(const int* in, int* starts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) starts[i] = i == 0 || in[i] / 4 != in[i - 1] / 4;
}

int main() {
  const int n = 1 << 20;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = int(i * 2654435761u >> 8);
  int *in, *out, *count;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, 4 * n * 4));
  CHECK(cudaMalloc(&count, 4));
  CHECK(cudaMemset(count, 0, 4));
  CHECK(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE {
    CHECK(cudaMemset(count, 0, 4));
    counter<<<n / 256, 256>>>(in, out, count, n);
  }
  THRICE {
    CHECK(cudaMemset(count, 0, 4));
    by_warp<<<n / 256, 256>>>(in, out, count, n);
  }
  THRICE {
    CHECK(cudaMemset(count, 0, 4));
    by_block<<<n / 256, 256>>>(in, out, count, n);
  }
  THRICE run_starts<<<n / 512, 512>>>(in, out, n);
  int total;
  CHECK(cudaMemcpy(&total, count, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", total);
  return 0;
}
