// Kernels timed as books do: a host clock around launch and synchronization, first and later runs, with the copies.
#include <chrono>
#include <cstdio>
#include <cstdlib>
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
static double event_us(Work work) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  work();
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return ms * 1000;
}

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1 << 22;
  const size_t bytes = size_t(n) * 4;
  std::vector<float> x(n, 1), y(n, 2), z(n);
  float *a, *b, *c;
  double start = now_us();
  CHECK(cudaMalloc(&a, bytes));
  std::printf("first_malloc_with_context: %.3f us\n", now_us() - start);
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMalloc(&c, bytes));
  start = now_us();
  CHECK(cudaMemcpy(a, x.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, y.data(), bytes, cudaMemcpyHostToDevice));
  std::printf("two_copies_up: %.3f us\n", now_us() - start);
  for (int i = 0; i < 3; ++i) {
    start = now_us();
    add<<<n / 256, 256>>>(a, b, c, n);
    const double called = now_us() - start;
    CHECK(cudaDeviceSynchronize());
    std::printf("launch_%d: %.3f us\nkernel_%d: %.3f us\n", i, called, i, now_us() - start);
  }
  start = now_us();
  CHECK(cudaMemcpy(z.data(), c, bytes, cudaMemcpyDeviceToHost));
  std::printf("copy_down: %.3f us\n", now_us() - start);
  start = now_us();
  add<<<n / 256, 256>>>(a, b, c, n);
  CHECK(cudaMemcpy(z.data(), c, bytes, cudaMemcpyDeviceToHost));
  std::printf("kernel_and_copy_down: %.3f us\n", now_us() - start);
  const double us = event_us([&] { for (int i = 0; i < 10; ++i) add<<<n / 256, 256>>>(a, b, c, n); }) / 10;
  std::printf("kernel_by_events: %.3f us\nbandwidth: %.3f GB/s\n", us, 3.0 * bytes / us / 1e3);
  return z[5] != 3;
}
