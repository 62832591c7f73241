// A short kernel behind a long one: in the same stream, in another, with a higher priority.
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
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t low, same, high;
  CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
  CHECK(cudaStreamCreateWithPriority(&same, cudaStreamNonBlocking, least));
  CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
  cudaEvent_t start, long_done, short_done;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&long_done));
  CHECK(cudaEventCreate(&short_done));
  const struct {
    const char* name;
    cudaStream_t stream;
  } cases[] = {{"same_stream", low}, {"same_priority", same}, {"high_priority", high}};
  for (int round = 0; round < 2; ++round)
    for (const auto& c : cases) {
      CHECK(cudaDeviceSynchronize());
      CHECK(cudaEventRecord(start, low));
      spin<<<132 * 2 * 8, 1024, 0, low>>>(out, 500);
      CHECK(cudaEventRecord(long_done, low));
      spin<<<132, 256, 0, c.stream>>>(out, 500);
      CHECK(cudaEventRecord(short_done, c.stream));
      CHECK(cudaDeviceSynchronize());
      float first, second;
      CHECK(cudaEventElapsedTime(&first, start, long_done));
      CHECK(cudaEventElapsedTime(&second, start, short_done));
      if (round) std::printf("%s_long: %.3f us\n%s_short: %.3f us\n", c.name, first * 1e3, c.name, second * 1e3);
    }
  return 0;
}
