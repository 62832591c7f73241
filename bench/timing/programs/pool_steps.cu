// Temporary buffers of each step of a loop: from the stream-ordered pool, with and without keeping, and by plain allocation.
#include <algorithm>
#include <chrono>
#include <cstdint>
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

__global__ void fill(float* data, int count, float value) {
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) data[at] = value;
}

int main() {
  const int count = 1 << 20;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  float* warm;
  CHECK(cudaMalloc(&warm, count * 4));
  fill<<<132, 256, 0, stream>>>(warm, count, 0);
  CHECK(cudaStreamSynchronize(stream));
  const auto plain = [&] {
    float *a, *b;
    CHECK(cudaMalloc(&a, count * 4));
    CHECK(cudaMalloc(&b, count * 8));
    fill<<<132, 256, 0, stream>>>(a, count, 1);
    fill<<<132, 256, 0, stream>>>(b, 2 * count, 2);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
  };
  const auto ordered = [&] {
    float *a, *b;
    CHECK(cudaMallocAsync(&a, count * 4, stream));
    CHECK(cudaMallocAsync(&b, count * 8, stream));
    fill<<<132, 256, 0, stream>>>(a, count, 1);
    fill<<<132, 256, 0, stream>>>(b, 2 * count, 2);
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaFreeAsync(b, stream));
  };
  std::printf("plain: %.3f us\n", time_us(7, plain));
  std::printf("ordered_first: %.3f us\n", time_us(1, [&] {
                ordered();
                CHECK(cudaStreamSynchronize(stream));
              }));
  std::printf("ordered_synced: %.3f us\n", time_us(7, [&] {
                ordered();
                CHECK(cudaStreamSynchronize(stream));
              }));
  std::printf("ordered_twenty: %.3f us\n", time_us(3, [&] {
                for (int k = 0; k < 20; ++k) ordered();
                CHECK(cudaStreamSynchronize(stream));
              }));
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  uint64_t all = UINT64_MAX;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  ordered();
  CHECK(cudaStreamSynchronize(stream));
  std::printf("kept_synced: %.3f us\n", time_us(7, [&] {
                ordered();
                CHECK(cudaStreamSynchronize(stream));
              }));
  std::printf("kept_twenty: %.3f us\n", time_us(3, [&] {
                for (int k = 0; k < 20; ++k) ordered();
                CHECK(cudaStreamSynchronize(stream));
              }));
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own;
  std::printf("create_pool: %.3f us\n", time_us(1, [&] { CHECK(cudaMemPoolCreate(&own, &props)); }));
  float* c;
  const auto from_own = [&] {
    CHECK(cudaMallocFromPoolAsync(&c, count * 4, own, stream));
    CHECK(cudaFreeAsync(c, stream));
    CHECK(cudaStreamSynchronize(stream));
  };
  std::printf("own_first: %.3f us\n", time_us(1, from_own));
  std::printf("own_synced: %.3f us\n", time_us(7, from_own));
  std::printf("trim: %.3f us\n", time_us(1, [&] { CHECK(cudaMemPoolTrimTo(pool, 0)); }));
}
