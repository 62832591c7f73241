// Several threads of the host, each with a stream of its own.
#include <thread>
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

static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int main() {
  CHECK(cudaFree(0));
  cudaStream_t s[8];
  for (auto& one : s) CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  spin<<<1, 1>>>(1000);
  CHECK(cudaDeviceSynchronize());
  for (int threads : {1, 2, 4, 8}) {
    const double t = now();
    std::vector<std::thread> all;
    for (int k = 0; k < threads; ++k)
      all.emplace_back([&, k] {
        for (int j = 0; j < 10; ++j) {
          spin<<<1, 32, 0, s[k]>>>(200000);
          CHECK(cudaStreamSynchronize(s[k]));
        }
      });
    for (auto& one : all) one.join();
    std::printf("threads_%d: %.3f us\n", threads, now() - t);
  }
  return 0;
}
