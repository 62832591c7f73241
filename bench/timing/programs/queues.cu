// Four kernels in each of eight streams, depth first and breadth first, and through the default stream.
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

__global__ void spin(float* out, int rounds) {
  float v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = v * 0.999f + 0.5f;
  out[threadIdx.x] = v;
}

int main() {
  const int streams = 8, kernels = 4, rounds = 20000;
  float* out;
  CHECK(cudaMalloc(&out, 4096));
  std::vector<cudaStream_t> s(streams);
  for (auto& one : s) CHECK(cudaStreamCreate(&one));
  const auto time = [&](const char* name, auto run) {
    for (int i = 0; i < 2; ++i) {
      CHECK(cudaDeviceSynchronize());
      const double start = now_us();
      run();
      CHECK(cudaDeviceSynchronize());
      if (i) std::printf("%s: %.3f us\n", name, now_us() - start);
    }
  };
  time("depth_first", [&] { for (int i = 0; i < streams; ++i) for (int k = 0; k < kernels; ++k) spin<<<1, 32, 0, s[i]>>>(out, rounds); });
  time("breadth_first", [&] { for (int k = 0; k < kernels; ++k) for (int i = 0; i < streams; ++i) spin<<<1, 32, 0, s[i]>>>(out, rounds); });
  time("default_stream", [&] { for (int k = 0; k < streams * kernels; ++k) spin<<<1, 32>>>(out, rounds); });
  time("default_between", [&] {
    for (int i = 0; i < streams; ++i) spin<<<1, 32, 0, s[i]>>>(out, rounds);
    spin<<<1, 32>>>(out, rounds);
    for (int i = 0; i < streams; ++i) spin<<<1, 32, 0, s[i]>>>(out, rounds);
  });
  cudaEvent_t e;
  CHECK(cudaEventCreate(&e));
  time("join", [&] {
    for (int i = 0; i < streams; ++i) {
      spin<<<1, 32, 0, s[i]>>>(out, rounds);
      CHECK(cudaEventRecord(e, s[i]));
      CHECK(cudaStreamWaitEvent(s[0], e, 0));
    }
    spin<<<1, 32, 0, s[0]>>>(out, rounds);
  });
  return 0;
}
