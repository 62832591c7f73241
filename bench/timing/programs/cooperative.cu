// Cooperative launches: what a launch costs, what a barrier of the whole grid costs, by grid.
#include <cooperative_groups.h>
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

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__global__ void barriers(int count, float* x) {
  auto grid = cooperative_groups::this_grid();
  for (int k = 0; k < count; ++k) {
    if (threadIdx.x == 0) x[blockIdx.x] += 1;
    grid.sync();
  }
}
__global__ void one(float* x) {
  if (threadIdx.x == 0) x[blockIdx.x] += 1;
}

int main() {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  float* x;
  CHECK(cudaMalloc(&x, 1 << 20));
  CHECK(cudaMemset(x, 0, 1 << 20));
  const auto launch = [&](int blocks, int threads, int count) {
    void* arguments[] = {&count, &x};
    CHECK(cudaLaunchCooperativeKernel((void*)barriers, dim3(blocks), dim3(threads), arguments));
  };
  launch(1, 32, 1);
  one<<<1, 32>>>(x);
  CHECK(cudaDeviceSynchronize());
  for (int per : {1, 2, 4}) {
    const int blocks = p.multiProcessorCount * per;
    const double none = event_us([&] { launch(blocks, 256, 0); });
    const double many = event_us([&] { launch(blocks, 256, 100); });
    std::printf("launch_%d: %.3f us\nbarrier_%d: %.4f us\n", per, none, per, (many - none) / 100);
    std::printf("launches_%d: %.3f us\n", per, event_us([&] {
      for (int k = 0; k < 100; ++k) one<<<blocks, 256>>>(x);
    }) / 100);
  }
  double t = now_us();
  for (int k = 0; k < 100; ++k) launch(132, 128, 1);
  const double call = (now_us() - t) / 100;
  CHECK(cudaDeviceSynchronize());
  std::printf("call: %.3f us\neach: %.3f us\n", call, (now_us() - t) / 100);
  return 0;
}
