// Arrays far larger than any cache: copies, fills, sums and gathers of hundreds of megabytes.
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

__global__ void copy(const int4* in, int4* out, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void fill(int4* out, size_t n) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) out[i] = make_int4(1, 2, 3, 4);
}

__global__ void read(const int4* in, int* out, size_t n) {
  int sum = 0;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    int4 v = in[i];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 42) *out = sum;
}

__global__ void every_line(const int* in, int* out, size_t n) {
  size_t i = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * 32;
  if (i < n && in[i] == 42) *out = 1;
}

int main() {
  const size_t bytes = size_t(192) << 20, n = bytes / 16;
  int4 *a, *b;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMemset(a, 1, bytes));
  THRICE copy<<<unsigned(n / 256), 256>>>(a, b, n);
  THRICE fill<<<528, 512>>>(b, n);
  THRICE read<<<528, 512>>>(a, (int*)b, n);
  THRICE every_line<<<unsigned(bytes / 128 / 256), 256>>>((int*)a, (int*)b, bytes / 4);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
