// Small kernels in 1 to 128 streams at once: of one block, of a third of the device, and of all of it.
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

__global__ void spin(float* out, int rounds) {
  float v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = v * 0.999f + 0.5f;
  out[threadIdx.x] = v;
}

int main() {
  float* out;
  CHECK(cudaMalloc(&out, 4096));
  std::vector<cudaStream_t> streams(128);
  for (auto& s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (auto& s : streams) spin<<<1, 32, 0, s>>>(out, 10);
  CHECK(cudaDeviceSynchronize());
  const struct {
    const char* name;
    int blocks, threads, rounds;
  } shapes[] = {{"one_block", 1, 32, 50000}, {"third", 44, 1024, 1000}, {"whole", 264, 1024, 500}};
  for (const auto& shape : shapes)
    for (int count = 1; count <= 128; count *= 2) {
      if (shape.blocks > 1 && count > 16) break;
      CHECK(cudaDeviceSynchronize());
      const double start = now_us();
      for (int i = 0; i < count; ++i) spin<<<shape.blocks, shape.threads, 0, streams[i]>>>(out, shape.rounds);
      CHECK(cudaDeviceSynchronize());
      std::printf("%s_%d: %.3f us\n", shape.name, count, now_us() - start);
    }
  return 0;
}
