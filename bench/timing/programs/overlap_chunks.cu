// Up, kernel, down of 64 MiB in 1 to 16 chunks, each in a stream of its own, by depth and by breadth.
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

__global__ void work(float* x, int n, int rounds) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = x[i];
    for (int k = 0; k < rounds; ++k) v = v * 0.999f + 0.5f;
    x[i] = v;
  }
}

int main() {
  const int n = 16 << 20;
  float *host, *device;
  CHECK(cudaMallocHost(&host, n * 4ull));
  for (int i = 0; i < n; ++i) host[i] = i & 255;
  CHECK(cudaMalloc(&device, n * 4ull));
  cudaStream_t s[16];
  for (auto& one : s) CHECK(cudaStreamCreate(&one));
  const auto run = [&](int chunks, bool depth) {
    const int m = n / chunks;
    const double t = now_us();
    const auto up = [&](int c) { CHECK(cudaMemcpyAsync(device + c * m, host + c * m, m * 4ull, cudaMemcpyHostToDevice, s[c])); };
    const auto kernel = [&](int c) { work<<<528, 256, 0, s[c]>>>(device + c * m, m, 400); };
    const auto down = [&](int c) { CHECK(cudaMemcpyAsync(host + c * m, device + c * m, m * 4ull, cudaMemcpyDeviceToHost, s[c])); };
    if (depth) {
      for (int c = 0; c < chunks; ++c) up(c), kernel(c), down(c);
    } else {
      for (int c = 0; c < chunks; ++c) up(c);
      for (int c = 0; c < chunks; ++c) kernel(c);
      for (int c = 0; c < chunks; ++c) down(c);
    }
    CHECK(cudaDeviceSynchronize());
    return now_us() - t;
  };
  run(1, true);
  for (int chunks : {1, 2, 4, 8, 16}) {
    std::printf("depth_%d: %.3f us\n", chunks, run(chunks, true));
    std::printf("breadth_%d: %.3f us\n", chunks, run(chunks, false));
  }
  return 0;
}
