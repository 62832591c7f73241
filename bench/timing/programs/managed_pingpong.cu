// Host and device take turns on managed memory, as in a first program with unified memory.
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

__global__ void increment(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

int main() {
  const int n = 1 << 18;
  int* x;
  CHECK(cudaMallocManaged(&x, n * 4));
  for (int i = 0; i < n; ++i) x[i] = 0;
  increment<<<n / 256, 256>>>(x, n);
  CHECK(cudaDeviceSynchronize());
  double kernel = 0, host = 0;
  for (int r = 0; r < 5; ++r) {
    double t = now_us();
    for (int i = 0; i < n; ++i) x[i] += 1;
    host += now_us() - t;
    t = now_us();
    increment<<<n / 256, 256>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    kernel += now_us() - t;
  }
  std::printf("kernel: %.3f us\nhost: %.3f us\n", kernel / 5, host / 5);
  double t = now_us();
  for (int r = 0; r < 5; ++r) {
    x[0] += 1;
    increment<<<n / 256, 256>>>(x, n);
    CHECK(cudaDeviceSynchronize());
  }
  std::printf("round_with_one_word: %.3f us\n", (now_us() - t) / 5);
  return x[1] != 16;
}
