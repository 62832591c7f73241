// Layer norm, its gradient, RMS norm, batch norm, in float and half.
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

#include <cuda_fp16.h>

__device__ float sum_block(float v, float* partial) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  __syncthreads();
  return v;
}

__global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y, float* statistics, int columns) {
  __shared__ float partial[32];
  const float* row = x + size_t(blockIdx.x) * columns;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    sum += row[i];
    squares += row[i] * row[i];
  }
  float mean = sum_block(sum, partial) / columns, variance = sum_block(squares, partial) / columns - mean * mean;
  float scale = rsqrtf(variance + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) y[size_t(blockIdx.x) * columns + i] = (row[i] - mean) * scale * gain[i] + bias[i];
  if (threadIdx.x == 0) {
    statistics[2 * blockIdx.x] = mean;
    statistics[2 * blockIdx.x + 1] = scale;
  }
}

__global__ void gradient(const float* x, const float* dy, const float* gain, const float* statistics, float* dx, int columns) {
  __shared__ float partial[32];
  const size_t base = size_t(blockIdx.x) * columns;
  float mean = statistics[2 * blockIdx.x], scale = statistics[2 * blockIdx.x + 1], a = 0, b = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    float g = dy[base + i] * gain[i];
    a += g;
    b += g * (x[base + i] - mean) * scale;
  }
  a = sum_block(a, partial) / columns;
  b = sum_block(b, partial) / columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    dx[base + i] = (dy[base + i] * gain[i] - a - (x[base + i] - mean) * scale * b) * scale;
}

__global__ void rms_norm_half(const half2* x, const half2* gain, half2* y, int pairs) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float2 v = __half22float2(x[blockIdx.x * pairs + i]);
    sum += v.x * v.x + v.y * v.y;
  }
  float scale = rsqrtf(sum_block(sum, partial) / (2 * pairs) + 1e-6f);
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float2 v = __half22float2(x[blockIdx.x * pairs + i]), g = __half22float2(gain[i]);
    y[blockIdx.x * pairs + i] = __floats2half2_rn(v.x * scale * g.x, v.y * scale * g.y);
  }
}

__global__ void batch_norm(const float* x, float* y, int batch, int channels, int pixels) {
  __shared__ float partial[32];
  const int c = blockIdx.x;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < batch * pixels; i += blockDim.x) {
    float v = x[(i / pixels * channels + c) * pixels + i % pixels];
    sum += v;
    squares += v * v;
  }
  float mean = sum_block(sum, partial) / (batch * pixels), scale = rsqrtf(sum_block(squares, partial) / (batch * pixels) - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < batch * pixels; i += blockDim.x) {
    size_t at = size_t(i / pixels * channels + c) * pixels + i % pixels;
    y[at] = (x[at] - mean) * scale;
  }
}

int main() {
  const int rows = 1024, columns = 768;
  float *x, *y, *dx, *gain, *statistics;
  CHECK(cudaMalloc(&x, rows * columns * 4));
  CHECK(cudaMalloc(&y, rows * columns * 4));
  CHECK(cudaMalloc(&dx, rows * columns * 4));
  CHECK(cudaMalloc(&gain, columns * 8));
  CHECK(cudaMalloc(&statistics, rows * 8));
  CHECK(cudaMemset(x, 0, rows * columns * 4));
  CHECK(cudaMemset(gain, 0, columns * 8));
  THRICE layer_norm<<<rows, 256>>>(x, gain, gain + columns, y, statistics, columns);
  THRICE gradient<<<rows, 256>>>(x, y, gain, statistics, dx, columns);
  THRICE rms_norm_half<<<rows, 128>>>((half2*)x, (half2*)gain, (half2*)y, columns / 2);
  THRICE batch_norm<<<64, 512>>>(x, y, 12, 64, 1024);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
