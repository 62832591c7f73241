// Kernels that launch kernels: nested reductions, adaptive subdivision. nvcc: -rdc=true -lcudadevrt
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

__global__ void child(float* data, int first, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[first + i] = data[first + i] * 0.5f + 1.0f;
}

__global__ void parent(float* data, int parts, int count) {
  int part = blockIdx.x * blockDim.x + threadIdx.x;
  if (part < parts) child<<<(count + 127) / 128, 128>>>(data, part * count, count);
}

__global__ void subdivide(float* data, int first, int count, int depth) {
  if (depth == 0) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) data[first + i] += depth + 1;
    return;
  }
  if (threadIdx.x < 2) subdivide<<<1, 64>>>(data, first + threadIdx.x * count / 2, count / 2, depth - 1);
}

__global__ void no_children(float* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] = data[i] * 0.5f + 1.0f;
}

int main() {
  const int n = 1 << 18;
  float* data;
  CHECK(cudaMalloc(&data, n * 4));
  CHECK(cudaMemset(data, 0, n * 4));
  THRICE no_children<<<64, 128>>>(data, n);
  THRICE parent<<<1, 32>>>(data, 8, n / 8);
  THRICE parent<<<2, 32>>>(data, 64, 1024);
  THRICE subdivide<<<1, 64>>>(data, 0, 4096, 4);
  CHECK(cudaDeviceSynchronize());
  float one;
  CHECK(cudaMemcpy(&one, data, 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", one);
  return 0;
}
