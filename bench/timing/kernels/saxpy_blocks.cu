// One saxpy with blocks of 32 to 1024 threads.
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

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 1 << 20;
  float *x, *y;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  CHECK(cudaMemset(x, 0, n * sizeof(float)));
  CHECK(cudaMemset(y, 0, n * sizeof(float)));
  for (int threads = 32; threads <= 1024; threads *= 2) THRICE saxpy<<<(n + threads - 1) / threads, threads>>>(n, 2.0f, x, y);
  THRICE saxpy<<<(n + 191) / 192, 192>>>(n, 2.0f, x, y);
  THRICE saxpy<<<(n + 767) / 768, 768>>>(n, 2.0f, x, y);
  float first;
  CHECK(cudaMemcpy(&first, y, sizeof first, cudaMemcpyDeviceToHost));
  std::printf("%f\n", first);
  return 0;
}
