// Gaussian elimination, two kernels per pivot, then back substitution on the host.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXBLOCKSIZE 512
#define BLOCK_SIZE_XY 4

__global__ void Fan1(float* m_cuda, float* a_cuda, int Size, int t) {
  if (threadIdx.x + blockIdx.x * blockDim.x >= Size - 1 - t) return;
  *(m_cuda + Size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) =
      *(a_cuda + Size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) / *(a_cuda + Size * t + t);
}

__global__ void Fan2(float* m_cuda, float* a_cuda, float* b_cuda, int Size, int t) {
  if (threadIdx.x + blockIdx.x * blockDim.x >= Size - 1 - t) return;
  if (threadIdx.y + blockIdx.y * blockDim.y >= Size - t) return;
  int xidx = blockIdx.x * blockDim.x + threadIdx.x, yidx = blockIdx.y * blockDim.y + threadIdx.y;
  a_cuda[Size * (xidx + 1 + t) + (yidx + t)] -= m_cuda[Size * (xidx + 1 + t) + t] * a_cuda[Size * t + (yidx + t)];
  if (yidx == 0) b_cuda[xidx + 1 + t] -= m_cuda[Size * (xidx + 1 + t) + (yidx + t)] * b_cuda[t];
}

int main() {
  const int Size = 64;
  size_t bytes = Size * Size * sizeof(float);
  float *a = (float*)malloc(bytes), *a0 = (float*)malloc(bytes), *b = (float*)malloc(Size * 4),
        *x = (float*)malloc(Size * 4);
  float *d_a, *d_m, *d_b;
  for (int i = 0; i < Size; i++) {
    for (int j = 0; j < Size; j++) a[i * Size + j] = 10.0f * expf(-0.1f * fabsf((float)(i - j)));
    b[i] = 1.0f;
  }
  memcpy(a0, a, bytes);
  cudaMalloc((void**)&d_a, bytes);
  cudaMalloc((void**)&d_m, bytes);
  cudaMalloc((void**)&d_b, Size * sizeof(float));
  cudaMemset(d_m, 0, bytes);
  cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b, Size * sizeof(float), cudaMemcpyHostToDevice);
  int grid = (Size + MAXBLOCKSIZE - 1) / MAXBLOCKSIZE, grid2 = (Size + BLOCK_SIZE_XY - 1) / BLOCK_SIZE_XY;
  for (int t = 0; t < Size - 1; t++) {
    Fan1<<<grid, MAXBLOCKSIZE>>>(d_m, d_a, Size, t);
    cudaDeviceSynchronize();
    Fan2<<<dim3(grid2, grid2), dim3(BLOCK_SIZE_XY, BLOCK_SIZE_XY)>>>(d_m, d_a, d_b, Size, t);
    cudaDeviceSynchronize();
  }
  cudaMemcpy(a, d_a, bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(b, d_b, Size * sizeof(float), cudaMemcpyDeviceToHost);
  cudaError_t err = cudaGetLastError();
  for (int i = Size - 1; i >= 0; i--) {
    x[i] = b[i];
    for (int j = i + 1; j < Size; j++) x[i] -= a[i * Size + j] * x[j];
    x[i] /= a[i * Size + i];
  }
  double worst = 0;
  for (int i = 0; i < Size; i++) {
    double r = -1.0;
    for (int j = 0; j < Size; j++) r += (double)a0[i * Size + j] * x[j];
    worst = fmax(worst, fabs(r));
  }
  int ok = err == cudaSuccess && worst < 1e-3;
  printf("gaussian: x[0] %.4f, residual %s, %s\n", x[0], worst < 1e-3 ? "small" : "LARGE", ok ? "PASSED" : "FAILED");
  for (float* host : {a, a0, b, x}) free(host);
  return !ok;
}
