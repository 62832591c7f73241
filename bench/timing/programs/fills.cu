// Fills and copies within the device by size, and rows with gaps.
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
  char *a, *b;
  CHECK(cudaMalloc(&a, largest));
  CHECK(cudaMalloc(&b, largest));
  CHECK(cudaMemset(a, 0, largest));
  for (size_t bytes = 1024; bytes <= largest; bytes *= 16) {
    const auto time = [&](const char* name, auto run) {
      run();
      std::printf("%s_%zu: %.3f us\n", name, bytes, event_us([&] { for (int i = 0; i < 10; ++i) run(); }) / 10);
    };
    time("fill", [&] { CHECK(cudaMemsetAsync(a, 1, bytes)); });
    time("copy", [&] { CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice)); });
  }
  std::printf("rows_of_1000_in_4096: %.3f us\n", event_us([&] { CHECK(cudaMemcpy2DAsync(b, 4096, a, 4096, 1000, 8192, cudaMemcpyDeviceToDevice)); }));
  std::printf("fill_rows_of_1000_in_4096: %.3f us\n", event_us([&] { CHECK(cudaMemset2DAsync(b, 4096, 0, 1000, 8192)); }));
  return 0;
}
