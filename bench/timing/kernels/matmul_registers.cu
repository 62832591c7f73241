// Matrix products with blocks in registers: 4x4 and 8x8 a thread, vector loads, two buffers.
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

// 64 x 64 of c in a block of 256 threads, 4 x 4 in a thread.
__global__ void four_by_four(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[16][64 + 4], sb[16][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int i = t; i < 64 * 16; i += 256) {
      sa[i % 16][i / 16] = a[(row0 + i / 16) * k + k0 + i % 16];
      sb[i / 64][i % 64] = b[(k0 + i / 64) * n + column0 + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 16; ++kk) {
      float x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = sa[kk][ty * 4 + i];
#pragma unroll
      for (int j = 0; j < 4; ++j) y[j] = sb[kk][tx * 4 + j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row0 + ty * 4 + i) * n + column0 + tx * 4 + j] = sum[i][j];
}

// 128 x 128 in a block, 8 x 8 in a thread, loads of four floats; with `Buffers` == 2 the next tile loads meanwhile.
template <int Buffers>
__global__ void __launch_bounds__(256) eight_by_eight(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float sa[Buffers][8][128], sb[Buffers][8][128];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.y * 128, column0 = blockIdx.x * 128;
  const int ar = t / 2, ac = t % 2 * 4, br = t / 32, bc = t % 32 * 4;
  float sum[8][8] = {};
  float4 next_a = *(const float4*)&a[(row0 + ar) * k + ac], next_b = *(const float4*)&b[br * n + column0 + bc];
  int buffer = 0;
  for (int k0 = 0; k0 < k; k0 += 8) {
    sa[buffer][ac][ar] = next_a.x;
    sa[buffer][ac + 1][ar] = next_a.y;
    sa[buffer][ac + 2][ar] = next_a.z;
    sa[buffer][ac + 3][ar] = next_a.w;
    *(float4*)&sb[buffer][br][bc] = next_b;
    __syncthreads();
    if (k0 + 8 < k) {
      next_a = *(const float4*)&a[(row0 + ar) * k + k0 + 8 + ac];
      next_b = *(const float4*)&b[(k0 + 8 + br) * n + column0 + bc];
    }
#pragma unroll
    for (int kk = 0; kk < 8; ++kk) {
      float4 x0 = *(float4*)&sa[buffer][kk][ty * 4], x1 = *(float4*)&sa[buffer][kk][64 + ty * 4];
      float4 y0 = *(float4*)&sb[buffer][kk][tx * 4], y1 = *(float4*)&sb[buffer][kk][64 + tx * 4];
      const float x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
      const float y[8] = {y0.x, y0.y, y0.z, y0.w, y1.x, y1.y, y1.z, y1.w};
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
    if (Buffers == 2) buffer ^= 1;
    else __syncthreads();
  }
  for (int i = 0; i < 8; ++i) {
    const int row = row0 + i / 4 * 64 + ty * 4 + i % 4;
    *(float4*)&c[row * n + column0 + tx * 4] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    *(float4*)&c[row * n + column0 + 64 + tx * 4] = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
  }
}

int main() {
  const int m = 512, n = 512, k = 256;
  std::vector<float> host(m * n);
  for (size_t i = 0; i < host.size(); ++i) host[i] = i % 13 * 0.25f;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, m * k * sizeof(float)));
  CHECK(cudaMalloc(&b, k * n * sizeof(float)));
  CHECK(cudaMalloc(&c, m * n * sizeof(float)));
  CHECK(cudaMemcpy(a, host.data(), m * k * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, host.data(), k * n * sizeof(float), cudaMemcpyHostToDevice));
  THRICE four_by_four<<<dim3(n / 64, m / 64), 256>>>(a, b, c, m, n, k);
  THRICE eight_by_eight<1><<<dim3(n / 128, m / 128), 256>>>(a, b, c, m, n, k);
  THRICE eight_by_eight<2><<<dim3(n / 128, m / 128), 256>>>(a, b, c, m, n, k);
  CHECK(cudaMemcpy(host.data(), c, m * n * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[4321]);
  return 0;
}
