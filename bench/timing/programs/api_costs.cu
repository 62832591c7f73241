// Calls that every program makes, in a loop.
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

__global__ void kernel(float* x) { *x = 1; }

int main() {
  CHECK(cudaFree(0));
  float* x;
  CHECK(cudaMalloc(&x, 1 << 20));
  kernel<<<1, 1>>>(x);
  CHECK(cudaDeviceSynchronize());
  const auto each = [&](const char* name, int n, auto work) {
    work();
    const double t = now_us();
    for (int i = 0; i < n; ++i) work();
    std::printf("%s: %.4f us\n", name, (now_us() - t) / n);
  };
  int value;
  size_t free_bytes, total;
  cudaStream_t s;
  cudaEvent_t e;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaEventCreate(&e));
  each("get_device", 10000, [&] { cudaGetDevice(&value); });
  each("set_device", 10000, [&] { cudaSetDevice(0); });
  each("get_last_error", 10000, [&] { cudaGetLastError(); });
  each("get_device_count", 1000, [&] { cudaGetDeviceCount(&value); });
  each("device_attribute", 1000, [&] { cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0); });
  each("mem_get_info", 100, [&] { cudaMemGetInfo(&free_bytes, &total); });
  each("occupancy", 1000, [&] { cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel, 256, 0); });
  each("func_attributes", 1000, [&] {
    cudaFuncAttributes a;
    cudaFuncGetAttributes(&a, kernel);
  });
  each("pointer_attributes", 1000, [&] {
    cudaPointerAttributes a;
    cudaPointerGetAttributes(&a, x);
  });
  each("event_record", 500, [&] { cudaEventRecord(e, s); });
  each("stream_wait_event", 500, [&] { cudaStreamWaitEvent(s, e, 0); });
  each("event_create_destroy", 500, [&] {
    cudaEvent_t other;
    cudaEventCreate(&other);
    cudaEventDestroy(other);
  });
  each("stream_create_destroy", 100, [&] {
    cudaStream_t other;
    cudaStreamCreate(&other);
    cudaStreamDestroy(other);
  });
  each("device_properties", 20, [&] {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
  });
  return 0;
}
