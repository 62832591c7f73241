// Convolutions of an image: 5x5 with weights in constant memory, through tiles, and separable.
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

__constant__ float weights[25];
__constant__ float row_weights[17];

__global__ void direct(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      int px = x + dx, py = y + dy;
      if (px >= 0 && px < width && py >= 0 && py < height) sum += weights[(dy + 2) * 5 + dx + 2] * in[py * width + px];
    }
  out[y * width + x] = sum;
}

__global__ void tiled(const float* in, float* out, int width, int height) {
  __shared__ float tile[20][36];
  const int x0 = blockIdx.x * 32 - 2, y0 = blockIdx.y * 16 - 2;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 20 * 36; i += 512) {
    int px = min(max(x0 + i % 36, 0), width - 1), py = min(max(y0 + i / 36, 0), height - 1);
    tile[i / 36][i % 36] = in[py * width + px];
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < 5; ++dy)
#pragma unroll
    for (int dx = 0; dx < 5; ++dx) sum += weights[dy * 5 + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
  out[(blockIdx.y * 16 + threadIdx.y) * width + blockIdx.x * 32 + threadIdx.x] = sum;
}

__global__ void rows(const float* in, float* out, int width) {
  __shared__ float line[128 + 16];
  const int x0 = blockIdx.x * 128, y = blockIdx.y;
  for (int i = threadIdx.x; i < 144; i += 128) line[i] = in[y * width + min(max(x0 + i - 8, 0), width - 1)];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 17; ++k) sum += row_weights[k] * line[threadIdx.x + k];
  out[y * width + x0 + threadIdx.x] = sum;
}

__global__ void columns(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 17; ++k) sum += row_weights[k] * in[min(max(y + k - 8, 0), height - 1) * width + x];
  out[y * width + x] = sum;
}

int main() {
  const int width = 1024, height = 768;
  float host[25];
  for (int i = 0; i < 25; ++i) host[i] = 0.04f * (i % 5);
  CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
  CHECK(cudaMemcpyToSymbol(row_weights, host, 17 * sizeof(float)));
  float *a, *b;
  CHECK(cudaMalloc(&a, width * height * sizeof(float)));
  CHECK(cudaMalloc(&b, width * height * sizeof(float)));
  CHECK(cudaMemset(a, 0, width * height * sizeof(float)));
  THRICE direct<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(a, b, width, height);
  THRICE tiled<<<dim3(width / 32, height / 16), dim3(32, 16)>>>(a, b, width, height);
  THRICE rows<<<dim3(width / 128, height), 128>>>(a, b, width);
  THRICE columns<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(b, a, width, height);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
