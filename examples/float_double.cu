// float_double: the same sums in single and double precision, and what a forgotten `f` does.
// Look at the literal 0.1: without the suffix the whole expression is computed in double and only then rounded.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

template <typename Real>
__global__ void harmonic(Real* out, int terms) {
  Real sum = 0;
  for (int k = 1; k <= terms; ++k) sum += Real(1) / Real(k);
  *out = sum;
}

__global__ void literals(float x, float* out) {
  out[0] = x * 0.1f + 0.3f;  // single precision throughout
  out[1] = x * 0.1 + 0.3;    // double precision, rounded once at the end
}

__global__ void granularity(float* f, double* d) {
  f[0] = 16777216.0f;
  f[1] = f[0] + 1.0f;  // lost: floats of this size are two apart
  f[2] = f[0] + 2.0f;
  d[0] = 16777216.0 + 1.0;
  f[3] = 3.402823466e38f * 2.0f;
  f[4] = f[3] - f[3];
  d[1] = 1e-320 / 2.0;  // subnormal numbers are kept
}

int main() {
  const int terms = 20000;
  float *d_f, f[8];
  double *d_d, d[8];
  CHECK(cudaMalloc(&d_f, sizeof f));
  CHECK(cudaMalloc(&d_d, sizeof d));
  harmonic<float><<<1, 1>>>(d_f, terms);
  harmonic<double><<<1, 1>>>(d_d, terms);
  CHECK(cudaMemcpy(f, d_f, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(d, d_d, sizeof(double), cudaMemcpyDeviceToHost));
  float host_float = 0;
  double host_double = 0;
  for (int k = 1; k <= terms; ++k) {
    host_float += 1.0f / (float)k;
    host_double += 1.0 / (double)k;
  }
  std::printf("float  %.9f, the same on the host: %s\n", f[0], f[0] == host_float ? "yes" : "NO");
  std::printf("double %.15f, the same on the host: %s\n", d[0], d[0] == host_double ? "yes" : "NO");
  int failures = f[0] != host_float || d[0] != host_double;

  const float x = 3.3f;
  literals<<<1, 1>>>(x, d_f);
  CHECK(cudaMemcpy(f, d_f, sizeof f, cudaMemcpyDeviceToHost));
  failures += f[0] != std::fma(x, 0.1f, 0.3f) && f[0] != x * 0.1f + 0.3f;
  failures += f[1] != (float)std::fma((double)x, 0.1, 0.3) && f[1] != (float)(x * 0.1 + 0.3);
  std::printf("0.1f gives %.9f, 0.1 gives %.9f\n", f[0], f[1]);

  granularity<<<1, 1>>>(d_f, d_d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(f, d_f, sizeof f, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(d, d_d, sizeof d, cudaMemcpyDeviceToHost));
  failures += f[1] != f[0] || f[2] != f[0] + 2.0f || d[0] != 16777217.0;
  failures += !std::isinf(f[3]) || !std::isnan(f[4]) || d[1] != 1e-320 / 2.0;
  CHECK(cudaFree(d_f));
  CHECK(cudaFree(d_d));
  std::printf("float_double: %s\n", failures ? "FAILED" : "both precisions follow IEEE 754");
  return failures != 0;
}
