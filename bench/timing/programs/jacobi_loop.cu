// A solver on the host: sweeps on the device, a residual that comes back every few, until it says stop.
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

__global__ void sweep(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}
__global__ void residual(const float* a, const float* b, float* sum, int count) {
  float mine = 0;
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) mine += (a[at] - b[at]) * (a[at] - b[at]);
  for (int step = 16; step; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

int main() {
  for (int n : {256, 1024}) {
    float *a, *b, *sum;
    CHECK(cudaMalloc(&a, n * n * 4));
    CHECK(cudaMalloc(&b, n * n * 4));
    CHECK(cudaMalloc(&sum, 4));
    std::vector<float> start(n * n, 0.0f);
    std::fill_n(start.begin(), n, 1.0f);
    const dim3 blocks(n / 32, n / 8), threads(32, 8);
    const auto solve = [&](int every) {
      CHECK(cudaMemcpy(a, start.data(), n * n * 4, cudaMemcpyHostToDevice));
      CHECK(cudaMemcpy(b, start.data(), n * n * 4, cudaMemcpyHostToDevice));
      for (int k = 0; k < 40; ++k) {
        sweep<<<blocks, threads>>>(a, b, n);
        std::swap(a, b);
        if ((k + 1) % every) continue;
        float back;
        CHECK(cudaMemset(sum, 0, 4));
        residual<<<132, 256>>>(a, b, sum, n * n);
        CHECK(cudaMemcpy(&back, sum, 4, cudaMemcpyDeviceToHost));
        if (back < 0) break;
      }
      CHECK(cudaDeviceSynchronize());
    };
    solve(1);
    for (int every : {1, 5, 40}) std::printf("solve_%d_every_%d: %.3f us\n", n, every, time_us(3, [&] { solve(every); }));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(sum));
  }
}
