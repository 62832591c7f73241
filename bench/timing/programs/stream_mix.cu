// Kernels of half the device, of a quarter and of one block on several streams, and a chain across them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
static double host_us(Work work) {
  const double begun = now_us();
  work();
  return now_us() - begun;
}

template <class Work>
static double median_us(Work work, int times = 9) {
  std::vector<double> all;
  for (int k = 0; k < times; ++k) all.push_back(host_us(work));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

__global__ void spin(long long ticks) {
  const long long begin = clock64();
  while (clock64() - begin < ticks) {
  }
}

int main() {
  cudaStream_t s[8];
  cudaEvent_t e;
  for (auto& each : s) CHECK(cudaStreamCreate(&each));
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  spin<<<1, 1>>>(1);
  CHECK(cudaDeviceSynchronize());
  const long long ticks = 100000;
  const auto timed = [&](const char* name, auto work) {
    std::printf("%s: %.3f us\n", name, median_us([&] { work(), CHECK(cudaDeviceSynchronize()); }));
  };
  timed("one", [&] { spin<<<1, 32, 0, s[0]>>>(ticks); });
  timed("eight", [&] { for (auto& each : s) spin<<<1, 32, 0, each>>>(ticks); });
  timed("two_halves", [&] { for (int k = 0; k < 2; ++k) spin<<<132, 1024, 0, s[k]>>>(ticks); });
  timed("three_halves", [&] { for (int k = 0; k < 3; ++k) spin<<<132, 1024, 0, s[k]>>>(ticks); });
  timed("wide_and_small", [&] {
    spin<<<528, 1024, 0, s[0]>>>(ticks);
    spin<<<1, 32, 0, s[1]>>>(ticks);
  });
  timed("relay", [&] {
    for (int k = 0; k < 8; ++k) {
      if (k) CHECK(cudaStreamWaitEvent(s[k], e, 0));
      spin<<<1, 32, 0, s[k]>>>(ticks / 10);
      CHECK(cudaEventRecord(e, s[k]));
    }
  });
  timed("default_between", [&] {
    spin<<<1, 32, 0, s[0]>>>(ticks);
    spin<<<1, 32>>>(ticks);
    spin<<<1, 32, 0, s[1]>>>(ticks);
  });
}
