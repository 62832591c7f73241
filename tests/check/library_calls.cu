// Mistakes in what libraries of the toolkit are given are told at the program's call. An argument picks the case.
// build: -lcublas
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
