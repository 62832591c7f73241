// Work in doubles: a matrix product, functions, polynomials, Kahan sums.
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

__global__ void product(const double* a, const double* b, double* c, int n) {
  __shared__ double sa[16][16], sb[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; k += 16) {
    sa[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void functions(const double* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sin(in[i]) * exp(-in[i]) + log(in[i] + 2.0) / sqrt(in[i] + 1.0);
}

__global__ void polynomial(const double* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i], v = 0.1;
#pragma unroll
  for (int k = 0; k < 32; ++k) v = v * x + 0.01 * k;
  out[i] = v;
}

__global__ void kahan(const double* in, double* out, int each) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0, lost = 0;
  for (int k = 0; k < each; ++k) {
    double y = in[k * gridDim.x * blockDim.x + i] - lost, t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  out[i] = sum;
}

int main() {
  const int n = 1 << 19;
  std::vector<double> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 1000 * 0.003;
  double *a, *b, *c;
  CHECK(cudaMalloc(&a, n * 8));
  CHECK(cudaMalloc(&b, n * 8));
  CHECK(cudaMalloc(&c, n * 8));
  CHECK(cudaMemcpy(a, host.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, host.data(), n * 8, cudaMemcpyHostToDevice));
  THRICE product<<<dim3(16, 16), dim3(16, 16)>>>(a, b, c, 256);
  THRICE functions<<<(1 << 17) / 128, 128>>>(a, c, 1 << 17);
  THRICE polynomial<<<n / 256, 256>>>(a, c, n);
  THRICE kahan<<<64, 256>>>(a, c, 32);
  CHECK(cudaMemcpy(host.data(), c, 8, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[0]);
  return 0;
}
