// Copies between host and device of 4 bytes to 64 MiB, pinned and pageable, by events.
#include <chrono>
#include <cstdio>
#include <cstdlib>
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
static double event_us(Work work) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  work();
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return ms * 1000;
}

int main() {
  const size_t largest = size_t(64) << 20;
  char *device, *pinned;
  CHECK(cudaMalloc(&device, largest));
  CHECK(cudaMallocHost(&pinned, largest));
  std::vector<char> pageable(largest, 1);
  for (int kind = 0; kind < 4; ++kind) {
    char* host = kind < 2 ? pinned : pageable.data();
    const bool up = kind % 2 == 0;
    for (size_t bytes = 4; bytes <= largest; bytes *= 16) {
      const auto copy = [&] { CHECK(up ? cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice) : cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)); };
      copy();
      const int count = 10;
      const double us = event_us([&] { for (int i = 0; i < count; ++i) copy(); }) / count;
      std::printf("%s_%s_%zu: %.3f us\n", kind < 2 ? "pinned" : "pageable", up ? "up" : "down", bytes, us);
    }
    const double us = event_us([&] { CHECK(up ? cudaMemcpy(device, host, largest, cudaMemcpyHostToDevice) : cudaMemcpy(host, device, largest, cudaMemcpyDeviceToHost)); });
    std::printf("%s_%s_bandwidth: %.3f GB/s\n", kind < 2 ? "pinned" : "pageable", up ? "up" : "down", largest / us / 1e3);
  }
  return 0;
}
