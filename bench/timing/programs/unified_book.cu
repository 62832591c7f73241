// Unified memory as tutorials use it: filled by the host, used by kernels, looked at by the host, with prefetches and without.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = call;                                                       \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

static double seconds() { return std::chrono::duration<double>(std::chrono::high_resolution_clock::now().time_since_epoch()).count(); }

// The median of what some runs of it take, in microseconds.
template <class Work>
static double time_us(int runs, Work work) {
  std::vector<double> all;
  for (int k = 0; k < runs; ++k) {
    const double begin = seconds();
    work();
    all.push_back((seconds() - begin) * 1e6);
  }
  std::nth_element(all.begin(), all.begin() + runs / 2, all.end());
  return all[runs / 2];
}

__global__ void add(int n, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i] + y[i];
}

int main() {
  for (int n : {1 << 12, 1 << 20, 1 << 22}) {
    float *x, *y;
    CHECK(cudaMallocManaged(&x, n * sizeof(float)));
    CHECK(cudaMallocManaged(&y, n * sizeof(float)));
    std::printf("host_fills_%d: %.3f us\n", n, time_us(1, [&] {
                  for (int i = 0; i < n; ++i) x[i] = 1.0f, y[i] = 2.0f;
                }));
    const auto kernel = [&] {
      add<<<(n + 255) / 256, 256>>>(n, x, y);
      CHECK(cudaDeviceSynchronize());
    };
    std::printf("first_kernel_%d: %.3f us\n", n, time_us(1, kernel));
    std::printf("again_%d: %.3f us\n", n, time_us(5, kernel));
    float most = 0;
    std::printf("host_looks_%d: %.3f us\n", n, time_us(1, [&] {
                  for (int i = 0; i < n; ++i) most = std::max(most, y[i]);
                }));
    std::printf("after_look_%d: %.3f us\n", n, time_us(1, kernel));
    std::printf("one_value_%d: %.3f us\n", n, time_us(3, [&] {
                  most = std::max(most, y[n / 2]);
                  kernel();
                }));
    for (int i = 0; i < n; ++i) x[i] = 3.0f;
    const cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    std::printf("prefetch_%d: %.3f us\n", n, time_us(1, [&] {
                  CHECK(cudaMemPrefetchAsync(x, n * sizeof(float), device, 0, 0));
                  CHECK(cudaDeviceSynchronize());
                }));
    std::printf("after_prefetch_%d: %.3f us\n", n, time_us(1, kernel));
    if (most < 0) std::printf("wrong\n");
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
  }
}
