// A first program with unified memory: two arrays added, the result looked at, three times over.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

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

__global__ void add(int n, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i] + y[i];
}

int main() {
  const int n = 1 << 20;
  float *x, *y;
  CHECK(cudaMallocManaged(&x, n * sizeof(float)));
  CHECK(cudaMallocManaged(&y, n * sizeof(float)));
  for (int i = 0; i < n; ++i) x[i] = 1, y[i] = 2;
  for (int round = 0; round < 3; ++round) {
    const double kernel = host_us([&] {
      add<<<(n + 255) / 256, 256>>>(n, x, y);
      CHECK(cudaDeviceSynchronize());
    });
    float most = 0;
    const double look = host_us([&] {
      for (int i = 0; i < n; i += 1024) most = std::max(most, y[i]);
    });
    std::printf("add_%d: %.3f us\nlook_%d: %.3f us\n", round, kernel, round, look);
    if (most != 3 + round) return 1;
  }
  const double prefetch = host_us([&] {
#if CUDART_VERSION >= 13000
    cudaMemLocation there{cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPrefetchAsync(y, n * sizeof(float), there, 0, 0));
#else
    CHECK(cudaMemPrefetchAsync(y, n * sizeof(float), 0));
#endif
    CHECK(cudaDeviceSynchronize());
  });
  const double after = host_us([&] {
    add<<<(n + 255) / 256, 256>>>(n, x, y);
    CHECK(cudaDeviceSynchronize());
  });
  std::printf("prefetch: %.3f us\nadd_prefetched: %.3f us\n", prefetch, after);
}
