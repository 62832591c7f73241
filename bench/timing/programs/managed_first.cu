// Managed memory that a kernel touches first, that the host touches first, and what each side's first touch takes.
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

__global__ void fill(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = 1;
}
__global__ void twice(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= 2;
}

int main() {
  CHECK(cudaFree(0));
  float* warm;
  CHECK(cudaMallocManaged(&warm, 4096));
  fill<<<1, 256>>>(warm, 1024);
  twice<<<1, 256>>>(warm, 1024);
  CHECK(cudaDeviceSynchronize());
  for (int mib : {4, 64}) {
    const int n = mib << 18;
    float *x, *y;
    CHECK(cudaMallocManaged(&x, n * 4ull));
    double t = now_us();
    fill<<<528, 256>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    std::printf("device_first_%d: %.3f us\n", mib, now_us() - t);
    t = now_us();
    twice<<<528, 256>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    std::printf("device_again_%d: %.3f us\n", mib, now_us() - t);
    t = now_us();
    double sum = 0;
    for (int i = 0; i < n; i += 1024) sum += x[i];
    std::printf("host_reads_%d: %.3f us\n", mib, now_us() - t);
    if (sum != n / 1024 * 2.0) return 1;
    CHECK(cudaMallocManaged(&y, n * 4ull));
    t = now_us();
    for (int i = 0; i < n; ++i) y[i] = 1;
    std::printf("host_first_%d: %.3f us\n", mib, now_us() - t);
    t = now_us();
    twice<<<528, 256>>>(y, n);
    CHECK(cudaDeviceSynchronize());
    std::printf("device_after_host_%d: %.3f us\n", mib, now_us() - t);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
  }
  return 0;
}
