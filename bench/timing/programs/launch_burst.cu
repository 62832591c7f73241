// Bursts of launches with few and many arguments, in one and in two streams, and with a wait after each.
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

struct Many { float values[64]; };
__global__ void none() {}
__global__ void few(float* x, int n) { if (threadIdx.x > static_cast<unsigned>(n)) *x = 1; }
__global__ void many(float* x, Many m) { if (threadIdx.x > m.values[5]) *x = 1; }

int main() {
  float* x;
  CHECK(cudaMalloc(&x, 4));
  cudaStream_t a, b;
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreate(&b));
  Many m = {};
  m.values[5] = 5000;
  none<<<1, 32, 0, a>>>();
  few<<<1, 32, 0, a>>>(x, 5000);
  many<<<1, 32, 0, b>>>(x, m);
  CHECK(cudaDeviceSynchronize());
  const auto burst = [&](const char* name, int count, auto launch) {
    std::printf("%s: %.3f us\n", name, median_us([&] {
      for (int k = 0; k < count; ++k) launch(k);
      CHECK(cudaDeviceSynchronize());
    }) / count);
  };
  burst("none_200", 200, [&](int) { none<<<1, 32, 0, a>>>(); });
  burst("few_200", 200, [&](int) { few<<<1, 32, 0, a>>>(x, 5000); });
  burst("many_200", 200, [&](int) { many<<<1, 32, 0, a>>>(x, m); });
  burst("two_streams_200", 200, [&](int k) { few<<<1, 32, 0, k % 2 ? a : b>>>(x, 5000); });
  burst("wide_50", 50, [&](int) { few<<<2112, 256, 0, a>>>(x, 5000); });
  burst("one", 1, [&](int) { few<<<1, 32, 0, a>>>(x, 5000); });
  burst("waiting_20", 20, [&](int) { few<<<1, 32, 0, a>>>(x, 5000), CHECK(cudaStreamSynchronize(a)); });
}
