// Two classics with events: a transpose in two ways, and a product of matrices with tiles.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

template <class Work>
static double event_us(Work work, cudaStream_t stream = 0) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start, stream));
  work();
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return ms * 1000;
}

__global__ void naive(const float* in, float* out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[x * n + y + k] = in[(y + k) * n + x];
}
__global__ void tiled(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int t = 0; t < n; t += 16) {
    ta[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k) s += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = s;
}

int main() {
  const int n = 4096;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, n * n * 4ull));
  CHECK(cudaMalloc(&b, n * n * 4ull));
  CHECK(cudaMalloc(&c, n * n * 4ull));
  CHECK(cudaMemset(a, 0, n * n * 4ull));
  CHECK(cudaMemset(b, 0, n * n * 4ull));
  const dim3 grid(n / 32, n / 32), block(32, 8);
  const auto rate = [&](const char* name, auto launch) {
    launch();
    const double us = event_us(launch);
    std::printf("%s: %.3f us\n%s_bandwidth: %.3f GB/s\n", name, us, name, 2.0 * n * n * 4 / us * 1e-3);
  };
  rate("naive", [&] { naive<<<grid, block>>>(a, b, n); });
  rate("tiled", [&] { tiled<<<grid, block>>>(a, b, n); });
  for (int m : {256, 1024}) {
    const auto launch = [&] { product<<<dim3(m / 16, m / 16), dim3(16, 16)>>>(a, b, c, m); };
    launch();
    const double us = event_us(launch);
    std::printf("product_%d: %.3f us\nproduct_rate_%d: %.3f GFLOP/s\n", m, us, m, 2.0 * m * m * m / us * 1e-3);
  }
  return 0;
}
