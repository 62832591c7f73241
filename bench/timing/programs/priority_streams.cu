// A short kernel of high priority behind a long one of low priority, and what both take.
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

int main() {
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  cudaStream_t low, high, same;
  CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
  CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamCreateWithPriority(&same, cudaStreamNonBlocking, least));
  cudaEvent_t a, b, c, d;
  for (auto* e : {&a, &b, &c, &d}) CHECK(cudaEventCreate(e));
  const auto run = [&](const char* name, cudaStream_t second) {
    float first_ms = 0, second_ms = 0;
    for (int round = 0; round < 2; ++round) {
      CHECK(cudaEventRecord(a, low));
      spin<<<p.multiProcessorCount * 2 * 8, 1024, 0, low>>>(50000);
      CHECK(cudaEventRecord(b, low));
      CHECK(cudaEventRecord(c, second));
      spin<<<p.multiProcessorCount, 1024, 0, second>>>(50000);
      CHECK(cudaEventRecord(d, second));
      CHECK(cudaDeviceSynchronize());
      CHECK(cudaEventElapsedTime(&first_ms, a, b));
      CHECK(cudaEventElapsedTime(&second_ms, c, d));
    }
    std::printf("%s_first: %.3f us\n%s_second: %.3f us\n", name, first_ms * 1000, name, second_ms * 1000);
  };
  run("high", high);
  run("equal", same);
  return 0;
}
