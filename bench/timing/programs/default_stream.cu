// Kernels in the default stream between those of others: who waits for whom.
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
  cudaStream_t a, b, free_one;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreate(&b));
  CHECK(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
  spin<<<1, 1>>>(1000);
  CHECK(cudaDeviceSynchronize());
  const auto run = [&](const char* name, auto issue) {
    issue();
    CHECK(cudaDeviceSynchronize());
    const double t = now_us();
    issue();
    CHECK(cudaDeviceSynchronize());
    std::printf("%s: %.3f us\n", name, now_us() - t);
  };
  const long long ticks = 200000;
  run("two_streams", [&] {
    for (int k = 0; k < 4; ++k) spin<<<1, 1, 0, a>>>(ticks), spin<<<1, 1, 0, b>>>(ticks);
  });
  run("default_between", [&] {
    for (int k = 0; k < 4; ++k) spin<<<1, 1, 0, a>>>(ticks), spin<<<1, 1>>>(ticks), spin<<<1, 1, 0, b>>>(ticks);
  });
  run("beside_a_free_stream", [&] {
    for (int k = 0; k < 4; ++k) spin<<<1, 1>>>(ticks), spin<<<1, 1, 0, free_one>>>(ticks);
  });
  run("memset_between", [&] {
    static int* x = nullptr;
    if (!x) CHECK(cudaMalloc(&x, 1 << 20));
    for (int k = 0; k < 4; ++k) {
      spin<<<1, 1, 0, a>>>(ticks);
      CHECK(cudaMemset(x, 0, 1 << 20));
      spin<<<1, 1, 0, b>>>(ticks);
    }
  });
  run("per_thread", [&] {
    for (int k = 0; k < 4; ++k) spin<<<1, 1, 0, cudaStreamPerThread>>>(ticks), spin<<<1, 1, 0, free_one>>>(ticks);
  });
  return 0;
}
