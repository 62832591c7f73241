// The same idea with pageable memory, where nothing overlaps, and what the call of an asynchronous copy takes there.
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

__global__ void work(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = x[i];
    for (int k = 0; k < 300; ++k) v = v * 0.999f + 0.5f;
    x[i] = v;
  }
}

int main() {
  const int n = 4 << 20;
  std::vector<float> host(n, 1.f);
  float* device;
  CHECK(cudaMalloc(&device, n * 4ull));
  cudaStream_t s[4];
  for (auto& one : s) CHECK(cudaStreamCreate(&one));
  for (int round = 0; round < 2; ++round) {
    double calls[3] = {};
    const double begin = now_us();
    for (int c = 0; c < 4; ++c) {
      const int m = n / 4;
      double t = now_us();
      CHECK(cudaMemcpyAsync(device + c * m, &host[c * m], m * 4ull, cudaMemcpyHostToDevice, s[c]));
      calls[0] += now_us() - t;
      t = now_us();
      work<<<264, 256, 0, s[c]>>>(device + c * m, m);
      calls[1] += now_us() - t;
      t = now_us();
      CHECK(cudaMemcpyAsync(&host[c * m], device + c * m, m * 4ull, cudaMemcpyDeviceToHost, s[c]));
      calls[2] += now_us() - t;
    }
    CHECK(cudaDeviceSynchronize());
    const double all = now_us() - begin;
    if (round) std::printf("up_call: %.3f us\nlaunch_call: %.3f us\ndown_call: %.3f us\nall: %.3f us\n", calls[0] / 4, calls[1] / 4, calls[2] / 4, all);
  }
  return 0;
}
