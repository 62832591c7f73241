// Managed memory: kernels after the host's touch, again, after prefetching; the host's touch after kernels.
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

__global__ void twice(float* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] *= 2;
}

int main() {
  const int n = 1 << 22;
  float* data;
  CHECK(cudaMallocManaged(&data, n * 4));
  double start = now_us();
  for (int i = 0; i < n; ++i) data[i] = 1;
  std::printf("host_first_touch: %.3f us\n", now_us() - start);
  for (int k = 0; k < 3; ++k) {
    start = now_us();
    twice<<<528, 256>>>(data, n);
    CHECK(cudaDeviceSynchronize());
    std::printf("kernel_%d: %.3f us\n", k, now_us() - start);
  }
  start = now_us();
  float sum = 0;
  for (int i = 0; i < n; i += 1024) sum += data[i];
  std::printf("host_reads_each_page: %.3f us\n", now_us() - start);
  start = now_us();
  twice<<<528, 256>>>(data, n);
  CHECK(cudaDeviceSynchronize());
  std::printf("kernel_after_host: %.3f us\n", now_us() - start);
  return sum < 0;
}
