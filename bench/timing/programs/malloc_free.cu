// cudaMalloc and cudaFree by size, one after the other and in bulk; while a kernel runs; the first after others.
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

__global__ void hold(long long ticks) {
  long long start = clock64();
  while (clock64() - start < ticks) {
  }
}

int main() {
  CHECK(cudaFree(0));
  void* p;
  CHECK(cudaMalloc(&p, 1 << 20));
  CHECK(cudaFree(p));
  hold<<<1, 1>>>(1000);
  CHECK(cudaDeviceSynchronize());
  for (size_t kib : {1, 1000, 4096, 65536, 524288}) {
    double a = 0, f = 0;
    for (int i = 0; i < 6; ++i) {
      double t = now_us();
      CHECK(cudaMalloc(&p, kib << 10));
      if (i) a += now_us() - t;
      t = now_us();
      CHECK(cudaFree(p));
      if (i) f += now_us() - t;
    }
    std::printf("malloc_%zuk: %.3f us\nfree_%zuk: %.3f us\n", kib, a / 5, kib, f / 5);
  }
  const int n = 100;
  std::vector<void*> many(n);
  double t = now_us();
  for (auto& m : many) CHECK(cudaMalloc(&m, 4096));
  std::printf("bulk_malloc_4k: %.3f us\n", (now_us() - t) / n);
  t = now_us();
  for (auto& m : many) CHECK(cudaFree(m));
  std::printf("bulk_free_4k: %.3f us\n", (now_us() - t) / n);
  t = now_us();
  for (auto& m : many) CHECK(cudaMalloc(&m, 3 << 20));
  std::printf("bulk_malloc_3m: %.3f us\n", (now_us() - t) / n);
  t = now_us();
  for (auto& m : many) CHECK(cudaFree(m));
  std::printf("bulk_free_3m: %.3f us\n", (now_us() - t) / n);
  hold<<<1, 1>>>(1000000);
  t = now_us();
  CHECK(cudaMalloc(&p, 8 << 20));
  std::printf("malloc_beside_kernel: %.3f us\n", now_us() - t);
  t = now_us();
  CHECK(cudaFree(p));
  std::printf("free_waits_for_kernel: %.3f us\n", now_us() - t);
  return 0;
}
