// Variables that only the compiler sees: they live in registers. Every case of this file shows the same mistakes.
#include "cases.h"

__global__ void sum(const float* in, float* out, int n) {
  float total;
  for (int k = 0; k < n; ++k) total += in[k];  // expect register_variable uninitialized_variable
  *out = total;
}
__global__ void fine(const float* in, float* out, int n) {
  float total = 0;
  for (int k = 0; k < n; ++k) total += in[k];
  *out = total;
}

CASE(register_variable) {
  float* p;
  cudaMalloc(&p, 256);
  cudaMemset(p, 0, 256);
  sum<<<1, 1>>>(p, p + 32, 32);
  fine<<<1, 1>>>(p, p + 32, 32);
  cudaDeviceSynchronize();
  cudaFree(p);
}
