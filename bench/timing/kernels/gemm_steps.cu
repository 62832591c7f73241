// Products of matrices, step by step: an element a thread, tiles in shared memory, more elements a thread.
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

__global__ void naive(int M, int N, int K, const float* A, const float* B, float* C) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

__global__ void uncoalesced(int M, int N, int K, const float* A, const float* B, float* C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}

#define TILE 32
__global__ void shared_tiles(int N, const float* A, const float* B, float* C) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = 0; t < N / TILE; t++) {
    As[ty][tx] = A[row * N + t * TILE + tx];
    Bs[ty][tx] = B[(t * TILE + ty) * N + col];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * N + col] = sum;
}

template <int BM, int BN, int BK, int TM>
__global__ void column_of_results(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float As[BM * BK], Bs[BK * BN];
  const int threadCol = threadIdx.x % BN, threadRow = threadIdx.x / BN;
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const int innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK, innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
  float results[TM] = {0.0f};
  for (int bk = 0; bk < K; bk += BK) {
    As[innerRowA * BK + innerColA] = A[innerRowA * K + innerColA];
    Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (int d = 0; d < BK; d++) {
      float b = Bs[d * BN + threadCol];
      for (int i = 0; i < TM; i++) results[i] += As[(threadRow * TM + i) * BK + d] * b;
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; i++) C[(threadRow * TM + i) * N + threadCol] = results[i];
}

__global__ void __launch_bounds__(256) square_of_results(int M, int N, int K, const float* A, const float* B, float* C) {
  const int BM = 64, BN = 64, BK = 16;
  __shared__ float As[BK][BM + 4], Bs[BK][BN];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sums[4][4] = {}, a[4], b[4];
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 256) As[i % BK][i / BK] = A[(blockIdx.y * BM + i / BK) * K + k0 + i % BK];
    for (int i = threadIdx.x; i < BK * BN; i += 256) Bs[i / BN][i % BN] = B[(k0 + i / BN) * N + blockIdx.x * BN + i % BN];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++) {
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = As[k][ty * 4 + i];
#pragma unroll
      for (int j = 0; j < 4; j++) b[j] = Bs[k][tx * 4 + j];
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sums[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) C[(blockIdx.y * BM + ty * 4 + i) * N + blockIdx.x * BN + tx * 4 + j] = sums[i][j];
}

int main() {
  const int n = 768;
  std::vector<float> host(n * n);
  for (int i = 0; i < n * n; ++i) host[i] = i % 19 * 0.1f - 0.9f;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, n * n * 4));
  CHECK(cudaMalloc(&b, n * n * 4));
  CHECK(cudaMalloc(&c, n * n * 4));
  CHECK(cudaMemcpy(a, host.data(), n * n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, host.data(), n * n * 4, cudaMemcpyHostToDevice));
  THRICE naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, n, n, a, b, c);
  for (int round = 0; round < 2; ++round) uncoalesced<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, n, n, a, b, c);
  THRICE shared_tiles<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(n, a, b, c);
  THRICE column_of_results<64, 64, 8, 8><<<dim3(n / 64, n / 64), 512>>>(n, n, n, a, b, c);
  THRICE square_of_results<<<dim3(n / 64, n / 64), 256>>>(n, n, n, a, b, c);
  CHECK(cudaMemcpy(host.data(), c, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
