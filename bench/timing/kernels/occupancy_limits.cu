// Kernels that few warps of fit on a multiprocessor: large shared memory, many registers, small blocks.
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

__global__ void with_shared(const float* in, float* out, int n) {
  extern __shared__ float s[];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[blockDim.x - 1 - threadIdx.x] + 1;
    __syncthreads();
  }
}

template <int Values>
__global__ void with_registers(const float* in, float* out, int n) {
  float v[Values];
  int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
#pragma unroll
  for (int k = 0; k < Values; ++k) v[k] = i + k * threads < n ? in[i + k * threads] : 0;
#pragma unroll
  for (int r = 1; r < 4; ++r)
#pragma unroll
    for (int k = 0; k < Values; ++k) v[k] = v[k] * v[(k + r * 7) % Values] + v[(k + r) % Values];
#pragma unroll
  for (int k = 0; k < Values; ++k)
    if (i + k * threads < n) out[i + k * threads] = v[k];
}

__global__ void one_load(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sqrtf(in[i]) + 1;
}

int main() {
  const int n = 1 << 20;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemset(in, 0, n * 4));
  CHECK(cudaFuncSetAttribute(with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  for (int kb : {4, 25, 50, 100, 200}) THRICE with_shared<<<528, 256, kb << 10>>>(in, out, n);
  THRICE with_registers<16><<<n / 16 / 128, 128>>>(in, out, n);
  THRICE with_registers<64><<<n / 64 / 128, 128>>>(in, out, n);
  THRICE with_registers<128><<<n / 128 / 128, 128>>>(in, out, n);
  THRICE one_load<<<n / 32, 32>>>(in, out, n);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
