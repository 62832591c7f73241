// Empty kernels: by themselves, many in a row, and each waited for in three ways.
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

__global__ void empty() {}

int main() {
  CHECK(cudaFree(0));
  for (int i = 0; i < 10; ++i) empty<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  const int n = 1000;
  double t = now_us();
  for (int i = 0; i < n; ++i) empty<<<1, 1>>>();
  const double issued = now_us() - t;
  CHECK(cudaDeviceSynchronize());
  std::printf("issue: %.3f us\nin_a_row: %.3f us\n", issued / n, (now_us() - t) / n);
  t = now_us();
  for (int i = 0; i < n; ++i) {
    empty<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
  }
  std::printf("device_synchronize: %.3f us\n", (now_us() - t) / n);
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  t = now_us();
  for (int i = 0; i < n; ++i) {
    empty<<<1, 1, 0, s>>>();
    CHECK(cudaStreamSynchronize(s));
  }
  std::printf("stream_synchronize: %.3f us\n", (now_us() - t) / n);
  cudaEvent_t e;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  t = now_us();
  for (int i = 0; i < n; ++i) {
    empty<<<1, 1, 0, s>>>();
    CHECK(cudaEventRecord(e, s));
    CHECK(cudaEventSynchronize(e));
  }
  std::printf("event_synchronize: %.3f us\n", (now_us() - t) / n);
  t = now_us();
  for (int i = 0; i < n; ++i) {
    empty<<<1, 1, 0, s>>>();
    while (cudaStreamQuery(s) == cudaErrorNotReady) {
    }
  }
  std::printf("stream_query: %.3f us\n", (now_us() - t) / n);
  return 0;
}
