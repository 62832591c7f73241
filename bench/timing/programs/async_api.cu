// A kernel between two asynchronous copies, and what the processor counts meanwhile.
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

template <class Work>
static double event_us(Work work, cudaStream_t stream = 0) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start, stream));
  work();
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return ms * 1000;
}

__global__ void increment(int* data, int value) {
  data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

int main() {
  const int n = 16 << 20;
  int *host, *device;
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  std::memset(host, 0, n * sizeof(int));
  CHECK(cudaMalloc(&device, n * sizeof(int)));
  CHECK(cudaMemset(device, 255, n * sizeof(int)));
  increment<<<n / 512, 512>>>(device, 1);
  CHECK(cudaDeviceSynchronize());
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(cudaEventRecord(start, 0));
  CHECK(cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, 0));
  increment<<<n / 512, 512>>>(device, 26);
  CHECK(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, 0));
  CHECK(cudaEventRecord(stop, 0));
  const auto called = std::chrono::steady_clock::now();
  unsigned long counter = 0;
  while (cudaEventQuery(stop) == cudaErrorNotReady) ++counter;
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  std::printf("gpu: %.3f us\n", ms * 1000);
  std::printf("calls: %.3f us\n", std::chrono::duration<double, std::micro>(called - begin).count());
  std::printf("query: %.4f us\n", ms * 1000 / counter);
  for (int i = 0; i < n; ++i)
    if (host[i] != 26) return 1;
  return 0;
}
