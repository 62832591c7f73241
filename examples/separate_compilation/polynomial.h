// What main.cu may use of polynomial.cu.
#pragma once

constexpr int kTerms = 4;

extern __constant__ float coefficients[kTerms];
extern __device__ int evaluations;

__device__ float polynomial(float x);
__global__ void square(const float* x, float* y, int n);
