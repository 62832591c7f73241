// The first of everything: context, allocation, launch, copy, stream, event.
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

__global__ void one() {}
__global__ void two() {}
__device__ float variable;

int main() {
  double t = now_us();
  const auto lap = [&](const char* name) {
    std::printf("%s: %.3f us\n", name, now_us() - t);
    t = now_us();
  };
  int count;
  CHECK(cudaGetDeviceCount(&count));
  t = now_us();
  CHECK(cudaFree(0));
  lap("context");
  void* p;
  CHECK(cudaMalloc(&p, 1 << 20));
  lap("first_malloc");
  std::vector<char> host(1 << 20, 1);
  t = now_us();
  CHECK(cudaMemcpy(p, host.data(), 1 << 20, cudaMemcpyHostToDevice));
  lap("first_copy");
  CHECK(cudaMemcpy(p, host.data(), 1 << 20, cudaMemcpyHostToDevice));
  lap("second_copy");
  one<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  lap("first_launch");
  one<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  lap("second_launch");
  two<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  lap("first_launch_of_another");
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  lap("first_stream");
  one<<<1, 1, 0, s>>>();
  CHECK(cudaStreamSynchronize(s));
  lap("first_launch_in_stream");
  cudaEvent_t e;
  CHECK(cudaEventCreate(&e));
  lap("first_event");
  CHECK(cudaMemset(p, 0, 1 << 20));
  CHECK(cudaDeviceSynchronize());
  lap("first_memset");
  CHECK(cudaMallocHost(&p, 1 << 20));
  lap("first_pinned");
  return 0;
}
