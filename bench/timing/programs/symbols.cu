// Variables of the module: constant and device memory written and read by name.
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

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__constant__ float table[1024];
__device__ int counter;
__device__ float big[1 << 18];
__global__ void use(float* out) {
  out[threadIdx.x] = table[threadIdx.x] + big[threadIdx.x];
  if (threadIdx.x == 0) atomicAdd(&counter, 1);
}

int main() {
  float* out;
  CHECK(cudaMalloc(&out, 4096));
  std::vector<float> host(1 << 18, 1.f);
  int value = 0;
  const auto each = [&](const char* name, auto work) {
    work();
    const int n = 50;
    const double t = now_us();
    for (int i = 0; i < n; ++i) work();
    std::printf("%s: %.3f us\n", name, (now_us() - t) / n);
  };
  each("constant_4k", [&] { CHECK(cudaMemcpyToSymbol(table, host.data(), 4096)); });
  each("variable_up", [&] { CHECK(cudaMemcpyToSymbol(counter, &value, 4)); });
  each("variable_down", [&] { CHECK(cudaMemcpyFromSymbol(&value, counter, 4)); });
  each("array_up_1m", [&] { CHECK(cudaMemcpyToSymbol(big, host.data(), 1 << 20)); });
  each("array_down_1m", [&] { CHECK(cudaMemcpyFromSymbol(host.data(), big, 1 << 20)); });
  each("reset_launch_read", [&] {
    value = 0;
    CHECK(cudaMemcpyToSymbol(counter, &value, 4));
    use<<<1, 256>>>(out);
    CHECK(cudaMemcpyFromSymbol(&value, counter, 4));
  });
  return value != 1;
}
