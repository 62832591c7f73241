// Copies of one word to 64 MiB, as a bandwidth test prints them: events around one copy, host timers around ten.
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

static void sweep(const char* kind, void* host, void* device) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (size_t size : {size_t{4}, size_t{512}, size_t{8} << 10, size_t{64} << 10, size_t{1} << 20, size_t{8} << 20, size_t{64} << 20}) {
    for (bool up : {true, false}) {
      const auto copy = [&] {
        CHECK(up ? cudaMemcpy(device, host, size, cudaMemcpyHostToDevice) : cudaMemcpy(host, device, size, cudaMemcpyDeviceToHost));
      };
      copy();
      std::vector<float> times;
      for (int k = 0; k < 5; ++k) {
        CHECK(cudaEventRecord(begin));
        copy();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        times.push_back(ms * 1000);
      }
      std::nth_element(times.begin(), times.begin() + 2, times.end());
      std::printf("%s_%s_%zu_event: %.3f us\n", kind, up ? "up" : "down", size, times[2]);
      const double ten = time_us(3, [&] {
        for (int k = 0; k < 10; ++k) copy();
      });
      std::printf("%s_%s_%zu_host: %.3f us\n", kind, up ? "up" : "down", size, ten / 10);
    }
  }
}

int main() {
  const size_t most = 64u << 20;
  void *device, *pinned, *pageable = std::malloc(most);
  CHECK(cudaMalloc(&device, most));
  CHECK(cudaMallocHost(&pinned, most));
  std::fill_n(static_cast<char*>(pageable), most, 1);
  std::fill_n(static_cast<char*>(pinned), most, 1);
  sweep("pinned", pinned, device);
  sweep("pageable", pageable, device);
}
