// Asking a stream and an event again and again while a kernel runs.
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

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main() {
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  cudaEvent_t e, plain;
  CHECK(cudaEventCreate(&e));
  CHECK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
  spin<<<1, 1, 0, s>>>(1000);
  CHECK(cudaStreamSynchronize(s));
  const auto poll = [&](const char* name, auto not_yet) {
    spin<<<1, 1, 0, s>>>(2000000);
    CHECK(cudaEventRecord(e, s));
    CHECK(cudaEventRecord(plain, s));
    const double t = now_us();
    long asked = 0;
    while (not_yet()) ++asked;
    const double all = now_us() - t;
    std::printf("%s: %.3f us\n%s_each: %.4f us\n", name, all, name, all / (asked + 1));
    CHECK(cudaStreamSynchronize(s));
  };
  poll("stream_query", [&] { return cudaStreamQuery(s) == cudaErrorNotReady; });
  poll("event_query", [&] { return cudaEventQuery(e) == cudaErrorNotReady; });
  poll("untimed_event_query", [&] { return cudaEventQuery(plain) == cudaErrorNotReady; });
  const int n = 1000;
  double t = now_us();
  for (int i = 0; i < n; ++i) cudaStreamQuery(s);
  std::printf("query_of_idle_stream: %.4f us\n", (now_us() - t) / n);
  t = now_us();
  for (int i = 0; i < n; ++i) cudaEventQuery(e);
  std::printf("query_of_old_event: %.4f us\n", (now_us() - t) / n);
  t = now_us();
  for (int i = 0; i < n; ++i) CHECK(cudaStreamSynchronize(s));
  std::printf("idle_stream_synchronize: %.4f us\n", (now_us() - t) / n);
  t = now_us();
  for (int i = 0; i < n; ++i) CHECK(cudaDeviceSynchronize());
  std::printf("idle_device_synchronize: %.4f us\n", (now_us() - t) / n);
  return 0;
}
