// Pinned memory that kernels use in place: sums, scaling in place, scattered reads, a result written back.
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

__global__ void sum(const float* x, float* out, int n) {
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  for (int k = 16; k; k /= 2) mine += __shfl_down_sync(~0u, mine, k);
  if (threadIdx.x % 32 == 0) atomicAdd(out, mine);
}
__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 3;
}
__global__ void pick(const float* x, const int* where, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[where[i]];
}

int main() {
  const int n = 2 << 20;
  float *x, *out, *near;
  int* where;
  CHECK(cudaHostAlloc(&x, n * sizeof(float), cudaHostAllocMapped));
  CHECK(cudaHostAlloc(&out, n * sizeof(float), cudaHostAllocMapped));
  CHECK(cudaMalloc(&near, n * sizeof(float)));
  CHECK(cudaMemset(near, 0, 4));
  std::fill(x, x + n, 1.f);
  std::vector<int> places(1 << 16);
  for (size_t k = 0; k < places.size(); ++k) places[k] = static_cast<int>(k * 2654435761u % n);
  CHECK(cudaMalloc(&where, places.size() * sizeof(int)));
  CHECK(cudaMemcpy(where, places.data(), places.size() * sizeof(int), cudaMemcpyHostToDevice));
  const auto timed = [&](const char* name, auto work) {
    std::printf("%s: %.3f us\n", name, median_us([&] { work(), CHECK(cudaDeviceSynchronize()); }));
  };
  timed("sum", [&] { sum<<<528, 256>>>(x, near, n); });
  timed("sum_by_8_blocks", [&] { sum<<<8, 256>>>(x, near, n); });
  timed("sum_of_32k", [&] { sum<<<32, 256>>>(x, near, 8192); });
  timed("scale", [&] { scale<<<n / 256, 256>>>(x, n); });
  timed("pick_to_near", [&] { pick<<<256, 256>>>(x, where, near, 1 << 16); });
  timed("pick_to_far", [&] { pick<<<256, 256>>>(near, where, out, 1 << 16); });
}
