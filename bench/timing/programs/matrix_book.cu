// Matrix product, plain and tiled, and a transpose in three ways, timed as the books time them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = call;                                                       \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

constexpr int kTile = 16;

__global__ void plain(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / kTile; ++t) {
    left[threadIdx.y][threadIdx.x] = a[row * n + t * kTile + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(t * kTile + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
__global__ void by_rows(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}
__global__ void by_columns(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[y * n + x] = in[x * n + y];
}
template <int Pad>
__global__ void by_tiles(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + Pad];
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y + k) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 32; k += 8)
    out[(blockIdx.x * 32 + threadIdx.y + k) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + k];
}

int main() {
  const int most = 2048;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, most * most * 4));
  CHECK(cudaMalloc(&b, most * most * 4));
  CHECK(cudaMalloc(&c, most * most * 4));
  CHECK(cudaMemset(a, 0, most * most * 4));
  CHECK(cudaMemset(b, 0, most * most * 4));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  const auto report = [&](const char* name, int n, auto launch) {
    launch();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin));
    for (int k = 0; k < 3; ++k) launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    std::printf("%s_%d: %.3f us\n", name, n, ms * 1000 / 3);
  };
  for (int n : {128, 512}) {
    const dim3 blocks(n / kTile, n / kTile), threads(kTile, kTile);
    report("plain", n, [&] { plain<<<blocks, threads>>>(a, b, c, n); });
    report("tiled", n, [&] { tiled<<<blocks, threads>>>(a, b, c, n); });
  }
  for (int n : {512, 2048}) {
    report("by_rows", n, [&] { by_rows<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, c, n); });
    report("by_columns", n, [&] { by_columns<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, c, n); });
    report("tiles", n, [&] { by_tiles<0><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(a, c, n); });
    report("tiles_padded", n, [&] { by_tiles<1><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(a, c, n); });
  }
}
