// Stream-ordered memory: from an empty pool, with and without a threshold, beside kernels, in a loop of a simulation.
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

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__global__ void touch(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = i;
}

int main() {
  CHECK(cudaFree(0));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  float* x;
  CHECK(cudaMallocAsync(&x, 1 << 20, s));
  touch<<<64, 256, 0, s>>>(x, 1 << 18);
  CHECK(cudaFreeAsync(x, s));
  CHECK(cudaStreamSynchronize(s));
  const size_t bytes = 8 << 20;
  const int rounds = 20;
  const auto loop = [&](const char* name, bool wait) {
    double a = 0, f = 0, all = now_us();
    for (int r = 0; r < rounds; ++r) {
      double t = now_us();
      CHECK(cudaMallocAsync(&x, bytes, s));
      a += now_us() - t;
      touch<<<132, 256, 0, s>>>(x, bytes / 4);
      t = now_us();
      CHECK(cudaFreeAsync(x, s));
      f += now_us() - t;
      if (wait) CHECK(cudaStreamSynchronize(s));
    }
    CHECK(cudaStreamSynchronize(s));
    all = now_us() - all;
    std::printf("%s_malloc: %.3f us\n%s_free: %.3f us\n%s_round: %.3f us\n", name, a / rounds, name, f / rounds, name, all / rounds);
  };
  loop("gives_back", true);
  loop("in_a_row", false);
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long keep = ~0ull;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  loop("warm", true);
  loop("kept", true);
  double t = now_us();
  for (int r = 0; r < rounds; ++r) {
    CHECK(cudaMalloc(&x, bytes));
    touch<<<132, 256, 0, s>>>(x, bytes / 4);
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaFree(x));
  }
  std::printf("plain_round: %.3f us\n", (now_us() - t) / rounds);
  return 0;
}
