// What a launch costs by its number of blocks, threads, arguments and shared memory.
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

struct Large {
  int words[900];
};
__global__ void no_arguments() {}
__global__ void few_arguments(int a, float b, void* c, int d, double e, int f) {}
__global__ void large_argument(Large l) {}
__global__ void shared_memory() { extern __shared__ int s[]; }

int main() {
  CHECK(cudaFree(0));
  CHECK(cudaFuncSetAttribute(shared_memory, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 << 10));
  Large large = {};
  const auto measure = [&](const char* name, auto launch) {
    for (int i = 0; i < 5; ++i) launch();
    CHECK(cudaDeviceSynchronize());
    const int n = 200;
    double t = now_us();
    for (int i = 0; i < n; ++i) launch();
    const double call = (now_us() - t) / n;
    CHECK(cudaDeviceSynchronize());
    const double kernel = event_us([&] {
      for (int i = 0; i < n; ++i) launch();
    }) / n;
    std::printf("%s_call: %.3f us\n%s: %.3f us\n", name, call, name, kernel);
  };
  measure("one_thread", [&] { no_arguments<<<1, 1>>>(); });
  measure("block_of_1024", [&] { no_arguments<<<1, 1024>>>(); });
  measure("blocks_132", [&] { no_arguments<<<132, 128>>>(); });
  measure("blocks_1000", [&] { no_arguments<<<1000, 128>>>(); });
  measure("blocks_10000", [&] { no_arguments<<<10000, 128>>>(); });
  measure("few_arguments", [&] { few_arguments<<<1, 32>>>(1, 2, nullptr, 3, 4, 5); });
  measure("large_argument", [&] { large_argument<<<1, 32>>>(large); });
  measure("shared_memory", [&] { shared_memory<<<132, 128, 96 << 10>>>(); });
  return 0;
}
