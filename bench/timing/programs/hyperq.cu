// Four kernels in each of several streams, by depth and by breadth, with the wall clock of all.
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

__global__ void hold(long long ticks) {
  long long start = clock64();
  while (clock64() - start < ticks) {
  }
}

int main() {
  for (int streams : {1, 2, 4, 8, 16, 32}) {
    std::vector<cudaStream_t> all(streams);
    for (auto& s : all) CHECK(cudaStreamCreate(&s));
    const auto run = [&](bool depth) {
      cudaEvent_t start, stop;
      CHECK(cudaEventCreate(&start));
      CHECK(cudaEventCreate(&stop));
      CHECK(cudaEventRecord(start));
      if (depth) {
        for (auto& s : all)
          for (int k = 0; k < 4; ++k) hold<<<1, 1, 0, s>>>(400000);
      } else {
        for (int k = 0; k < 4; ++k)
          for (auto& s : all) hold<<<1, 1, 0, s>>>(400000);
      }
      CHECK(cudaEventRecord(stop));
      CHECK(cudaEventSynchronize(stop));
      float ms;
      CHECK(cudaEventElapsedTime(&ms, start, stop));
      CHECK(cudaEventDestroy(start));
      CHECK(cudaEventDestroy(stop));
      return ms * 1000;
    };
    run(true);
    std::printf("depth_%d: %.3f us\n", streams, run(true));
    std::printf("breadth_%d: %.3f us\n", streams, run(false));
    for (auto& s : all) CHECK(cudaStreamDestroy(s));
  }
  return 0;
}
