// A vector worked on in pieces over three streams, copies in and out, breadth first and depth first.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
static double host_us(Work work) {
  const double begun = now_us();
  work();
  return now_us() - begun;
}

template <class Work>
static double median_us(Work work, int times = 9) {
  std::vector<double> all;
  for (int k = 0; k < times; ++k) all.push_back(host_us(work));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

__global__ void work(float* x, int n, int turns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  for (int k = 0; k < turns; ++k) v = v * 0.5f + 1;
  x[i] = v;
}

int main() {
  const int n = 6 << 20, streams = 3;
  float *host, *device;
  CHECK(cudaMallocHost(&host, n * sizeof(float)));
  CHECK(cudaMalloc(&device, n * sizeof(float)));
  std::fill(host, host + n, 1.f);
  cudaStream_t s[streams];
  for (auto& each : s) CHECK(cudaStreamCreate(&each));
  const auto in = [&](int k, int at, int count) { CHECK(cudaMemcpyAsync(device + at, host + at, count * sizeof(float), cudaMemcpyHostToDevice, s[k])); };
  const auto out = [&](int k, int at, int count) { CHECK(cudaMemcpyAsync(host + at, device + at, count * sizeof(float), cudaMemcpyDeviceToHost, s[k])); };
  for (int turns : {10, 2000}) {
    const auto kernel = [&](int k, int at, int count) { work<<<(count + 255) / 256, 256, 0, s[k]>>>(device + at, count, turns); };
    const auto timed = [&](const char* name, auto all) {
      std::printf("%s_%d: %.3f us\n", name, turns, median_us([&] { all(), CHECK(cudaDeviceSynchronize()); }, 5));
    };
    timed("at_once", [&] { in(0, 0, n), kernel(0, 0, n), out(0, 0, n); });
    for (int pieces : {3, 12}) {
      const int count = n / pieces;
      timed(pieces == 3 ? "depth_3" : "depth_12", [&] {
        for (int k = 0; k < pieces; ++k) in(k % streams, k * count, count), kernel(k % streams, k * count, count), out(k % streams, k * count, count);
      });
      timed(pieces == 3 ? "breadth_3" : "breadth_12", [&] {
        for (int k = 0; k < pieces; ++k) in(k % streams, k * count, count);
        for (int k = 0; k < pieces; ++k) kernel(k % streams, k * count, count);
        for (int k = 0; k < pieces; ++k) out(k % streams, k * count, count);
      });
    }
  }
}
