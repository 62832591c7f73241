// The same spinning kernel in 1 to 128 streams, with the host's clock.
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

__global__ void spin(long long ticks) {
  long long start = clock64();
  while (clock64() - start < ticks) {
  }
}

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main() {
  CHECK(cudaFree(0));
  std::vector<cudaStream_t> s(128);
  for (auto& one : s) CHECK(cudaStreamCreate(&one));
  spin<<<1, 1>>>(1000);
  CHECK(cudaDeviceSynchronize());
  for (int n = 1; n <= 128; n *= 2) {
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      const double t = now_us();
      for (int i = 0; i < n; ++i) spin<<<1, 64, 0, s[i]>>>(1000000);
      CHECK(cudaDeviceSynchronize());
      best = std::min(best, now_us() - t);
    }
    std::printf("streams_%d: %.3f us\n", n, best);
  }
  for (int n : {8, 64}) {
    const double t = now_us();
    for (int i = 0; i < n; ++i) spin<<<1, 64>>>(1000000);
    CHECK(cudaDeviceSynchronize());
    std::printf("one_stream_%d: %.3f us\n", n, now_us() - t);
  }
  return 0;
}
