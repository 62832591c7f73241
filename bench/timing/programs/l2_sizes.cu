// Reading the same array again and again: from L2 to memory, and the bandwidth that programs print.
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

__global__ void read(const float4* x, float* out, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    s += v.x + v.y + v.z + v.w;
  }
  if (s == 42.5f) *out = s;
}

int main() {
  float4* x;
  float* out;
  CHECK(cudaMalloc(&x, 512 << 20));
  CHECK(cudaMalloc(&out, 4));
  CHECK(cudaMemset(x, 0, 512 << 20));
  for (int mib : {1, 8, 24, 64, 512}) {
    const int n = mib << 16;
    read<<<1056, 256>>>(x, out, n);
    CHECK(cudaDeviceSynchronize());
    const double us = event_us([&] {
      for (int k = 0; k < 5; ++k) read<<<1056, 256>>>(x, out, n);
    }) / 5;
    std::printf("read_%d: %.3f us\nread_bandwidth_%d: %.3f GB/s\n", mib, us, mib, double(mib) * (1 << 20) / us * 1e-3);
  }
  return 0;
}
