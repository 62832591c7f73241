// The first program of every book, with its timers: allocate, copy, add, copy back, free.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>
#include <sys/time.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = call;                                                       \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

static double cpu_second() {
  timeval now;
  gettimeofday(&now, nullptr);
  return now.tv_sec + now.tv_usec * 1e-6;
}

int main() {
  CHECK(cudaFree(nullptr));
  for (int n : {1 << 10, 1 << 18, 1 << 23}) {
    const size_t bytes = n * sizeof(float);
    float *a = static_cast<float*>(std::malloc(bytes)), *b = static_cast<float*>(std::malloc(bytes)),
          *c = static_cast<float*>(std::malloc(bytes));
    for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i, c[i] = 0;
    float *da, *db, *dc;
    const double begin = cpu_second();
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    const double allocated = cpu_second();
    CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
    const double up = cpu_second();
    for (int k = 0; k < 2; ++k) {
      const double before = cpu_second();
      add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
      CHECK(cudaDeviceSynchronize());
      if (k) std::printf("kernel_%d: %.3f us\n", n, (cpu_second() - before) * 1e6);
    }
    const double ran = cpu_second();
    CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
    const double down = cpu_second();
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    const double freed = cpu_second();
    std::printf("allocate_%d: %.3f us\nup_%d: %.3f us\ndown_%d: %.3f us\nfree_%d: %.3f us\n", n, (allocated - begin) * 1e6, n,
                (up - allocated) * 1e6, n, (down - ran) * 1e6, n, (freed - down) * 1e6);
    if (c[n - 1] != 3.0f * (n - 1)) std::printf("wrong\n");
    std::free(a), std::free(b), std::free(c);
  }
}
