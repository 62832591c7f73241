// Events: intervals around nothing, kernels, copies; waits across streams; what the calls cost.
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
  spin<<<1, 32>>>(out, 10);
  CHECK(cudaDeviceSynchronize());
  std::printf("nothing: %.3f us\n", event_us([] {}));
  for (int rounds : {100, 1000, 10000, 100000}) std::printf("spin_%d: %.3f us\n", rounds, event_us([&] { spin<<<132, 32>>>(out, rounds); }));
  std::printf("two_spins_1000: %.3f us\n", event_us([&] { spin<<<132, 32>>>(out, 1000), spin<<<132, 32>>>(out, 1000); }));
  cudaStream_t a, b;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  cudaEvent_t e;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  for (int round = 0; round < 2; ++round) {
    CHECK(cudaDeviceSynchronize());
    const double start = now_us();
    for (int i = 0; i < 20; ++i) {
      spin<<<1, 32, 0, a>>>(out, 1000);
      CHECK(cudaEventRecord(e, a));
      CHECK(cudaStreamWaitEvent(b, e, 0));
      spin<<<1, 32, 0, b>>>(out, 1000);
      CHECK(cudaEventRecord(e, b));
      CHECK(cudaStreamWaitEvent(a, e, 0));
    }
    CHECK(cudaDeviceSynchronize());
    if (round) std::printf("ping_pong_kernel: %.3f us\n", (now_us() - start) / 40);
  }
  for (int round = 0; round < 2; ++round) {
    CHECK(cudaDeviceSynchronize());
    const double start = now_us();
    for (int i = 0; i < 40; ++i) spin<<<1, 32, 0, a>>>(out, 1000);
    CHECK(cudaDeviceSynchronize());
    if (round) std::printf("one_stream_kernel: %.3f us\n", (now_us() - start) / 40);
  }
  double start = now_us();
  for (int i = 0; i < 100; ++i) CHECK(cudaEventRecord(e, a));
  std::printf("record_call: %.3f us\n", (now_us() - start) / 100);
  CHECK(cudaDeviceSynchronize());
  start = now_us();
  for (int i = 0; i < 100; ++i) CHECK(cudaEventQuery(e));
  std::printf("query_call: %.3f us\n", (now_us() - start) / 100);
  start = now_us();
  spin<<<1, 32, 0, a>>>(out, 50000);
  int polls = 0;
  CHECK(cudaEventRecord(e, a));
  while (cudaEventQuery(e) == cudaErrorNotReady) ++polls;
  std::printf("polled_until_done: %.3f us\n", now_us() - start);
  return polls < 0;
}
