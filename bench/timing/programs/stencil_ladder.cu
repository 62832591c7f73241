// Steps of a heat equation in 2D: by events for each step, for all steps, with the host's clock.
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

__global__ void heat(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
    int i = y * w + x;
    out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - w] + in[i + w] - 4 * in[i]);
  }
}

int main() {
  for (int w : {256, 1024, 4096}) {
    float *a, *b;
    CHECK(cudaMalloc(&a, w * w * 4ull));
    CHECK(cudaMalloc(&b, w * w * 4ull));
    CHECK(cudaMemset(a, 0, w * w * 4ull));
    CHECK(cudaMemset(b, 0, w * w * 4ull));
    const dim3 block(32, 8), grid(w / 32, w / 8);
    heat<<<grid, block>>>(a, b, w, w);
    CHECK(cudaDeviceSynchronize());
    const int steps = 20;
    const double one = event_us([&] { heat<<<grid, block>>>(a, b, w, w); });
    const double all = event_us([&] {
      for (int k = 0; k < steps; ++k) heat<<<grid, block>>>(k & 1 ? b : a, k & 1 ? a : b, w, w);
    });
    double t = now_us();
    for (int k = 0; k < steps; ++k) heat<<<grid, block>>>(k & 1 ? b : a, k & 1 ? a : b, w, w);
    CHECK(cudaDeviceSynchronize());
    std::printf("one_%d: %.3f us\neach_%d: %.3f us\nhost_%d: %.3f us\n", w, one, w, all / steps, w, (now_us() - t) / steps);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
  }
  return 0;
}
