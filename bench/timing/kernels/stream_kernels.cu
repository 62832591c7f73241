// The four kernels of STREAM in double precision: copy, scale, add, triad.
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

__global__ void copy(double* c, const double* a, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i];
}

__global__ void scale(double* b, const double* c, double s, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) b[i] = s * c[i];
}

__global__ void add(double* c, const double* a, const double* b, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void triad(double* a, const double* b, const double* c, double s, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + s * c[i];
}

__global__ void fill(double* a, double* b, double* c, size_t n) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    a[i] = 1.0;
    b[i] = 2.0;
    c[i] = 0.0;
  }
}

int main() {
  double *a, *b, *c;
  const size_t largest = 3 << 20;
  CHECK(cudaMalloc(&a, largest * sizeof(double)));
  CHECK(cudaMalloc(&b, largest * sizeof(double)));
  CHECK(cudaMalloc(&c, largest * sizeof(double)));
  fill<<<1024, 256>>>(a, b, c, largest);
  for (size_t n : {size_t(1) << 17, size_t(1) << 20, largest}) {
    const unsigned blocks = unsigned((n + 1023) / 1024);
    THRICE copy<<<blocks, 1024>>>(c, a, n);
    THRICE scale<<<blocks, 1024>>>(b, c, 3.0, n);
    THRICE add<<<blocks, 1024>>>(c, a, b, n);
    THRICE triad<<<blocks, 1024>>>(a, b, c, 3.0, n);
  }
  double first;
  CHECK(cudaMemcpy(&first, a, sizeof first, cudaMemcpyDeviceToHost));
  std::printf("%f\n", first);
  return 0;
}
