// Two buffers and two streams: while one is computed the next is copied, with a host step between.
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

__global__ void process(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = in[i];
    for (int k = 0; k < 200; ++k) v = fmaf(v, 1.0001f, 0.0001f);
    out[i] = v;
  }
}

int main() {
  const int n = 1 << 20, frames = 16;
  float *host[2], *in[2], *out[2], *back[2];
  cudaStream_t s[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMallocHost(&host[i], n * 4));
    CHECK(cudaMallocHost(&back[i], n * 4));
    std::memset(host[i], 0, n * 4);
    CHECK(cudaMalloc(&in[i], n * 4));
    CHECK(cudaMalloc(&out[i], n * 4));
    CHECK(cudaStreamCreate(&s[i]));
  }
  const auto frame = [&](int i) {
    CHECK(cudaMemcpyAsync(in[i], host[i], n * 4, cudaMemcpyHostToDevice, s[i]));
    process<<<528, 256, 0, s[i]>>>(in[i], out[i], n);
    CHECK(cudaMemcpyAsync(back[i], out[i], n * 4, cudaMemcpyDeviceToHost, s[i]));
  };
  frame(0), frame(1);
  CHECK(cudaDeviceSynchronize());
  double t = now_us();
  for (int f = 0; f < frames; ++f) {
    frame(0);
    CHECK(cudaStreamSynchronize(s[0]));
  }
  std::printf("serial: %.3f us\n", (now_us() - t) / frames);
  t = now_us();
  for (int f = 0; f < frames; ++f) {
    if (f >= 2) CHECK(cudaStreamSynchronize(s[f % 2]));
    frame(f % 2);
  }
  CHECK(cudaDeviceSynchronize());
  std::printf("double_buffered: %.3f us\n", (now_us() - t) / frames);
  t = now_us();
  for (int f = 0; f < frames; ++f) frame(f % 2);
  CHECK(cudaDeviceSynchronize());
  std::printf("all_queued: %.3f us\n", (now_us() - t) / frames);
  return 0;
}
