// Matrix products: naive in both orders of the indices, tiles of 16 and 32 in shared memory.
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

__global__ void naive(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

__global__ void naive_uncoalesced(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

template <int Tile>
__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[Tile][Tile], sb[Tile][Tile];
  int row = blockIdx.y * Tile + threadIdx.y, column = blockIdx.x * Tile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += Tile) {
    sa[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < Tile; ++i) sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

int main() {
  const int n = 256;
  std::vector<float> host(n * n);
  for (int i = 0; i < n * n; ++i) host[i] = i % 17 * 0.125f;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, n * n * sizeof(float)));
  CHECK(cudaMalloc(&b, n * n * sizeof(float)));
  CHECK(cudaMalloc(&c, n * n * sizeof(float)));
  CHECK(cudaMemcpy(a, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  const dim3 sixteen(16, 16), thirty_two(32, 32);
  THRICE naive<<<dim3(n / 16, n / 16), sixteen>>>(a, b, c, n);
  THRICE naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, c, n);
  THRICE naive_uncoalesced<<<dim3(n / 16, n / 16), sixteen>>>(a, b, c, n);
  THRICE tiled<16><<<dim3(n / 16, n / 16), sixteen>>>(a, b, c, n);
  THRICE tiled<32><<<dim3(n / 32, n / 32), thirty_two>>>(a, b, c, n);
  CHECK(cudaMemcpy(host.data(), c, n * n * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[1234]);
  return 0;
}
