// Both directions of the link: apart, at once, with sizes that differ, and beside a kernel that fills the device.
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

__global__ void stream(float4* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    v.x += 1;
    x[i] = v;
  }
}

int main() {
  const size_t bytes = 64 << 20;
  char *h1, *h2, *d1, *d2;
  float4* big;
  CHECK(cudaMallocHost(&h1, bytes));
  CHECK(cudaMallocHost(&h2, bytes));
  std::memset(h1, 0, bytes);
  std::memset(h2, 0, bytes);
  CHECK(cudaMalloc(&d1, bytes));
  CHECK(cudaMalloc(&d2, bytes));
  CHECK(cudaMalloc(&big, 256 << 20));
  cudaStream_t s[3];
  for (auto& one : s) CHECK(cudaStreamCreate(&one));
  const auto run = [&](const char* name, auto issue) {
    issue();
    CHECK(cudaDeviceSynchronize());
    const double t = now_us();
    issue();
    CHECK(cudaDeviceSynchronize());
    std::printf("%s: %.3f us\n", name, now_us() - t);
  };
  const auto up = [&](size_t b) { CHECK(cudaMemcpyAsync(d1, h1, b, cudaMemcpyHostToDevice, s[0])); };
  const auto down = [&](size_t b) { CHECK(cudaMemcpyAsync(h2, d2, b, cudaMemcpyDeviceToHost, s[1])); };
  const auto kernel = [&] {
    for (int k = 0; k < 8; ++k) stream<<<1056, 256, 0, s[2]>>>(big, 16 << 20);
  };
  run("up", [&] { up(bytes); });
  run("down", [&] { down(bytes); });
  run("both", [&] { up(bytes), down(bytes); });
  run("up_and_half_down", [&] { up(bytes), down(bytes / 2); });
  run("kernels", [&] { kernel(); });
  run("kernels_and_both", [&] { kernel(), up(bytes), down(bytes); });
  run("two_up", [&] {
    up(bytes / 2);
    CHECK(cudaMemcpyAsync(d2, h2, bytes / 2, cudaMemcpyHostToDevice, s[1]));
  });
  run("chunks_of_1m_both", [&] {
    for (size_t at = 0; at < bytes; at += 1 << 20) {
      CHECK(cudaMemcpyAsync(d1 + at, h1 + at, 1 << 20, cudaMemcpyHostToDevice, s[0]));
      CHECK(cudaMemcpyAsync(h2 + at, d2 + at, 1 << 20, cudaMemcpyDeviceToHost, s[1]));
    }
  });
  return 0;
}
