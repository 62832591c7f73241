// Buffers of a program that allocates in a loop, of several sizes, plainly and from the stream's pool.
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

__global__ void touch(float* x) { x[threadIdx.x] = 1; }

int main() {
  CHECK(cudaFree(0));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  float* small;
  CHECK(cudaMalloc(&small, 4096));
  touch<<<1, 256, 0, s>>>(small);
  CHECK(cudaStreamSynchronize(s));
  for (size_t kib : {16, 2048, 20480, 204800}) {
    double made = 0, ended = 0;
    for (int k = 0; k < 5; ++k) {
      float* p;
      made += host_us([&] { CHECK(cudaMalloc(&p, kib * 1024)); });
      touch<<<1, 256, 0, s>>>(p);
      CHECK(cudaStreamSynchronize(s));
      ended += host_us([&] { CHECK(cudaFree(p)); });
    }
    std::printf("malloc_%zuk: %.3f us\nfree_%zuk: %.3f us\n", kib, made / 5, kib, ended / 5);
  }
  float* first;
  CHECK(cudaMallocAsync(&first, 1 << 20, s));
  CHECK(cudaFreeAsync(first, s));
  CHECK(cudaStreamSynchronize(s));
  for (size_t kib : {16, 20480}) {
    std::printf("pool_round_%zuk: %.3f us\n", kib, median_us([&] {
      float* p;
      CHECK(cudaMallocAsync(&p, kib * 1024, s));
      touch<<<1, 256, 0, s>>>(p);
      CHECK(cudaFreeAsync(p, s));
      CHECK(cudaStreamSynchronize(s));
    }));
    std::printf("pool_ten_then_wait_%zuk: %.3f us\n", kib, median_us([&] {
      for (int k = 0; k < 10; ++k) {
        float* p;
        CHECK(cudaMallocAsync(&p, kib * 1024, s));
        touch<<<1, 256, 0, s>>>(p);
        CHECK(cudaFreeAsync(p, s));
      }
      CHECK(cudaStreamSynchronize(s));
    }));
  }
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long keep = ~0ull;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  std::printf("pool_keeps_round: %.3f us\n", median_us([&] {
    float* p;
    CHECK(cudaMallocAsync(&p, 20480 * 1024, s));
    touch<<<1, 256, 0, s>>>(p);
    CHECK(cudaFreeAsync(p, s));
    CHECK(cudaStreamSynchronize(s));
  }));
}
