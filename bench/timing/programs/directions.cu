// Copies up and down at once, in chunks, and beside a kernel that uses the memory.
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

__global__ void triad(float* a, const float* b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = b[i] * 2 + a[i];
}

int main() {
  const size_t bytes = size_t(32) << 20;
  char *pinned, *pinned_too, *device, *device_too;
  float *a, *b;
  const int n = 1 << 21;
  CHECK(cudaMallocHost(&pinned, bytes));
  CHECK(cudaMallocHost(&pinned_too, bytes));
  CHECK(cudaMalloc(&device, bytes));
  CHECK(cudaMalloc(&device_too, bytes));
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  cudaStream_t up, down, compute;
  CHECK(cudaStreamCreateWithFlags(&up, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
  const auto time = [&](const char* name, auto run) {
    for (int i = 0; i < 2; ++i) {
      CHECK(cudaDeviceSynchronize());
      const double start = now_us();
      run();
      CHECK(cudaDeviceSynchronize());
      if (i) std::printf("%s: %.3f us\n", name, now_us() - start);
    }
  };
  const auto copy_up = [&](cudaStream_t s) { CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, s)); };
  const auto copy_down = [&](cudaStream_t s) { CHECK(cudaMemcpyAsync(pinned_too, device_too, bytes, cudaMemcpyDeviceToHost, s)); };
  const auto kernels = [&](cudaStream_t s) { for (int i = 0; i < 20; ++i) triad<<<528, 256, 0, s>>>(a, b, n); };
  time("up", [&] { copy_up(up); });
  time("down", [&] { copy_down(down); });
  time("both", [&] { copy_up(up), copy_down(down); });
  time("both_in_one_stream", [&] { copy_up(up), copy_down(up); });
  time("two_up_in_two_streams", [&] {
    copy_up(up);
    CHECK(cudaMemcpyAsync(device_too, pinned_too, bytes, cudaMemcpyHostToDevice, down));
  });
  time("kernels", [&] { kernels(compute); });
  time("kernels_and_up", [&] { kernels(compute), copy_up(up); });
  time("kernels_and_both", [&] { kernels(compute), copy_up(up), copy_down(down); });
  return 0;
}
