// Eigenvalues of a symmetric tridiagonal matrix by Sturm-count bisection; a Sobol sequence; Newton roots.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__device__ int count_below(const double* d, const double* e2, int n, double x) {
  int count = 0;
  double q = 1.0;
  for (int i = 0; i < n; i++) {
    q = d[i] - x - (i ? e2[i - 1] / q : 0.0);
    if (fabs(q) < 1e-300) q = -1e-300;
    if (q < 0) count++;
  }
  return count;
}

__global__ void bisect(const double* d, const double* e2, int n, double lo, double hi, double* out) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  double a = lo, b = hi;
  while (b - a > 1e-13 * fmax(fabs(a), fabs(b)) + 1e-14) {
    double m = 0.5 * (a + b);
    if (m == a || m == b) break;
    if (count_below(d, e2, n, m) > k)
      b = m;
    else
      a = m;
  }
  out[k] = 0.5 * (a + b);
}

// The first dimension of a Sobol sequence is the bit-reversed Gray code; skipping ahead needs no state.
__global__ void sobol(float* out, const unsigned* directions, int n) {
  __shared__ unsigned v[32];
  if (threadIdx.x < 32) v[threadIdx.x] = directions[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned g = i ^ (i >> 1), x = 0;
    for (int k = 0; k < 31 - __clz(n); k++)
      if ((g >> k) & 1) x ^= v[k];
    out[i] = (float)x * 2.3283064365386963e-10f;
  }
}

__global__ void newton(const double* a, double* root, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = a[i] > 1 ? a[i] : 1.0, last;
  int guard = 0;
  do {
    last = x;
    x = x - (x * x * x - a[i]) / (3 * x * x);
  } while (fabs(x - last) > 1e-14 * x && ++guard < 200);
  root[i] = x;
}

int main() {
  const int n = 100;
  std::vector<double> d(n, 2.0), e2(n, 1.0), eig(n);
  double *dd, *de, *dout;
  CHECK(cudaMalloc(&dd, n * 8));
  CHECK(cudaMalloc(&de, n * 8));
  CHECK(cudaMalloc(&dout, n * 8));
  CHECK(cudaMemcpy(dd, d.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(de, e2.data(), n * 8, cudaMemcpyHostToDevice));
  bisect<<<4, 32>>>(dd, de, n, -1.0, 5.0, dout);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(eig.data(), dout, n * 8, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int k = 0; k < n; k++) bad += !(fabs(eig[k] - (2 - 2 * cos((k + 1) * M_PI / (n + 1)))) < 1e-10);
  printf("smallest eigenvalue %.9f, %d wrong\n", eig[0], bad);

  const int m = 1024;
  unsigned v[32], *dv;
  for (int k = 0; k < 32; k++) v[k] = 1u << (31 - k);
  std::vector<float> p(m);
  float* dp;
  CHECK(cudaMalloc(&dv, sizeof v));
  CHECK(cudaMalloc(&dp, m * 4));
  CHECK(cudaMemcpy(dv, v, sizeof v, cudaMemcpyHostToDevice));
  sobol<<<4, 64>>>(dp, dv, m);
  CHECK(cudaMemcpy(p.data(), dp, m * 4, cudaMemcpyDeviceToHost));
  std::vector<int> strata(m, 0);
  for (float x : p) {
    if (x >= 0 && x < 1)
      strata[(int)(x * m)]++;
    else
      bad++;
  }
  for (int c : strata) bad += c != 1;  // every stratum is hit exactly once
  bad += p[0] != 0.0f || p[1] != 0.5f || p[2] != 0.75f || p[3] != 0.25f;

  std::vector<double> a(n), root(n);
  for (int i = 0; i < n; i++) a[i] = 0.001 * (i + 1) * (i + 1) * (i + 1);
  CHECK(cudaMemcpy(dd, a.data(), n * 8, cudaMemcpyHostToDevice));
  newton<<<4, 32>>>(dd, dout, n);
  CHECK(cudaMemcpy(root.data(), dout, n * 8, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += !(fabs(root[i] - 0.1 * (i + 1)) < 1e-12 * (i + 1));
  printf("bisect_sobol: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
