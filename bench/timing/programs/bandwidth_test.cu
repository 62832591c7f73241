// The copy bandwidths of CUDA's bandwidthTest: 32 MiB, ten copies between two events, each kind of memory.
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
  const size_t bytes = size_t(32) << 20;
  const int rounds = 10;
  char *pageable = (char*)std::malloc(bytes), *pinned, *device, *other;
  std::memset(pageable, 1, bytes);
  CHECK(cudaMallocHost(&pinned, bytes));
  std::memset(pinned, 1, bytes);
  CHECK(cudaMalloc(&device, bytes));
  CHECK(cudaMalloc(&other, bytes));
  const auto rate = [&](const char* name, auto copy, double times = 1) {
    copy();
    CHECK(cudaDeviceSynchronize());
    const double us = event_us([&] {
      for (int r = 0; r < rounds; ++r) copy();
    });
    std::printf("%s: %.3f GB/s\n", name, times * bytes * rounds / us * 1e-3);
  };
  rate("pageable_h2d", [&] { CHECK(cudaMemcpy(device, pageable, bytes, cudaMemcpyHostToDevice)); });
  rate("pageable_d2h", [&] { CHECK(cudaMemcpy(pageable, device, bytes, cudaMemcpyDeviceToHost)); });
  rate("pinned_h2d", [&] { CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice)); });
  rate("pinned_d2h", [&] { CHECK(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost)); });
  rate("device_to_device", [&] { CHECK(cudaMemcpy(other, device, bytes, cudaMemcpyDeviceToDevice)); }, 2);
  CHECK(cudaFree(other));
  CHECK(cudaFree(device));
  CHECK(cudaFreeHost(pinned));
  std::free(pageable);
  return 0;
}
