// cudaMemset and copies within the device by size: by events and by the host.
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

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main() {
  char *a, *b;
  CHECK(cudaMalloc(&a, 256 << 20));
  CHECK(cudaMalloc(&b, 256 << 20));
  CHECK(cudaMemset(a, 0, 256 << 20));
  CHECK(cudaMemset(b, 0, 256 << 20));
  CHECK(cudaDeviceSynchronize());
  for (size_t kib : {4, 64, 1024, 16384, 262144}) {
    const size_t bytes = kib << 10;
    std::printf("memset_%zu: %.3f us\n", kib, event_us([&] { CHECK(cudaMemsetAsync(a, 1, bytes)); }));
    std::printf("copy_%zu: %.3f us\n", kib, event_us([&] { CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice)); }));
    double t = now_us();
    CHECK(cudaMemset(a, 2, bytes));
    CHECK(cudaDeviceSynchronize());
    std::printf("memset_host_%zu: %.3f us\n", kib, now_us() - t);
    t = now_us();
    CHECK(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaDeviceSynchronize());
    std::printf("copy_host_%zu: %.3f us\n", kib, now_us() - t);
  }
  return 0;
}
