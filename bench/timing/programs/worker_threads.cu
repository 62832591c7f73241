// Host threads that each drive a stream of their own: launches, copies and waits at once.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
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

__global__ void busy(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {}
}

int main() {
  const size_t part = 1 << 20;
  char *host, *device;
  CHECK(cudaMallocHost(&host, part * 8));
  CHECK(cudaMalloc(&device, part * 8));
  std::vector<cudaStream_t> streams(8);
  for (auto& s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (auto s : streams) busy<<<1, 1, 0, s>>>(1);
  CHECK(cudaDeviceSynchronize());
  const auto together = [&](int threads, auto work) {
    return time_us(5, [&] {
      std::vector<std::thread> all;
      for (int k = 0; k < threads; ++k) all.emplace_back([&, k] { work(k); });
      for (auto& t : all) t.join();
    });
  };
  for (int threads : {1, 2, 4, 8}) {
    std::printf("launches_%d: %.3f us\n", threads, together(threads, [&](int k) {
                  for (int i = 0; i < 200; ++i) busy<<<1, 32, 0, streams[k]>>>(1);
                  CHECK(cudaStreamSynchronize(streams[k]));
                }));
    std::printf("steps_%d: %.3f us\n", threads, together(threads, [&](int k) {
                  for (int i = 0; i < 5; ++i) {
                    CHECK(cudaMemcpyAsync(device + k * part, host + k * part, part, cudaMemcpyHostToDevice, streams[k]));
                    busy<<<8, 128, 0, streams[k]>>>(50000);
                    CHECK(cudaMemcpyAsync(host + k * part, device + k * part, part, cudaMemcpyDeviceToHost, streams[k]));
                    CHECK(cudaStreamSynchronize(streams[k]));
                  }
                }));
  }
}
