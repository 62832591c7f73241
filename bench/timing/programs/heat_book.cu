// A book's heat transfer: two buffers that take turns, a frame copied back every ten steps.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
static double host_us(Work work) {
  const double begun = now_us();
  work();
  return now_us() - begun;
}

template <class Work>
static double median_us(Work work, int times = 9) {
  std::vector<double> all;
  for (int k = 0; k < times; ++k) all.push_back(host_us(work));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

__global__ void step(const float* from, float* to, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  to[i] = from[i] + 0.25f * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n] - 4 * from[i]);
}

int main() {
  for (int n : {256, 2048}) {
    float *a, *b;
    std::vector<float> frame(n * n, 1.f);
    CHECK(cudaMalloc(&a, n * n * 4));
    CHECK(cudaMalloc(&b, n * n * 4));
    CHECK(cudaMemcpy(a, frame.data(), n * n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, a, n * n * 4, cudaMemcpyDeviceToDevice));
    const dim3 block(16, 16), grid(n / 16, n / 16);
    step<<<grid, block>>>(a, b, n);
    CHECK(cudaDeviceSynchronize());
    std::printf("ten_steps_%d: %.3f us\n", n, median_us([&] {
      for (int k = 0; k < 10; ++k) step<<<grid, block>>>(a, b, n), std::swap(a, b);
      CHECK(cudaDeviceSynchronize());
    }));
    std::printf("with_a_frame_%d: %.3f us\n", n, median_us([&] {
      for (int k = 0; k < 10; ++k) step<<<grid, block>>>(a, b, n), std::swap(a, b);
      CHECK(cudaMemcpy(frame.data(), a, n * n * 4, cudaMemcpyDeviceToHost));
    }));
    std::printf("a_frame_there_%d: %.3f us\n", n, median_us([&] {
      CHECK(cudaMemcpy(a, frame.data(), n * n * 4, cudaMemcpyHostToDevice));
      step<<<grid, block>>>(a, b, n);
      CHECK(cudaDeviceSynchronize());
    }));
  }
}
