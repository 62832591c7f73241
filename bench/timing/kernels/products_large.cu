// Matrix products of 512 to 768: tiles of 32, 8 x 8 a thread, rank updates, a batch of small ones.
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

__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[32][32], sb[32][32];
  const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 32) {
    sa[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; ++i) sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// 64 x 64 in a block of 64 threads, 8 x 8 in a thread.
__global__ void blocked(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float sa[8][64], sb[8][64];
  const int t = threadIdx.x, tx = t % 8, ty = t / 8, row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  float sum[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      sa[i][t] = a[(row0 + t) * n + k0 + i];
      sb[i][t] = b[(k0 + i) * n + column0 + t];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float x[8], y[8];
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        *(float4*)&x[i] = *(float4*)&sa[k][ty * 8 + i];
        *(float4*)&y[i] = *(float4*)&sb[k][tx * 8 + i];
      }
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; j += 4)
      *(float4*)&c[(row0 + ty * 8 + i) * n + column0 + tx * 8 + j] = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}

__global__ void rank_update(const float* x, const float* y, float* a, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = a[row * n + column];
  for (int k = 0; k < 16; ++k) sum += x[k * n + row] * y[k * n + column];
  a[row * n + column] = sum;
}

__global__ void batch(const float* a, const float* b, float* c) {
  __shared__ float sa[16][17], sb[16][17];
  const int at = blockIdx.x * 256 + threadIdx.y * 16 + threadIdx.x;
  sa[threadIdx.y][threadIdx.x] = a[at];
  sb[threadIdx.y][threadIdx.x] = b[at];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
  c[at] = sum;
}

int main() {
  const int n = 768;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, 1 << 24));
  CHECK(cudaMalloc(&b, 1 << 24));
  CHECK(cudaMalloc(&c, 1 << 24));
  CHECK(cudaMemset(a, 0, 1 << 24));
  CHECK(cudaMemset(b, 0, 1 << 24));
  CHECK(cudaMemset(c, 0, 1 << 24));
  THRICE tiled<<<dim3(16, 16), dim3(32, 32)>>>(a, b, c, 512);
  THRICE blocked<<<dim3(n / 64, n / 64), 64>>>(a, b, c, n);
  THRICE rank_update<<<dim3(2048 / 32, 1024 / 8), dim3(32, 8)>>>(a, b, c, 2048);
  THRICE batch<<<16384, dim3(16, 16)>>>(a, b, c);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
