// Reads and writes with strides and offsets, as lessons on coalescing do.
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

__global__ void strided_copy(float* out, const float* in, int stride, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride % n;
  out[i] = in[i];
}

__global__ void strided_read(float* out, const float* in, int stride, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = in[thread * stride % n];
}

__global__ void offset_copy(float* out, const float* in, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + offset;
  out[i] = in[i];
}

int main() {
  const int n = 1 << 23, threads = 1 << 18;
  float *in, *out;
  CHECK(cudaMalloc(&in, (n + 64) * sizeof(float)));
  CHECK(cudaMalloc(&out, (n + 64) * sizeof(float)));
  CHECK(cudaMemset(in, 0, (n + 64) * sizeof(float)));
  for (int stride : {1, 2, 4, 8, 16, 31, 32}) THRICE strided_copy<<<threads / 256, 256>>>(out, in, stride, n);
  for (int stride : {2, 8, 32}) THRICE strided_read<<<threads / 256, 256>>>(out, in, stride, n);
  for (int offset : {0, 1, 8, 17}) THRICE offset_copy<<<(1 << 21) / 512, 512>>>(out, in, offset);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
