// Stencils on a line: from global memory, through shared memory, through registers.
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

const int kRadius = 4;
__constant__ float weights[2 * kRadius + 1];

__global__ void from_global(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + kRadius;
  if (i >= n - kRadius) return;
  float sum = 0;
  for (int k = -kRadius; k <= kRadius; ++k) sum += weights[k + kRadius] * in[i + k];
  out[i] = sum;
}

__global__ void from_shared(const float* in, float* out, int n) {
  __shared__ float line[256 + 2 * kRadius];
  int i = blockIdx.x * blockDim.x + threadIdx.x + kRadius, t = threadIdx.x + kRadius;
  line[t] = i < n ? in[i] : 0.0f;
  if (threadIdx.x < kRadius) {
    line[threadIdx.x] = in[i - kRadius];
    line[t + 256] = i + 256 < n ? in[i + 256] : 0.0f;
  }
  __syncthreads();
  if (i >= n - kRadius) return;
  float sum = 0;
#pragma unroll
  for (int k = -kRadius; k <= kRadius; ++k) sum += weights[k + kRadius] * line[t + k];
  out[i] = sum;
}

__global__ void eight_in_registers(const float* in, float* out, int n) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (first + 8 + 2 * kRadius > n) return;
  float v[8 + 2 * kRadius];
#pragma unroll
  for (int k = 0; k < 8 + 2 * kRadius; k += 4) *(float4*)&v[k] = *(const float4*)&in[first + k];
#pragma unroll
  for (int o = 0; o < 8; ++o) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * kRadius; ++k) sum += weights[k] * v[o + k];
    out[first + o + kRadius] = sum;
  }
}

__global__ void three_points(const double* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = 0.25 * in[i - 1] + 0.5 * in[i] + 0.25 * in[i + 1];
}

int main() {
  const int n = 1 << 21;
  const float host_weights[2 * kRadius + 1] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.4f, 0.3f, 0.2f, 0.1f};
  CHECK(cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights));
  float *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(float)));
  CHECK(cudaMalloc(&out, n * sizeof(float)));
  CHECK(cudaMemset(in, 0, n * sizeof(float)));
  THRICE from_global<<<n / 256, 256>>>(in, out, n);
  THRICE from_shared<<<n / 256, 256>>>(in, out, n);
  THRICE eight_in_registers<<<n / 8 / 256, 256>>>(in, out, n);
  THRICE three_points<<<n / 2 / 128, 128>>>((double*)in, (double*)out, n / 2);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
