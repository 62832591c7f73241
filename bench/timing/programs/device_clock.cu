// Kernels that read clock64 and globaltimer, against events.
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

__global__ void both(long long ticks, long long* out) {
  unsigned long long before, after;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(before));
  long long start = clock64(), now = start;
  while (now - start < ticks) now = clock64();
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(after));
  out[0] = now - start;
  out[1] = after - before;
}
__global__ void wait_ns(unsigned long long ns) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - start < ns);
}
__global__ void nap(unsigned ns, int times) {
  for (int k = 0; k < times; ++k) __nanosleep(ns);
}

int main() {
  long long *out, host[2];
  CHECK(cudaMalloc(&out, 16));
  both<<<1, 1>>>(1000, out);
  wait_ns<<<1, 1>>>(100);
  CHECK(cudaDeviceSynchronize());
  const double us = event_us([&] { both<<<1, 1>>>(10000000, out); });
  CHECK(cudaMemcpy(host, out, 16, cudaMemcpyDeviceToHost));
  std::printf("event: %.3f us\nglobaltimer: %.3f us\nclock_rate: %.4f GHz\n", us, host[1] * 1e-3, double(host[0]) / host[1]);
  std::printf("wait_1ms: %.3f us\n", event_us([&] { wait_ns<<<1, 1>>>(1000000); }));
  std::printf("wait_1ms_full: %.3f us\n", event_us([&] { wait_ns<<<528, 256>>>(1000000); }));
  std::printf("nanosleep_10x100us: %.3f us\n", event_us([&] { nap<<<1, 1>>>(100000, 10); }));
  return 0;
}
