// Hundreds of megabytes again: a matrix transposed badly, columns summed, rows interleaved, a triad, strided writes, a stencil.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

__global__ void transpose(const float* in, float* out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[size_t(x) * ny + y] = in[size_t(y) * nx + x];
}

__global__ void column_sums(const float* in, float* out, int nx, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int y = blockIdx.y * rows; y < (blockIdx.y + 1) * rows; ++y) sum += in[size_t(y) * nx + x];
  atomicAdd(&out[x], sum);
}

__global__ void row_sums(const float* in, float* out, int nx) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int x = 0; x < nx; ++x) sum += in[size_t(y) * nx + x];
  out[y] = sum;
}

__global__ void interleave(const float2* a, const float2* b, float4* out, size_t n) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    float2 x = a[i], y = b[i];
    out[i] = make_float4(x.x, y.x, x.y, y.y);
  }
}

__global__ void strided_writes(float* out, size_t n, int stride) {
  size_t i = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * stride;
  if (i < n) out[i] = 1;
}

__global__ void five_points(const float4* in, float4* out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < 1 || y >= ny - 1) return;
  const float* row = (const float*)(in + size_t(y) * nx);
  float4 c = in[size_t(y) * nx + x], u = in[size_t(y - 1) * nx + x], d = in[size_t(y + 1) * nx + x];
  float left = x ? row[4 * x - 1] : 0, right = x < nx - 1 ? row[4 * x + 4] : 0;
  out[size_t(y) * nx + x] = make_float4(0.2f * (c.x + left + c.y + u.x + d.x), 0.2f * (c.y + c.x + c.z + u.y + d.y),
                                        0.2f * (c.z + c.y + c.w + u.z + d.z), 0.2f * (c.w + c.z + right + u.w + d.w));
}

int main() {
  const size_t n = size_t(40) << 20;
  float *a, *b;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMemset(a, 0, n * 4));
  CHECK(cudaMemset(b, 0, n * 4));
  THRICE transpose<<<dim3(3072 / 32, 3072 / 8), dim3(32, 8)>>>(a, b, 3072, 3072);
  THRICE column_sums<<<dim3(4096 / 256, 32), 256>>>(a, b, 4096, 128);
  THRICE row_sums<<<4096 / 64, 64>>>(a, b, 2048);
  THRICE interleave<<<1056, 256>>>((float2*)a, (float2*)a + n / 4, (float4*)b, n / 4);
  THRICE strided_writes<<<unsigned(n / 16 / 256), 256>>>(b, n, 16);
  THRICE five_points<<<dim3(2048 / 4 / 64, 8192 / 4), dim3(64, 4)>>>((float4*)a, (float4*)b, 2048 / 4, 8192);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
