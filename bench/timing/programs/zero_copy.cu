// Kernels that read and write mapped memory of the host.
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

__global__ void read(const float4* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 42) *out = sum;
}

__global__ void write(float4* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = make_float4(1, 2, 3, 4);
}

__global__ void signal(volatile int* flag) { *flag = 1; }

int main() {
  const size_t bytes = size_t(16) << 20;
  float4 *host, *mapped;
  float* out;
  int *flag, *mapped_flag;
  CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
  CHECK(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&mapped_flag, flag, 0));
  CHECK(cudaMalloc(&out, 4));
  const int n = bytes / 16;
  read<<<528, 256>>>(mapped, out, 100);
  write<<<528, 256>>>(mapped, 100);
  CHECK(cudaDeviceSynchronize());
  std::printf("read: %.3f us\n", event_us([&] { read<<<528, 256>>>(mapped, out, n); }));
  std::printf("write: %.3f us\n", event_us([&] { write<<<528, 256>>>(mapped, n); }));
  std::printf("read_one_block: %.3f us\n", event_us([&] { read<<<1, 256>>>(mapped, out, n / 64); }));
  double sum = 0;
  for (int i = 0; i < 11; ++i) {
    *flag = 0;
    const double start = now_us();
    signal<<<1, 1>>>(mapped_flag);
    while (!*(volatile int*)flag) {
    }
    if (i) sum += now_us() - start;
    CHECK(cudaDeviceSynchronize());
  }
  std::printf("launch_to_flag: %.3f us\n", sum / 10);
  return 0;
}
