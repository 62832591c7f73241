// A large array through the device in 1 to 16 chunks: copy, compute, copy; each chunk on a stream of its own, breadth first and depth first.
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

__global__ void compute(float* data, int count, int rounds) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;
  float x = data[at];
  for (int k = 0; k < rounds; ++k) x = x * 0.9999f + 0.0001f;
  data[at] = x;
}

int main() {
  const int count = 4 << 20;
  float *host, *device;
  CHECK(cudaMallocHost(&host, count * sizeof(float)));
  CHECK(cudaMalloc(&device, count * sizeof(float)));
  std::fill_n(host, count, 1.0f);
  std::vector<cudaStream_t> streams(16);
  for (auto& s : streams) CHECK(cudaStreamCreate(&s));
  for (auto s : streams) compute<<<1, 32, 0, s>>>(device, 32, 1);
  CHECK(cudaDeviceSynchronize());
  for (int chunks : {1, 2, 4, 8, 16}) {
    const int part = count / chunks;
    const auto up = [&](int k) {
      CHECK(cudaMemcpyAsync(device + k * part, host + k * part, part * sizeof(float), cudaMemcpyHostToDevice, streams[k]));
    };
    const auto run = [&](int k) { compute<<<part / 256, 256, 0, streams[k]>>>(device + k * part, part, 200); };
    const auto down = [&](int k) {
      CHECK(cudaMemcpyAsync(host + k * part, device + k * part, part * sizeof(float), cudaMemcpyDeviceToHost, streams[k]));
    };
    std::printf("depth_%d: %.3f us\n", chunks, time_us(3, [&] {
                  for (int k = 0; k < chunks; ++k) up(k), run(k), down(k);
                  CHECK(cudaDeviceSynchronize());
                }));
    std::printf("breadth_%d: %.3f us\n", chunks, time_us(3, [&] {
                  for (int k = 0; k < chunks; ++k) up(k);
                  for (int k = 0; k < chunks; ++k) run(k);
                  for (int k = 0; k < chunks; ++k) down(k);
                  CHECK(cudaDeviceSynchronize());
                }));
  }
}
