// What setting up costs: pinned buffers, registered ones, pitched and three-dimensional ones, streams and events.
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

int main() {
  CHECK(cudaFree(0));
  for (int mib : {2, 16}) {
    void* p;
    std::printf("pinned_%dm: %.3f us\n", mib, host_us([&] { CHECK(cudaMallocHost(&p, static_cast<size_t>(mib) << 20)); }));
    std::printf("pinned_%dm_end: %.3f us\n", mib, host_us([&] { CHECK(cudaFreeHost(p)); }));
    std::vector<char> own(static_cast<size_t>(mib) << 20, 1);
    std::printf("register_%dm: %.3f us\n", mib, host_us([&] { CHECK(cudaHostRegister(own.data(), own.size(), 0)); }));
    std::printf("register_%dm_end: %.3f us\n", mib, host_us([&] { CHECK(cudaHostUnregister(own.data())); }));
  }
  void* p;
  size_t pitch;
  std::printf("pitch: %.3f us\n", median_us([&] { CHECK(cudaMallocPitch(&p, &pitch, 3000, 1500)), CHECK(cudaFree(p)); }));
  cudaPitchedPtr box;
  std::printf("box: %.3f us\n", median_us([&] { CHECK(cudaMalloc3D(&box, make_cudaExtent(1000, 100, 64))), CHECK(cudaFree(box.ptr)); }));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  cudaEvent_t e;
  std::printf("event: %.3f us\n", median_us([&] { CHECK(cudaEventCreate(&e)), CHECK(cudaEventDestroy(e)); }));
  std::printf("stream: %.3f us\n", median_us([&] {
    cudaStream_t t;
    CHECK(cudaStreamCreate(&t));
    CHECK(cudaStreamDestroy(t));
  }));
}
