// What a launch takes: alone, in a row, with events, with a question, with arguments and shared memory.
#include <algorithm>
#include <chrono>
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

struct Many {
  float values[200];
};
__global__ void nothing() {}
__global__ void with_arguments(Many many, float* out) {
  if (out) *out = many.values[threadIdx.x];
}
__global__ void increment(int* counter) { atomicAdd(counter, 1); }
extern __shared__ float dynamic[];
__global__ void with_shared(float* out) {
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (out) *out = dynamic[0];
}

int main() {
  int* counter;
  CHECK(cudaMalloc(&counter, sizeof(int)));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  nothing<<<1, 1>>>();
  with_arguments<<<1, 1>>>({}, nullptr);
  with_shared<<<1, 32, 1024>>>(nullptr);
  increment<<<1, 1>>>(counter);
  CHECK(cudaDeviceSynchronize());
  std::printf("round_trip: %.3f us\n", time_us(31, [] {
                nothing<<<1, 1>>>();
                CHECK(cudaDeviceSynchronize());
              }));
  std::printf("issue: %.3f us\n", time_us(1, [] {
                                    for (int k = 0; k < 500; ++k) nothing<<<1, 1>>>();
                                  }) / 500);
  CHECK(cudaDeviceSynchronize());
  std::printf("in_a_row: %.3f us\n", time_us(3, [] {
                                       for (int k = 0; k < 2000; ++k) nothing<<<1, 1>>>();
                                       CHECK(cudaDeviceSynchronize());
                                     }) / 2000);
  std::printf("atomics_in_a_row: %.3f us\n", time_us(3, [&] {
                                               for (int k = 0; k < 500; ++k) increment<<<16, 64>>>(counter);
                                               CHECK(cudaDeviceSynchronize());
                                             }) / 500);
  std::printf("large_arguments: %.3f us\n", time_us(3, [] {
                                              for (int k = 0; k < 500; ++k) with_arguments<<<1, 32>>>({}, nullptr);
                                              CHECK(cudaDeviceSynchronize());
                                            }) / 500);
  std::printf("dynamic_shared: %.3f us\n", time_us(3, [] {
                                             for (int k = 0; k < 500; ++k) with_shared<<<132, 256, 16384>>>(nullptr);
                                             CHECK(cudaDeviceSynchronize());
                                           }) / 500);
  std::vector<float> times;
  for (int k = 0; k < 11; ++k) {
    CHECK(cudaEventRecord(begin));
    nothing<<<1, 1>>>();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms * 1000);
  }
  std::nth_element(times.begin(), times.begin() + 5, times.end());
  std::printf("between_events: %.3f us\n", times[5]);
  std::printf("asked_until_done: %.3f us\n", time_us(11, [&] {
                nothing<<<1, 1>>>();
                CHECK(cudaEventRecord(end));
                while (cudaEventQuery(end) == cudaErrorNotReady) {}
              }));
  std::printf("alternating: %.3f us\n", time_us(3, [&] {
                                          for (int k = 0; k < 250; ++k) {
                                            nothing<<<1, 1>>>();
                                            increment<<<1, 1>>>(counter);
                                          }
                                          CHECK(cudaDeviceSynchronize());
                                        }) / 500);
  int blocks;
  std::printf("occupancy_question: %.3f us\n",
              time_us(21, [&] { CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared, 256, 16384)); }));
  std::printf("last_error: %.3f us\n", time_us(3, [] {
                                         for (int k = 0; k < 100; ++k) CHECK(cudaGetLastError());
                                       }) / 100);
}
