// Shuffles in place of shared memory: transposes of 32x32, sliding windows, broadcasts of rows, small products, scans of warps.
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

__global__ void transpose_in_warp(const int* in, int* out) {
  const int lane = threadIdx.x % 32, base = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 256;
  int v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = in[base + k * 32 + lane];
#pragma unroll
  for (int s = 1; s < 8; s *= 2)
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if (!(k & s)) {
        int a = v[k], b = v[k | s], send = lane & s ? a : b, got = __shfl_xor_sync(~0u, send, s);
        if (lane & s) v[k] = got;
        else v[k | s] = got;
      }
#pragma unroll
  for (int k = 0; k < 8; ++k) out[base + k * 32 + lane] = v[k];
}

__global__ void windows(const float* in, float* out, int n) {
  const int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  float v = in[min(warp * 24 + lane, n - 1)], sum = v;
#pragma unroll
  for (int k = 1; k <= 8; ++k) sum += __shfl_down_sync(~0u, v, k);
  if (lane < 24 && warp * 24 + lane < n) out[warp * 24 + lane] = sum / 9;
}

__global__ void small_products(const float* a, const float* b, float* c) {
  const int lane = threadIdx.x % 32;
  const size_t base = size_t(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 1024;
  float row[8], sum[8] = {};
#pragma unroll
  for (int k = 0; k < 8; ++k) row[k] = a[base + k * 32 + lane];
#pragma unroll
  for (int j = 0; j < 32; ++j) {
    float x = b[base + j * 32 + lane];
#pragma unroll
    for (int k = 0; k < 8; ++k) sum[k] += __shfl_sync(~0u, row[k], j) * x;
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) c[base + k * 32 + lane] = sum[k];
}

__global__ void warp_scan(const int* in, int* out, int each) {
  const int lane = threadIdx.x % 32, first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * each * 32;
  int carry = 0;
  for (int k = 0; k < each; ++k) {
    int v = in[first + k * 32 + lane];
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      int o = __shfl_up_sync(~0u, v, d);
      if (lane >= d) v += o;
    }
    out[first + k * 32 + lane] = v + carry;
    carry += __shfl_sync(~0u, v, 31);
  }
}

__global__ void doubles_shuffled(const double* in, double* out, int rounds) {
  double v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int r = 0; r < rounds; ++r) v = 0.5 * (v + __shfl_xor_sync(~0u, v, 1 << r % 5));
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

int main() {
  const int n = 1 << 20;
  int *in, *out;
  CHECK(cudaMalloc(&in, 2 * n * 4));
  CHECK(cudaMalloc(&out, 2 * n * 4));
  CHECK(cudaMemset(in, 0, 2 * n * 4));
  THRICE transpose_in_warp<<<n / 256 * 32 / 128, 128>>>(in, out);
  THRICE windows<<<n / 24 * 32 / 256, 256>>>((float*)in, (float*)out, n);
  THRICE small_products<<<n / 1024 * 32 / 128, 128>>>((float*)in, (float*)in + n, (float*)out);
  THRICE warp_scan<<<264, 128>>>(in, out, 16);
  THRICE doubles_shuffled<<<132, 256>>>((double*)in, (double*)out, 50);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
