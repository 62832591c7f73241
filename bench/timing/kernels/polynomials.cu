// Polynomials and series: Horner, Estrin, Chebyshev, splines by table, roots by Newton and by bisection.
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

__constant__ float coefficients[64];

__global__ void horner(const float* x, float* y, int n, int degree) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], sum = 0;
  for (int k = degree; k >= 0; --k) sum = sum * v + coefficients[k];
  y[i] = sum;
}

__global__ void estrin(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 q = x[i];
  float v[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    float a = v[j], a2 = a * a, a4 = a2 * a2, a8 = a4 * a4;
    float p0 = (0.1f + 0.2f * a) + (0.3f + 0.4f * a) * a2, p1 = (0.5f + 0.6f * a) + (0.7f + 0.8f * a) * a2;
    float p2 = (0.9f + 1.0f * a) + (1.1f + 1.2f * a) * a2, p3 = (1.3f + 1.4f * a) + (1.5f + 1.6f * a) * a2;
    v[j] = (p0 + p1 * a4) + (p2 + p3 * a4) * a8;
  }
  y[i] = make_float4(v[0], v[1], v[2], v[3]);
}

__global__ void chebyshev(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], a = 1, b = v, sum = coefficients[0] + coefficients[1] * v;
#pragma unroll 8
  for (int k = 2; k < 34; ++k) {
    float c = 2 * v * b - a;
    sum += coefficients[k] * c;
    a = b;
    b = c;
  }
  y[i] = sum;
}

__global__ void spline(const float4* table, const float* x, float* y, int n, int pieces) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i] * pieces;
  int piece = min(int(v), pieces - 1);
  float f = v - piece;
  float4 c = __ldg(&table[piece]);
  y[i] = ((c.w * f + c.z) * f + c.y) * f + c.x;
}

__global__ void newton(const double* start, double* root, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = 1.0 + start[i];
  for (int k = 0; k < 50; ++k) {
    double f = x * x * x - 2 * x - 5, step = f / (3 * x * x - 2);
    x -= step;
    if (fabs(step) < 1e-12) break;
  }
  root[i] = x;
}

__global__ void bisection(const float* target, float* root, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float low = 0, high = 4, t = target[i];
  for (int k = 0; k < 40 && high - low > 1e-6f; ++k) {
    float middle = 0.5f * (low + high);
    if (middle * middle * middle + middle < t) low = middle;
    else high = middle;
  }
  root[i] = low;
}

int main() {
  const int n = 1 << 19;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 1024 / 1024.0f;
  float *x, *y;
  CHECK(cudaMalloc(&x, n * 4));
  CHECK(cudaMalloc(&y, n * 4));
  CHECK(cudaMemcpy(x, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(coefficients, host.data(), 256));
  THRICE horner<<<n / 256, 256>>>(x, y, n, 24);
  THRICE estrin<<<n / 4 / 128, 128>>>((float4*)x, (float4*)y, n / 4);
  THRICE chebyshev<<<n / 256, 256>>>(x, y, n);
  THRICE spline<<<n / 512, 512>>>((float4*)y, x, y + n / 2, n / 2, 4096);
  THRICE newton<<<(1 << 15) / 64, 64>>>((double*)x, (double*)y, 1 << 15);
  THRICE bisection<<<(1 << 16) / 128, 128>>>(x, y, 1 << 16);
  CHECK(cudaMemcpy(host.data(), y, 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[0]);
  return 0;
}
