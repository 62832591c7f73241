// The same kernels on 1 to 128 streams: small ones side by side, and with their copies.
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

__global__ void busy(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {}
}

int main() {
  std::vector<cudaStream_t> streams(128);
  CHECK(cudaFree(nullptr));
  const double begin = seconds();
  for (auto& s : streams) CHECK(cudaStreamCreate(&s));
  std::printf("create_all: %.3f us\n", (seconds() - begin) * 1e6);
  char *host, *device;
  const size_t part = 64 << 10;
  CHECK(cudaMallocHost(&host, part * 128));
  CHECK(cudaMalloc(&device, part * 128));
  for (auto s : streams) busy<<<1, 32, 0, s>>>(1);
  CHECK(cudaDeviceSynchronize());
  for (int used = 1; used <= 128; used *= 2) {
    std::printf("kernels_%d: %.3f us\n", used, time_us(5, [&] {
                  for (int k = 0; k < 128; ++k) busy<<<1, 64, 0, streams[k % used]>>>(100000);
                  CHECK(cudaDeviceSynchronize());
                }));
    std::printf("with_copies_%d: %.3f us\n", used, time_us(5, [&] {
                  for (int k = 0; k < 128; ++k) {
                    const cudaStream_t s = streams[k % used];
                    CHECK(cudaMemcpyAsync(device + k * part, host + k * part, part, cudaMemcpyHostToDevice, s));
                    busy<<<4, 128, 0, s>>>(10000);
                    CHECK(cudaMemcpyAsync(host + k * part, device + k * part, part, cudaMemcpyDeviceToHost, s));
                  }
                  CHECK(cudaDeviceSynchronize());
                }));
  }
  std::printf("large_on_four: %.3f us\n", time_us(5, [&] {
                for (int k = 0; k < 8; ++k) busy<<<132, 1024, 0, streams[k % 4]>>>(50000);
                CHECK(cudaDeviceSynchronize());
              }));
  const double end = seconds();
  for (auto s : streams) CHECK(cudaStreamDestroy(s));
  std::printf("destroy_all: %.3f us\n", (seconds() - end) * 1e6);
}
