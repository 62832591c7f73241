// Reading and writing the host's memory from kernels by size and by number of blocks.
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

__global__ void copy(const float4* in, float4* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const size_t bytes = 32 << 20;
  float4 *host, *host_out, *device, *mapped, *mapped_out;
  CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
  CHECK(cudaHostAlloc(&host_out, bytes, cudaHostAllocMapped));
  std::memset(host, 0, bytes);
  std::memset(host_out, 0, bytes);
  CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
  CHECK(cudaHostGetDevicePointer(&mapped_out, host_out, 0));
  CHECK(cudaMalloc(&device, bytes));
  copy<<<1, 32>>>(mapped, device, 1);
  copy<<<1, 32>>>(device, mapped, 1);
  CHECK(cudaDeviceSynchronize());
  for (size_t kib : {64, 1024, 32768}) {
    const int n = kib << 6;
    const int blocks = std::min(528, (n + 255) / 256);
    std::printf("read_%zu: %.3f us\n", kib, event_us([&] { copy<<<blocks, 256>>>(mapped, device, n); }));
    std::printf("write_%zu: %.3f us\n", kib, event_us([&] { copy<<<blocks, 256>>>(device, mapped, n); }));
    std::printf("both_%zu: %.3f us\n", kib, event_us([&] { copy<<<blocks, 256>>>(mapped, mapped_out, n); }));
  }
  const int n = 1 << 20;
  std::printf("book_add: %.3f us\n", event_us([&] { add<<<n / 256, 256>>>((float*)mapped, (float*)mapped + n, (float*)mapped + 2 * n, n); }));
  std::printf("read_4_blocks: %.3f us\n", event_us([&] { copy<<<4, 256>>>(mapped, device, 1 << 16); }));
  std::printf("read_32_blocks: %.3f us\n", event_us([&] { copy<<<32, 256>>>(mapped, device, 1 << 18); }));
  std::printf("one_warp: %.3f us\n", event_us([&] { copy<<<1, 32>>>(mapped, device, 1 << 10); }));
  std::printf("one_thread: %.3f us\n", event_us([&] { copy<<<1, 1>>>(mapped, device, 100); }));
  return 0;
}
