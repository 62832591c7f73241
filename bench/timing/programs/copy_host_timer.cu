// The same copies as a host's clock sees them, one at a time, blocking and asynchronous.
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

int main() {
  const size_t largest = size_t(32) << 20;
  char *device, *pinned;
  CHECK(cudaMalloc(&device, largest));
  CHECK(cudaMallocHost(&pinned, largest));
  std::vector<char> pageable(largest, 1);
  for (size_t bytes : {size_t(1) << 10, size_t(64) << 10, size_t(1) << 20, size_t(8) << 20, largest}) {
    const auto time = [&](const char* name, auto copy) {
      copy();
      CHECK(cudaDeviceSynchronize());
      double sum = 0;
      for (int i = 0; i < 5; ++i) {
        const double start = now_us();
        copy();
        sum += now_us() - start;
        CHECK(cudaDeviceSynchronize());
      }
      std::printf("%s_%zu: %.3f us\n", name, bytes, sum / 5);
    };
    time("pinned_up", [&] { CHECK(cudaMemcpy(device, pinned, bytes, cudaMemcpyHostToDevice)); });
    time("pinned_down", [&] { CHECK(cudaMemcpy(pinned, device, bytes, cudaMemcpyDeviceToHost)); });
    time("pageable_up", [&] { CHECK(cudaMemcpy(device, pageable.data(), bytes, cudaMemcpyHostToDevice)); });
    time("pageable_down", [&] { CHECK(cudaMemcpy(pageable.data(), device, bytes, cudaMemcpyDeviceToHost)); });
    time("pinned_up_async_call", [&] { CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice)); });
    time("pageable_up_async_call", [&] { CHECK(cudaMemcpyAsync(device, pageable.data(), bytes, cudaMemcpyHostToDevice)); });
    time("fill_call", [&] { CHECK(cudaMemset(device, 0, bytes)); });
  }
  return 0;
}
