// The host sleeps or computes beside a kernel: what is hidden.
#include <thread>
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

__global__ void hold(long long ticks) {
  long long start = clock64();
  while (clock64() - start < ticks) {
  }
}

int main() {
  hold<<<1, 1>>>(1000);
  CHECK(cudaDeviceSynchronize());
  double t = now_us();
  hold<<<1, 1>>>(4000000);
  CHECK(cudaDeviceSynchronize());
  std::printf("kernel: %.3f us\n", now_us() - t);
  t = now_us();
  hold<<<1, 1>>>(4000000);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(cudaDeviceSynchronize());
  std::printf("kernel_and_short_sleep: %.3f us\n", now_us() - t);
  t = now_us();
  hold<<<1, 1>>>(4000000);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const double slept = now_us();
  CHECK(cudaDeviceSynchronize());
  std::printf("kernel_and_long_sleep: %.3f us\nwait_after: %.3f us\n", now_us() - t, now_us() - slept);
  t = now_us();
  hold<<<1, 1>>>(4000000);
  while (now_us() - t < 1000) {
  }
  CHECK(cudaDeviceSynchronize());
  std::printf("kernel_and_busy_host: %.3f us\n", now_us() - t);
  return 0;
}
