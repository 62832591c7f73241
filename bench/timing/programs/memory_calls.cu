// What asking for memory takes, by kind and size, and giving it back.
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

int main() {
  CHECK(cudaFree(nullptr));
  for (size_t size : {size_t{1} << 10, size_t{1} << 16, size_t{1} << 20, size_t{16} << 20, size_t{256} << 20}) {
    const char* unit = size >= 1 << 20 ? "m" : "k";
    const size_t shown = size >= 1 << 20 ? size >> 20 : size >> 10;
    std::vector<void*> kept(8);
    double begin = seconds();
    for (auto& p : kept) CHECK(cudaMalloc(&p, size));
    std::printf("malloc_%zu%s: %.3f us\n", shown, unit, (seconds() - begin) * 1e6 / kept.size());
    begin = seconds();
    for (auto& p : kept) CHECK(cudaFree(p));
    std::printf("free_%zu%s: %.3f us\n", shown, unit, (seconds() - begin) * 1e6 / kept.size());
    void* one;
    std::printf("pair_%zu%s: %.3f us\n", shown, unit, time_us(7, [&] {
                  CHECK(cudaMalloc(&one, size));
                  CHECK(cudaFree(one));
                }));
  }
  for (size_t size : {size_t{64} << 10, size_t{4} << 20, size_t{64} << 20}) {
    void* host;
    double taken[2] = {};
    const double both = time_us(3, [&] {
      const double begin = seconds();
      CHECK(cudaMallocHost(&host, size));
      taken[0] = (seconds() - begin) * 1e6;
      CHECK(cudaFreeHost(host));
    });
    std::printf("pinned_%zuk: %.3f us\npinned_both_%zuk: %.3f us\n", size >> 10, taken[0], size >> 10, both);
  }
  void* managed;
  std::printf("managed_16m: %.3f us\n", time_us(3, [&] {
                CHECK(cudaMallocManaged(&managed, 16 << 20));
                CHECK(cudaFree(managed));
              }));
  size_t free_bytes, all_bytes;
  std::printf("mem_info: %.3f us\n", time_us(9, [&] { CHECK(cudaMemGetInfo(&free_bytes, &all_bytes)); }));
}
