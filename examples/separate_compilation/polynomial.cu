// Device code that other files link against: see main.cu.
#include "polynomial.h"

__constant__ float coefficients[kTerms];
__device__ int evaluations = 0;

__device__ float polynomial(float x) {
  float sum = 0.0f;
  for (int k = kTerms - 1; k >= 0; --k) sum = sum * x + coefficients[k];
  return sum;
}

__global__ void square(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}
