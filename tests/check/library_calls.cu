// Mistakes in what libraries of the toolkit are given are told at the program's call. An argument picks the case.
// options: -lcublas
#include <cublas_v2.h>

#include "cases.h"

__global__ void fill(float* p, float v) { p[threadIdx.x] = v; }

static void scale(bool waits) {
  float* p;
  cudaMalloc(&p, 128 * sizeof(float));
  cudaStream_t fills, scales;
  cudaStreamCreate(&fills);
  cudaStreamCreate(&scales);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetStream(handle, scales);
  fill<<<1, 128, 0, fills>>>(p, 3);
  if (waits) cudaStreamSynchronize(fills);
  const float two = 2;
  cublasSscal(handle, 128, &two, p, 1);  // expect scaled_while_filled race_streams
  cudaDeviceSynchronize();
  cublasDestroy(handle);
  cudaStreamDestroy(fills);
  cudaStreamDestroy(scales);
  cudaFree(p);
}
CASE(scaled_while_filled) { scale(false); }
CASE(scaled_when_filled) { scale(true); }

static void multiply(int rows, bool freed) {
  constexpr int n = 64;
  float *a, *b, *c;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * n * sizeof(float));
  cudaMalloc(&c, n * n * sizeof(float));
  cudaMemset(a, 0, n * n * sizeof(float));
  cudaMemset(b, 0, n * n * sizeof(float));
  if (freed) cudaFree(b);
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, rows, &one, a, n, b, rows, &zero, c, n);  // expect beyond_a_matrix out_of_bounds; expect of_a_freed_matrix use_after_free
  cudaDeviceSynchronize();
  cublasDestroy(handle);
  cudaFree(a);
  if (!freed) cudaFree(b);
  cudaFree(c);
}
CASE(beyond_a_matrix) { multiply(65, false); }
CASE(of_a_freed_matrix) { multiply(64, true); }
CASE(of_its_size) { multiply(64, false); }
