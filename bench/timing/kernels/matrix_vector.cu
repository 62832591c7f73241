// Matrix times vector: a row a thread, a warp, a block; and the transposed matrix.
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

__global__ void row_per_thread(const float* a, const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int j = 0; j < columns; ++j) sum += a[row * columns + j] * x[j];
  y[row] = sum;
}

__global__ void row_per_warp(const float* a, const float* x, float* y, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int j = lane; j < columns; j += 32) sum += a[row * columns + j] * x[j];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void row_per_block(const float4* a, const float4* x, float* y, int columns) {
  __shared__ float partial[8];
  float sum = 0;
  for (int j = threadIdx.x; j < columns / 4; j += blockDim.x) {
    float4 p = a[blockIdx.x * (columns / 4) + j], q = x[j];
    sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) sum += partial[w];
    y[blockIdx.x] = sum;
  }
}

__global__ void transposed(const float* a, const float* x, float* y, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0;
  for (int i = 0; i < rows; ++i) sum += a[i * columns + column] * x[i];
  y[column] = sum;
}

int main() {
  const int n = 2048;
  float *a, *x, *y;
  CHECK(cudaMalloc(&a, n * n * sizeof(float)));
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  CHECK(cudaMemset(a, 0, n * n * sizeof(float)));
  CHECK(cudaMemset(x, 0, n * sizeof(float)));
  THRICE row_per_thread<<<n / 128, 128>>>(a, x, y, n, n);
  THRICE row_per_warp<<<n / 8, 256>>>(a, x, y, n, n);
  THRICE row_per_block<<<n, 256>>>((float4*)a, (float4*)x, y, n);
  THRICE transposed<<<n / 128, 128>>>(a, x, y, n, n);
  THRICE row_per_warp<<<64, 128>>>(a, x, y, 256, 1000);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
