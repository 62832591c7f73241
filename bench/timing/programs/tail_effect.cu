// Waves: a compute-bound kernel with one block more than fits, by threads, registers and shared memory.
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

__global__ void polynomial(float* out, int rounds) {
  float x = threadIdx.x * 0.001f, y = blockIdx.x * 0.002f, z = 0.5f, w = 0.25f;
  for (int k = 0; k < rounds; ++k) {
    x = x * 0.999f + 0.001f;
    y = y * 0.998f + 0.002f;
    z = z * 0.997f + 0.003f;
    w = w * 0.996f + 0.004f;
  }
  if (x + y + z + w == 12345.0f) out[threadIdx.x] = x;
}
extern __shared__ float tile[];
__global__ void with_tile(float* out, int rounds) {
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += tile[(threadIdx.x + k) % blockDim.x];
  if (sum == -1) out[threadIdx.x] = sum;
}

int main() {
  float* out;
  CHECK(cudaMalloc(&out, 4096));
  cudaDeviceProp about;
  CHECK(cudaGetDeviceProperties(&about, 0));
  CHECK(cudaFuncSetAttribute(with_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  const auto report = [&](const char* name, int blocks, auto launch) {
    launch();
    std::vector<float> times;
    for (int k = 0; k < 5; ++k) {
      CHECK(cudaEventRecord(begin));
      launch();
      CHECK(cudaEventRecord(end));
      CHECK(cudaEventSynchronize(end));
      float ms;
      CHECK(cudaEventElapsedTime(&ms, begin, end));
      times.push_back(ms * 1000);
    }
    std::sort(times.begin(), times.end());
    std::printf("%s_%d: %.3f us\n", name, blocks, times[2]);
  };
  const int processors = about.multiProcessorCount;
  for (int blocks : {1, processors / 2, processors, processors + 1, 2 * processors, 2 * processors + 1, 4 * processors})
    report("threads", blocks, [&] { polynomial<<<blocks, 1024>>>(out, 600); });
  for (int blocks : {processors, 2 * processors, 2 * processors + 1, 5 * processors})
    report("tile", blocks, [&] { with_tile<<<blocks, 128, 100 << 10>>>(out, 400); });
}
