// The transposes of G. Ruetsch and P. Micikevicius, "Optimizing matrix transpose in CUDA" (2009): 2048 by 2048 floats in tiles of 32 by 32, blocks
// of 32 by 8 threads; the mean of launches one after the other.
#include <cstdio>

#include "ladder.h"

constexpr int kTile = 32, kRows = 8, kTimes = 4;

__global__ void copy(float* out, const float* in, int width, int height) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y, at = x + width * y;
  for (int i = 0; i < kTile; i += kRows) out[at + i * width] = in[at + i * width];
}

__global__ void naive(float* out, const float* in, int width, int height) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  const int from = x + width * y, to = y + height * x;
  for (int i = 0; i < kTile; i += kRows) out[to + i] = in[from + i * width];
}

template <int columns>
__device__ void by_tile(float* out, const float* in, int width, int height, int block_x, int block_y) {
  __shared__ float tile[kTile][columns];
  const int from = block_x * kTile + threadIdx.x + (block_y * kTile + threadIdx.y) * width;
  const int to = block_y * kTile + threadIdx.x + (block_x * kTile + threadIdx.y) * height;
  for (int i = 0; i < kTile; i += kRows) tile[threadIdx.y + i][threadIdx.x] = in[from + i * width];
  __syncthreads();
  for (int i = 0; i < kTile; i += kRows) out[to + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void coalesced(float* out, const float* in, int width, int height) {
  by_tile<kTile>(out, in, width, height, blockIdx.x, blockIdx.y);
}

__global__ void without_conflicts(float* out, const float* in, int width, int height) {
  by_tile<kTile + 1>(out, in, width, height, blockIdx.x, blockIdx.y);
}

__global__ void diagonal(float* out, const float* in, int width, int height) {
  // Of a square: blocks that run together lie on a diagonal.
  by_tile<kTile + 1>(out, in, width, height, (blockIdx.x + blockIdx.y) % gridDim.x, blockIdx.x);
}

int main() {
  const int n = 2048;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * n * sizeof(float)));
  CHECK(cudaMalloc(&out, n * n * sizeof(float)));
  CHECK(cudaMemset(in, 0, n * n * sizeof(float)));
  const struct {
    const char* name;
    void (*kernel)(float*, const float*, int, int);
  } kernels[] = {{"copy", copy}, {"naive", naive}, {"coalesced", coalesced}, {"without_conflicts", without_conflicts}, {"diagonal", diagonal}};
  for (const auto& k : kernels) {
    const double ms = time_of([&] {
      for (int times = 0; times < kTimes; ++times) k.kernel<<<dim3(n / kTile, n / kTile), dim3(kTile, kRows)>>>(out, in, n, n);
    });
    std::printf("%s: %.3f GB/s\n", k.name, 2.0 * n * n * sizeof(float) * kTimes / (ms * 1e6));
  }
  return 0;
}
