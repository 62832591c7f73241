// Kernels of a quarter, half and all of the device side by side, by grid and by shared memory.
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

__global__ void spin(long long ticks) {
  long long start = clock64();
  while (clock64() - start < ticks) {
  }
}

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

int main() {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  const int sms = p.multiProcessorCount;
  cudaStream_t s[8];
  for (auto& one : s) CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  cudaEvent_t done[8], begin, end;
  for (auto& e : done) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  const auto run = [&](int blocks, int threads, int shared) {
    float ms = 0;
    for (int round = 0; round < 2; ++round) {
      CHECK(cudaEventRecord(begin, s[0]));
      for (int i = 1; i < 8; ++i) CHECK(cudaStreamWaitEvent(s[i], begin, 0));
      for (int i = 0; i < 8; ++i) spin<<<blocks, threads, shared, s[i]>>>(200000);
      for (int i = 1; i < 8; ++i) {
        CHECK(cudaEventRecord(done[i], s[i]));
        CHECK(cudaStreamWaitEvent(s[0], done[i], 0));
      }
      CHECK(cudaEventRecord(end, s[0]));
      CHECK(cudaEventSynchronize(end));
      CHECK(cudaEventElapsedTime(&ms, begin, end));
    }
    return ms * 1000;
  };
  std::printf("quarter: %.3f us\n", run(sms / 4, 1024, 200 << 10));
  std::printf("half: %.3f us\n", run(sms / 2, 1024, 200 << 10));
  std::printf("all_by_shared: %.3f us\n", run(sms, 32, 200 << 10));
  std::printf("all_by_threads: %.3f us\n", run(sms * 2, 1024, 0));
  std::printf("four_side_by_side: %.3f us\n", run(sms, 512, 0));
  std::printf("two_waves_each: %.3f us\n", run(sms * 4, 1024, 0));
  std::printf("one_block: %.3f us\n", run(1, 32, 0));
  return 0;
}
