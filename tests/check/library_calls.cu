// Mistakes in what libraries of the toolkit are given are told at the program's call. An argument picks the case.
// options: -lcublas -lcufft
#include <cublas_v2.h>
#include <cufft.h>

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

// In place the spectrum of real numbers needs room for two more of them; between the end and the next piece of memory is nothing else.
static void transform(int room, bool set) {
  const int n = 60;
  float* p;
  cudaMalloc(&p, room * sizeof(float));
  if (set) cudaMemset(p, 0, room * sizeof(float));
  cufftHandle plan;
  cufftPlan1d(&plan, n, CUFFT_R2C, 1);
  cufftExecR2C(plan, p, reinterpret_cast<cufftComplex*>(p));  // expect spectrum_too_long out_of_bounds; expect spectrum_of_nothing uninitialized_copy
  cudaDeviceSynchronize();
  cufftDestroy(plan);
  cudaFree(p);
}
CASE(spectrum_too_long) { transform(60, true); }
CASE(spectrum_of_nothing) { transform(62, false); }
CASE(spectrum_in_its_room) { transform(62, true); }
