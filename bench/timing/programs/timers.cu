// One kernel by five timers of the host.
#include <sys/time.h>
#include <sys/timeb.h>
#include <time.h>
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

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
static double cpu_second() {
  timeval t;
  gettimeofday(&t, nullptr);
  return t.tv_sec + t.tv_usec * 1e-6;
}
static double posix_second() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static double processor_second() { return double(clock()) / CLOCKS_PER_SEC; }
static double chrono_second() { return std::chrono::duration<double>(std::chrono::high_resolution_clock::now().time_since_epoch()).count(); }
static double standard_second() {
  timespec t;
  timespec_get(&t, TIME_UTC);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

int main() {
  const int n = 32 << 20;
  float *x, *y;
  CHECK(cudaMalloc(&x, n * 4ull));
  CHECK(cudaMalloc(&y, n * 4ull));
  CHECK(cudaMemset(x, 0, n * 4ull));
  CHECK(cudaMemset(y, 0, n * 4ull));
  saxpy<<<n / 256, 256>>>(n, 2, x, y);
  CHECK(cudaDeviceSynchronize());
  const auto time = [&](const char* name, double (*second)()) {
    const double start = second();
    for (int k = 0; k < 20; ++k) saxpy<<<n / 256, 256>>>(n, 2, x, y);
    CHECK(cudaDeviceSynchronize());
    const double each = (second() - start) / 20;
    std::printf("%s: %.3f us\n%s_bandwidth: %.3f GB/s\n", name, each * 1e6, name, 12.0 * n / each * 1e-9);
  };
  time("gettimeofday", cpu_second);
  time("clock_gettime", posix_second);
  time("clock", processor_second);
  time("chrono", chrono_second);
  time("timespec_get", standard_second);
  return 0;
}
