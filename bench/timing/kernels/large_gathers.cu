// Random accesses over 256 MB, a scatter, a large transpose, a histogram of many bins, a permutation.
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

__global__ void gather(const float* in, float* out, unsigned mask, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * 2654435761u & mask];
}

__global__ void scatter(float* out, unsigned mask, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i * 2654435761u & mask] = i;
}

__global__ void gather_lines(const float4* in, float4* out, unsigned mask, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(i / 8 * 2654435761u & mask) * 8 + i % 8];
}

__global__ void many_bins(const unsigned* keys, unsigned* bins, unsigned mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[(keys[i] + i) * 2654435761u & mask], 1u);
}

__global__ void transpose(const float* in, float* out, int nx, int ny) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[size_t(y + j) * nx + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[size_t(y + j) * ny + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
  const size_t count = size_t(1) << 26;
  float *a, *b;
  CHECK(cudaMalloc(&a, count * 4));
  CHECK(cudaMalloc(&b, count * 4));
  CHECK(cudaMemset(a, 0, count * 4));
  CHECK(cudaMemset(b, 0, count * 4));
  const int n = 1 << 21;
  THRICE gather<<<n / 256, 256>>>(a, b, unsigned(count - 1), n);
  THRICE scatter<<<n / 256, 256>>>(a, unsigned(count - 1), n);
  THRICE gather_lines<<<n / 256, 256>>>((float4*)a, (float4*)b, unsigned(count / 32 - 1), n);
  THRICE many_bins<<<n / 2 / 256, 256>>>((unsigned*)a, (unsigned*)b, (1u << 24) - 1, n / 2);
  THRICE transpose<<<dim3(128, 128), dim3(32, 8)>>>(a, b, 4096, 4096);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
