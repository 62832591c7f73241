// build: -rdc=true polynomial.cu
// separate_compilation: device code in two files, linked together.
// Look at the declarations without bodies: a device function, a device variable and a constant table that polynomial.cu
// defines, and a kernel there that is launched from here.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "polynomial.h"

__global__ void evaluate(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = polynomial(x[i]);
    atomicAdd(&evaluations, 1);
  }
}

int main() {
  const int n = 1000;
  float x[n], y[n], squares[n], *d_x, *d_y;
  int count = 0, wrong = 0;
  const float table[kTerms] = {1.0f, -2.0f, 0.5f, 0.25f};
  for (int i = 0; i < n; ++i) x[i] = (i - 500) * 0.125f;

  cudaError_t status = cudaMemcpyToSymbol(coefficients, table, sizeof table);
  if (status == cudaSuccess) status = cudaMalloc(&d_x, sizeof x);
  if (status == cudaSuccess) status = cudaMalloc(&d_y, sizeof y);
  if (status == cudaSuccess) status = cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  if (status == cudaSuccess) {
    evaluate<<<(n + 127) / 128, 128>>>(d_x, d_y, n);
    status = cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost);
  }
  if (status == cudaSuccess) {
    square<<<(n + 127) / 128, 128>>>(d_x, d_y, n);
    status = cudaMemcpy(squares, d_y, sizeof squares, cudaMemcpyDeviceToHost);
  }
  if (status == cudaSuccess) status = cudaMemcpyFromSymbol(&count, evaluations, sizeof count);
  if (status != cudaSuccess) {
    std::printf("separate_compilation: %s\n", cudaGetErrorString(status));
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    double exact = 1.0 - 2.0 * x[i] + 0.5 * x[i] * x[i] + 0.25 * x[i] * x[i] * x[i];
    double error = y[i] - exact;
    wrong += error > 0.05 || error < -0.05 || squares[i] != x[i] * x[i];
  }
  cudaFree(d_x);
  cudaFree(d_y);
  bool ok = wrong == 0 && count == n;
  std::printf("separate_compilation: %d evaluations, %d wrong, %s\n", count, wrong, ok ? "ok" : "FAILED");
  return ok ? 0 : 1;
}
