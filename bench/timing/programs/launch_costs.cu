// What a launch costs the host and the device: alone, in a row, waited for, with arguments, with a small kernel behind.
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

struct Large {
  int words[500];
};

__global__ void empty() {}
__global__ void with_argument(Large large, int* out) {
  if (out) *out = large.words[3];
}
__global__ void small(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * 2 + 1;
}

int main() {
  float* data;
  CHECK(cudaMalloc(&data, 1 << 20));
  CHECK(cudaMemset(data, 0, 1 << 20));
  double start = now_us();
  empty<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  std::printf("first_launch: %.3f us\n", now_us() - start);
  const int count = 200;
  const auto host = [&](const char* name, auto launch) {
    launch();
    CHECK(cudaDeviceSynchronize());
    const double begin = now_us();
    for (int i = 0; i < count; ++i) launch();
    const double called = now_us() - begin;
    CHECK(cudaDeviceSynchronize());
    std::printf("%s_call: %.3f us\n%s_total: %.3f us\n", name, called / count, name, (now_us() - begin) / count);
  };
  host("empty", [] { empty<<<1, 32>>>(); });
  host("empty_large", [] { empty<<<1000, 256>>>(); });
  host("argument_2000", [] { with_argument<<<1, 32>>>(Large(), nullptr); });
  host("small", [&] { small<<<1024, 256>>>(data, 1 << 18); });
  host("and_wait", [] {
    empty<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
  });
  host("and_error", [] {
    empty<<<1, 32>>>();
    CHECK(cudaGetLastError());
  });
  std::printf("events_one_empty: %.3f us\n", event_us([] { empty<<<1, 32>>>(); }));
  std::printf("events_hundred_empty: %.3f us\n", event_us([] { for (int i = 0; i < 100; ++i) empty<<<1, 32>>>(); }));
  std::printf("events_one_small: %.3f us\n", event_us([&] { small<<<1024, 256>>>(data, 1 << 18); }));
  std::printf("events_hundred_small: %.3f us\n", event_us([&] { for (int i = 0; i < 100; ++i) small<<<1024, 256>>>(data, 1 << 18); }));
  std::printf("events_nothing: %.3f us\n", event_us([] {}));
  return 0;
}
