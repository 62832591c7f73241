// Loops that ask the device at each turn whether to go on; many small copies against a large one; symbols; host functions.
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

__constant__ float factors[256];

__global__ void relax(float* data, int* changed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  data[i] = data[i] * factors[i & 255] + 1;
  if (i == 0) *changed = 1;
}

int main() {
  const int n = 1 << 18, turns = 50;
  float* data;
  int *changed, *pinned;
  CHECK(cudaMalloc(&data, n * 4));
  CHECK(cudaMalloc(&changed, 4));
  CHECK(cudaMallocHost(&pinned, 4096));
  CHECK(cudaMemset(data, 0, n * 4));
  std::vector<float> table(4096, 0.5f);
  relax<<<n / 256, 256>>>(data, changed, n);
  const auto time = [&](const char* name, auto run) {
    run();
    CHECK(cudaDeviceSynchronize());
    const double start = now_us();
    for (int i = 0; i < turns; ++i) run();
    CHECK(cudaDeviceSynchronize());
    std::printf("%s: %.3f us\n", name, (now_us() - start) / turns);
  };
  time("fill_kernel_copy_flag", [&] {
    int flag = 0;
    CHECK(cudaMemset(changed, 0, 4));
    relax<<<n / 256, 256>>>(data, changed, n);
    CHECK(cudaMemcpy(&flag, changed, 4, cudaMemcpyDeviceToHost));
  });
  time("kernel_copy_pinned_flag", [&] {
    relax<<<n / 256, 256>>>(data, changed, n);
    CHECK(cudaMemcpyAsync(pinned, changed, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaStreamSynchronize(nullptr));
  });
  time("kernel_only", [&] { relax<<<n / 256, 256>>>(data, changed, n); });
  time("symbol", [&] { CHECK(cudaMemcpyToSymbol(factors, table.data(), 1024)); });
  time("sixteen_small_copies", [&] { for (int k = 0; k < 16; ++k) CHECK(cudaMemcpyAsync(data + k * 256, table.data() + k * 256, 1024, cudaMemcpyHostToDevice)); });
  time("one_copy_of_all", [&] { CHECK(cudaMemcpyAsync(data, table.data(), 16384, cudaMemcpyHostToDevice)); });
  time("host_function", [&] {
    CHECK(cudaLaunchHostFunc(nullptr, [](void*) {}, nullptr));
    CHECK(cudaStreamSynchronize(nullptr));
  });
  time("kernel_and_host_function", [&] {
    relax<<<n / 256, 256>>>(data, changed, n);
    CHECK(cudaLaunchHostFunc(nullptr, [](void*) {}, nullptr));
    CHECK(cudaStreamSynchronize(nullptr));
  });
  return 0;
}
