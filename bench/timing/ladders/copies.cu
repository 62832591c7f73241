// The two copies of a matrix that J. Cheng, M. Grossman and T. McKercher ("Professional CUDA C Programming", chapter 4) bound transposes with, by
// rows and by columns: 2048 by 2048 floats, blocks of 16 by 16 threads. In percent of what the device's memory could move.
#include <cstdio>

#include "ladder.h"

__global__ void by_rows(float* out, const float* in, int nx, int ny) {
  const unsigned x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
  if (x < nx && y < ny) out[y * nx + x] = in[y * nx + x];
}

__global__ void by_columns(float* out, const float* in, int nx, int ny) {
  const unsigned x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
  if (x < nx && y < ny) out[x * ny + y] = in[x * ny + y];
}

int main() {
  const int n = 2048;
  const double bytes = 2.0 * n * n * sizeof(float);
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  int kilohertz = 0;
  CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, 0));
  const double peak = 2.0 * kilohertz * 1e3 * device.memoryBusWidth / 8;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * n * sizeof(float)));
  CHECK(cudaMalloc(&out, n * n * sizeof(float)));
  CHECK(cudaMemset(in, 0, n * n * sizeof(float)));
  const dim3 block(16, 16), grid(n / 16, n / 16);
  const auto share = [&](double ms) { return 100 * bytes / (ms * 1e-3) / peak; };
  std::printf("by_rows: %.3f %%\n", share(time_of([&] { by_rows<<<grid, block>>>(out, in, n, n); })));
  std::printf("by_columns: %.3f %%\n", share(time_of([&] { by_columns<<<grid, block>>>(out, in, n, n); })));
  return 0;
}
