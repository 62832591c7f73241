// Kernels of 0.5 to 3 times the blocks that the device holds.
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

int main() {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  int per = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, spin, 512, 0));
  const int full = per * p.multiProcessorCount;
  event_us([&] { spin<<<1, 512>>>(1000); });
  for (int tenths : {5, 10, 11, 15, 20, 21, 25, 30, 31}) {
    const int blocks = full * tenths / 10;
    std::printf("waves_%d: %.3f us\n", tenths, event_us([&] { spin<<<blocks, 512>>>(100000); }));
  }
  return 0;
}
