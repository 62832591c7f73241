// Host functions and callbacks: how long until they run, in one stream and in four.
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

static double at[64];
static int count = 0;
static void CUDART_CB note(void* where) { *(double*)where = now_us(); }
static void CUDART_CB callback(cudaStream_t, cudaError_t, void*) { at[count++ % 64] = now_us(); }

int main() {
  cudaStream_t s[4];
  for (auto& one : s) CHECK(cudaStreamCreate(&one));
  spin<<<1, 1, 0, s[0]>>>(1000);
  CHECK(cudaLaunchHostFunc(s[0], note, &at[0]));
  CHECK(cudaDeviceSynchronize());
  double delay = 0, total = 0;
  const int rounds = 20;
  for (int r = 0; r < rounds; ++r) {
    const double t = now_us();
    CHECK(cudaLaunchHostFunc(s[0], note, &at[0]));
    CHECK(cudaStreamSynchronize(s[0]));
    total += now_us() - t;
    delay += at[0] - t;
  }
  std::printf("until_called: %.3f us\nuntil_waited_for: %.3f us\n", delay / rounds, total / rounds);
  double t = now_us();
  for (int r = 0; r < rounds; ++r) {
    spin<<<1, 1, 0, s[0]>>>(50000);
    CHECK(cudaLaunchHostFunc(s[0], note, &at[r]));
  }
  CHECK(cudaStreamSynchronize(s[0]));
  std::printf("kernel_and_function: %.3f us\n", (now_us() - t) / rounds);
  t = now_us();
  for (int r = 0; r < rounds; ++r) spin<<<1, 1, 0, s[0]>>>(50000);
  CHECK(cudaStreamSynchronize(s[0]));
  std::printf("kernel_alone: %.3f us\n", (now_us() - t) / rounds);
  t = now_us();
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 4; ++j) spin<<<1, 1, 0, s[k]>>>(50000);
    CHECK(cudaStreamAddCallback(s[k], callback, nullptr, 0));
  }
  CHECK(cudaDeviceSynchronize());
  std::printf("four_streams_with_callbacks: %.3f us\n", now_us() - t);
  return 0;
}
