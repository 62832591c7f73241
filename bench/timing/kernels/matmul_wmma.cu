// Matrix products on tensor cores through wmma: one tile a warp from global memory, and through shared memory.
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
#include <mma.h>

using namespace nvcuda;

__global__ void tile_per_warp(const half* a, const half* b, float* c, int n) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = warp / (n / 16) * 16, column = warp % (n / 16) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + row * n + k, n);
    wmma::load_matrix_sync(fb, b + k * n + column, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

// 64 x 64 of c in a block of four warps, 32 x 32 in a warp.
__global__ void through_shared(const half* a, const half* b, float* c, int n) {
  __shared__ __align__(32) half sa[64][32 + 16], sb[32][64 + 16];
  const int t = threadIdx.x, warp = t / 32, wr = warp / 2 * 32, wc = warp % 2 * 32;
  const int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& line : sum)
    for (auto& f : line) wmma::fill_fragment(f, 0.0f);
  for (int k0 = 0; k0 < n; k0 += 32) {
    for (int i = t; i < 256; i += 128) {
      *(int4*)&sa[i / 4][i % 4 * 8] = *(const int4*)&a[(row0 + i / 4) * n + k0 + i % 4 * 8];
      *(int4*)&sb[i / 8][i % 8 * 8] = *(const int4*)&b[(k0 + i / 8) * n + column0 + i % 8 * 8];
    }
    __syncthreads();
    for (int k = 0; k < 32; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], &sa[wr + i * 16][k], 48);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(fb[j], &sb[k][wc + j * 16], 80);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(c + (row0 + wr + i * 16) * n + column0 + wc + j * 16, sum[i][j], n, wmma::mem_row_major);
}

__global__ void fill(half* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = __float2half(i % 11 * 0.125f);
}

int main() {
  const int n = 1024;
  half *a, *b;
  float* c;
  CHECK(cudaMalloc(&a, n * n * sizeof(half)));
  CHECK(cudaMalloc(&b, n * n * sizeof(half)));
  CHECK(cudaMalloc(&c, n * n * sizeof(float)));
  fill<<<n * n / 256, 256>>>(a, n * n);
  fill<<<n * n / 256, 256>>>(b, n * n);
  THRICE tile_per_warp<<<512 / 16 * 512 / 16 / 4, 128>>>(a, b, c, 512);
  THRICE tile_per_warp<<<n / 16 * n / 16 / 8, 256>>>(a, b, c, n);
  THRICE through_shared<<<dim3(512 / 64, 512 / 64), 128>>>(a, b, c, 512);
  THRICE through_shared<<<dim3(n / 64, n / 64), 128>>>(a, b, c, n);
  float one;
  CHECK(cudaMemcpy(&one, c + 99, sizeof one, cudaMemcpyDeviceToHost));
  std::printf("%f\n", one);
  return 0;
}
