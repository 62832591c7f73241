// Latencies by the clock that a kernel reads: chains through shared, L2 and global memory, arithmetic, atomics.
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

constexpr int kSteps = 256;

__global__ void shared_chain(int* result, long long* ticks) {
  __shared__ int next[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) next[k] = (k + 33) % 1024;
  __syncthreads();
  int at = threadIdx.x;
  const long long begin = clock64();
  for (int k = 0; k < kSteps; ++k) at = next[at];
  const long long end = clock64();
  if (threadIdx.x == 0) *ticks = end - begin;
  result[threadIdx.x] = at;
}
__global__ void global_chain(const int* next, int* result, long long* ticks) {
  int at = 0;
  const long long begin = clock64();
  for (int k = 0; k < kSteps; ++k) at = next[at];
  const long long end = clock64();
  *ticks = end - begin;
  *result = at;
}
__global__ void multiply_chain(float* result, long long* ticks, float by) {
  float x = by;
  const long long begin = clock64();
  for (int k = 0; k < kSteps; ++k) x = x * by + 1.0f;
  const long long end = clock64();
  *ticks = end - begin;
  *result = x;
}
__global__ void root_chain(float* result, long long* ticks, float x) {
  const long long begin = clock64();
  for (int k = 0; k < kSteps; ++k) x = rsqrtf(x) + 1.0f;
  const long long end = clock64();
  *ticks = end - begin;
  *result = x;
}
__global__ void atomic_chain(int* counter, int* result, long long* ticks) {
  int at = 0;
  const long long begin = clock64();
  for (int k = 0; k < kSteps; ++k) at = atomicAdd(counter + (at & 1), 1);
  const long long end = clock64();
  *ticks = end - begin;
  *result = at;
}
__global__ void barriers(long long* ticks) {
  const long long begin = clock64();
  for (int k = 0; k < kSteps; ++k) __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *ticks = end - begin;
}

int main() {
  const int most = 64 << 20;
  int *next, *result;
  long long* ticks;
  CHECK(cudaMalloc(&next, most));
  CHECK(cudaMalloc(&result, 4096));
  CHECK(cudaMalloc(&ticks, sizeof *ticks));
  CHECK(cudaMemset(result, 0, 4096));
  const auto report = [&](const char* name, auto launch) {
    long long found = 0;
    for (int k = 0; k < 3; ++k) {
      launch();
      CHECK(cudaMemcpy(&found, ticks, sizeof found, cudaMemcpyDeviceToHost));
    }
    std::printf("%s: %.3f cycles\n", name, double(found) / kSteps);
  };
  report("shared", [&] { shared_chain<<<1, 32>>>(result, ticks); });
  for (int bytes : {16 << 10, 4 << 20}) {
    const int count = bytes / 4, step = bytes / 4 / kSteps | 33;
    std::vector<int> host(count);
    for (int k = 0; k < count; ++k) host[k] = (k + step) % count;
    CHECK(cudaMemcpy(next, host.data(), bytes, cudaMemcpyHostToDevice));
    report(bytes == 16 << 10 ? "first_level" : "second_level", [&] { global_chain<<<1, 1>>>(next, result, ticks); });
  }
  report("multiply", [&] { multiply_chain<<<1, 32>>>(reinterpret_cast<float*>(result), ticks, 0.5f); });
  report("root", [&] { root_chain<<<1, 32>>>(reinterpret_cast<float*>(result), ticks, 0.5f); });
  report("atomic", [&] { atomic_chain<<<1, 1>>>(result, result + 16, ticks); });
  report("barrier_4", [&] { barriers<<<1, 128>>>(ticks); });
  report("barrier_32", [&] { barriers<<<1, 1024>>>(ticks); });
}
