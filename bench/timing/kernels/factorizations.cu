// Cholesky and LU of small matrices, a triangular solution, Gauss-Jordan of many 8x8, QR by Gram and Schmidt.
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

__global__ void cholesky(float* matrices) {
  __shared__ float a[32][33];
  const int t = threadIdx.x, row = t % 32, first = t / 32;
  float* m = matrices + blockIdx.x * 1024;
  for (int j = first; j < 32; j += 8) a[row][j] = m[row * 32 + j];
  __syncthreads();
  for (int k = 0; k < 32; ++k) {
    if (t == k) a[k][k] = sqrtf(a[k][k]);
    __syncthreads();
    if (first == 0 && row > k) a[row][k] /= a[k][k];
    __syncthreads();
    for (int j = k + 1 + first; j < 32; j += 8)
      if (row >= j) a[row][j] -= a[row][k] * a[j][k];
    __syncthreads();
  }
  for (int j = first; j < 32; j += 8) m[row * 32 + j] = row >= j ? a[row][j] : 0;
}

__global__ void lu_column(float* a, int n, int k) {
  int row = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) a[row * n + k] /= a[k * n + k];
}

__global__ void lu_update(float* a, int n, int k) {
  int column = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, row = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n) a[row * n + column] -= a[row * n + k] * a[k * n + column];
}

__global__ void forward_solution(const float* l, float* b, int n) {
  __shared__ float x;
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x == 0) x = b[k] /= l[k * n + k];
    __syncthreads();
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) b[i] -= l[i * n + k] * x;
    __syncthreads();
  }
}

__global__ void gauss_jordan(float* matrices, int count) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= count) return;
  float a[8][8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) a[i][j] = matrices[(i * 8 + j) * count + id];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    float inverse = 1.0f / a[k][k];
    a[k][k] = 1;
#pragma unroll
    for (int j = 0; j < 8; ++j) a[k][j] *= inverse;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (i != k) {
        float f = a[i][k];
        a[i][k] = 0;
#pragma unroll
        for (int j = 0; j < 8; ++j) a[i][j] -= f * a[k][j];
      }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) matrices[(i * 8 + j) * count + id] = a[i][j];
}

__global__ void gram_schmidt(float* q, int n) {
  __shared__ float partial[4];
  __shared__ float dot;
  for (int k = 0; k < 16; ++k)
    for (int j = 0; j <= k; ++j) {
      float sum = 0;
      for (int i = threadIdx.x; i < n; i += 128) sum += q[j * n + i] * q[k * n + i];
      for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
      if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
      __syncthreads();
      if (threadIdx.x == 0) dot = partial[0] + partial[1] + partial[2] + partial[3];
      __syncthreads();
      float s = j < k ? dot : rsqrtf(dot + 1e-6f);
      for (int i = threadIdx.x; i < n; i += 128) q[k * n + i] = j < k ? q[k * n + i] - s * q[j * n + i] : q[k * n + i] * s;
      __syncthreads();
    }
}

__global__ void fill(float* p, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i % stride == 0 ? 100.0f : i % 7 * 0.1f;
}

int main() {
  const int n = 1 << 20;
  float* a;
  CHECK(cudaMalloc(&a, n * 4));
  fill<<<n / 256, 256>>>(a, n, 33);
  THRICE cholesky<<<256, 256>>>(a);
  fill<<<n / 256, 256>>>(a, n, 513);
  for (int k = 0; k < 3; ++k) {
    lu_column<<<4, 128>>>(a, 512, k);
    lu_update<<<dim3(16, 64), dim3(32, 8)>>>(a, 512, k);
  }
  THRICE forward_solution<<<1, 256>>>(a, a + 512 * 512, 256);
  fill<<<n / 256, 256>>>(a, n, 9);
  THRICE gauss_jordan<<<(1 << 14) / 128, 128>>>(a, 1 << 14);
  THRICE gram_schmidt<<<1, 128>>>(a, 1024);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
