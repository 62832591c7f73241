// Lookups in a large table in unified memory, by few and by many threads, and prefetches there and back.
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

__global__ void look_up(const int* table, const int* where, int* found, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) found[i] = table[where[i]];
}

static void prefetch(void* p, size_t bytes, bool device) {
#if CUDART_VERSION >= 13000
  cudaMemLocation there{device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost, 0};
  CHECK(cudaMemPrefetchAsync(p, bytes, there, 0, 0));
#else
  CHECK(cudaMemPrefetchAsync(p, bytes, device ? 0 : cudaCpuDeviceId));
#endif
}

int main() {
  const int words = 8 << 20;  // 32 MiB
  int *table, *where, *found;
  const int most = 4096;
  CHECK(cudaMalloc(&where, most * sizeof(int)));
  CHECK(cudaMalloc(&found, most * sizeof(int)));
  std::vector<int> places(most);
  for (int i = 0; i < most; ++i) places[i] = static_cast<int>((i * 2654435761u) % words);
  CHECK(cudaMemcpy(where, places.data(), most * sizeof(int), cudaMemcpyHostToDevice));
  for (int n : {1, 16, 256, 4096}) {
    CHECK(cudaMallocManaged(&table, words * sizeof(int)));
    for (int i = 0; i < words; ++i) table[i] = i;
    std::printf("look_up_%d: %.3f us\n", n, host_us([&] {
      look_up<<<(n + 127) / 128, 128>>>(table, where, found, n);
      CHECK(cudaDeviceSynchronize());
    }));
    CHECK(cudaFree(table));
  }
  CHECK(cudaMallocManaged(&table, words * sizeof(int)));
  for (int i = 0; i < words; ++i) table[i] = i;
  const auto there = [&] { prefetch(table, words * sizeof(int), true), CHECK(cudaDeviceSynchronize()); };
  const auto back = [&] { prefetch(table, words * sizeof(int), false), CHECK(cudaDeviceSynchronize()); };
  std::printf("prefetch_first: %.3f us\n", host_us(there));
  std::printf("prefetch_back: %.3f us\n", host_us(back));
  std::printf("prefetch_again: %.3f us\n", host_us(there));
  std::printf("look_up_after: %.3f us\n", host_us([&] {
    look_up<<<32, 128>>>(table, where, found, 4096);
    CHECK(cudaDeviceSynchronize());
  }));
  long long sum = 0;
  std::printf("host_every_16_pages: %.3f us\n", host_us([&] {
    for (int i = 0; i < words; i += 16384) sum += table[i];
  }));
  return sum == 0;
}
