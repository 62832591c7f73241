// One kernel with more and more blocks: steps of a wave, seen by events.
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

__global__ void work(float* out, int rounds) {
  float v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = v * 0.999f + __sinf(v);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

int main() {
  float* out;
  CHECK(cudaMalloc(&out, 1 << 23));
  work<<<1, 32>>>(out, 10);
  CHECK(cudaDeviceSynchronize());
  for (int blocks : {1, 66, 132, 133, 200, 264, 265, 330, 396, 528, 529, 792, 1056}) {
    work<<<blocks, 1024>>>(out, 20);
    std::printf("blocks_%d: %.3f us\n", blocks, event_us([&] { for (int i = 0; i < 4; ++i) work<<<blocks, 1024>>>(out, 20); }) / 4);
  }
  return 0;
}
