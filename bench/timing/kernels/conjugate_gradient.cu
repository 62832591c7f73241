// Steps of a conjugate gradient solver on a grid: the operator, dot products, updates; red-black relaxation.
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

__global__ void laplacian(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / n, column = i % n;
  if (row >= n) return;
  double v = 4 * x[i];
  if (row > 0) v -= x[i - n];
  if (row < n - 1) v -= x[i + n];
  if (column > 0) v -= x[i - 1];
  if (column < n - 1) v -= x[i + 1];
  y[i] = v;
}

__global__ void dot(const double* a, const double* b, double* out, int n) {
  __shared__ double partial[8];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) sum += partial[w];
    atomicAdd(out, sum);
  }
}

__global__ void update(double* x, double* r, const double* p, const double* ap, const double* rr, const double* pap, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double alpha = *rr / *pap;
  x[i] += alpha * p[i];
  r[i] -= alpha * ap[i];
}

__global__ void direction(double* p, const double* r, const double* next, const double* rr, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = r[i] + *next / *rr * p[i];
}

__global__ void red_black(float* u, const float* f, int n, int colour) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= n - 1 || y >= n - 1 || (x + y) % 2 != colour) return;
  int i = y * n + x;
  u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - f[i]);
}

int main() {
  const int side = 512, n = side * side;
  std::vector<double> ones(n, 1.0);
  double *x, *r, *p, *ap, *scalars;
  CHECK(cudaMalloc(&x, n * 8));
  CHECK(cudaMalloc(&r, n * 8));
  CHECK(cudaMalloc(&p, n * 8));
  CHECK(cudaMalloc(&ap, n * 8));
  CHECK(cudaMalloc(&scalars, 16 * 8));
  CHECK(cudaMemset(x, 0, n * 8));
  CHECK(cudaMemset(scalars, 0, 16 * 8));
  CHECK(cudaMemcpy(r, ones.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(p, ones.data(), n * 8, cudaMemcpyHostToDevice));
  dot<<<264, 256>>>(r, r, scalars, n);
  THRICE {
    laplacian<<<n / 256, 256>>>(p, ap, side);
    dot<<<264, 256>>>(p, ap, scalars + 4 + round, n);
    update<<<n / 256, 256>>>(x, r, p, ap, scalars + round, scalars + 4 + round, n);
    dot<<<264, 256>>>(r, r, scalars + 1 + round, n);
    direction<<<n / 256, 256>>>(p, r, scalars + 1 + round, scalars + round, n);
  }
  THRICE {
    red_black<<<dim3(16, 64), dim3(32, 8)>>>((float*)x, (float*)r, 512, 0);
    red_black<<<dim3(16, 64), dim3(32, 8)>>>((float*)x, (float*)r, 512, 1);
  }
  double one;
  CHECK(cudaMemcpy(&one, scalars + 2, 8, cudaMemcpyDeviceToHost));
  std::printf("%g\n", one);
  return 0;
}
