// Streams that wait for each other's events: a ring, a join of many, a pipeline.
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
  const int n = 8;
  cudaStream_t s[n];
  cudaEvent_t e[n], begin, end;
  for (int i = 0; i < n; ++i) {
    CHECK(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&e[i], cudaEventDisableTiming));
  }
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  spin<<<1, 1, 0, s[0]>>>(1000);
  CHECK(cudaDeviceSynchronize());
  const auto run = [&](const char* name, auto issue) {
    float ms = 0;
    double host = 0;
    for (int round = 0; round < 3; ++round) {
      const double t = now_us();
      CHECK(cudaEventRecord(begin, s[0]));
      issue();
      CHECK(cudaEventRecord(end, s[0]));
      CHECK(cudaEventSynchronize(end));
      host = now_us() - t;
      CHECK(cudaEventElapsedTime(&ms, begin, end));
    }
    std::printf("%s: %.3f us\n%s_host: %.3f us\n", name, ms * 1000, name, host);
  };
  run("ring", [&] {
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < n; ++i) {
        spin<<<1, 32, 0, s[i]>>>(10000);
        CHECK(cudaEventRecord(e[i], s[i]));
        CHECK(cudaStreamWaitEvent(s[(i + 1) % n], e[i], 0));
      }
  });
  run("join", [&] {
    CHECK(cudaEventRecord(e[0], s[0]));
    for (int i = 1; i < n; ++i) {
      CHECK(cudaStreamWaitEvent(s[i], e[0], 0));
      spin<<<1, 32, 0, s[i]>>>(100000);
      CHECK(cudaEventRecord(e[i], s[i]));
      CHECK(cudaStreamWaitEvent(s[0], e[i], 0));
    }
  });
  run("pipeline", [&] {
    for (int item = 0; item < 10; ++item)
      for (int stage = 0; stage < 3; ++stage) {
        if (stage) CHECK(cudaStreamWaitEvent(s[stage], e[stage - 1], 0));
        spin<<<1, 32, 0, s[stage]>>>(50000);
        CHECK(cudaEventRecord(e[stage], s[stage]));
      }
    CHECK(cudaStreamWaitEvent(s[0], e[2], 0));
  });
  return 0;
}
