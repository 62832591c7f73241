// Cholesky, Householder QR, Jacobi eigenvalues, Thomas and parallel cyclic reduction, power iteration, red-black SOR,
// matrix inverse by Gauss-Jordan with pivoting in shared memory.
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

#define N 48

__global__ void cholesky(double* a) {  // one block, in place, lower triangle
  int t = threadIdx.x;
  for (int k = 0; k < N; k++) {
    if (t == 0) a[k * N + k] = sqrt(a[k * N + k]);
    __syncthreads();
    if (t > k && t < N) a[t * N + k] /= a[k * N + k];
    __syncthreads();
    if (t > k && t < N)
      for (int j = k + 1; j <= t; j++) a[t * N + j] -= a[t * N + k] * a[j * N + k];
    __syncthreads();
  }
}

__global__ void householder(double* a, double* q) {
  __shared__ double v[N], red[64], scale;
  int t = threadIdx.x;
  for (int j = 0; j < N; j++)
    if (t < N) q[t * N + j] = t == j;
  __syncthreads();
  for (int k = 0; k < N - 1; k++) {
    red[t] = t >= k && t < N ? a[t * N + k] * a[t * N + k] : 0;
    __syncthreads();
    for (int s = 32; s; s >>= 1) {
      if (t < s) red[t] += red[t + s];
      __syncthreads();
    }
    double norm = sqrt(red[0]), head = a[k * N + k], alpha = head > 0 ? -norm : norm;
    if (t < N) v[t] = t < k ? 0 : t == k ? head - alpha : a[t * N + k];
    if (t == 0) scale = norm == 0 ? 0 : 2.0 / (2 * norm * norm - 2 * alpha * head);
    __syncthreads();
    if (t < N) {
      double s = 0, r = 0;
      for (int i = k; i < N; i++) s += v[i] * a[i * N + t], r += v[i] * q[t * N + i];
      for (int i = k; i < N; i++) a[i * N + t] -= scale * s * v[i], q[t * N + i] -= scale * r * v[i];
    }
    __syncthreads();
  }
}

__global__ void gauss_jordan(const double* in, double* out) {
  extern __shared__ double m[];  // N rows of 2N
  __shared__ int pivot;
  int t = threadIdx.x;
  for (int i = t; i < N * N; i += blockDim.x)
    m[i / N * 2 * N + i % N] = in[i], m[i / N * 2 * N + N + i % N] = i / N == i % N;
  __syncthreads();
  for (int k = 0; k < N; k++) {
    if (t == 0) {
      pivot = k;
      for (int i = k + 1; i < N; i++)
        if (fabs(m[i * 2 * N + k]) > fabs(m[pivot * 2 * N + k])) pivot = i;
    }
    __syncthreads();
    double inv = 1.0 / m[pivot * 2 * N + k];
    __syncthreads();
    if (t < 2 * N) {
      double x = m[k * 2 * N + t];
      m[k * 2 * N + t] = m[pivot * 2 * N + t] * inv;
      if (pivot != k) m[pivot * 2 * N + t] = x;
    }
    __syncthreads();
    for (int i = 0; i < N; i++) {
      double f = m[i * 2 * N + k];
      __syncthreads();
      if (i != k && t < 2 * N) m[i * 2 * N + t] -= f * m[k * 2 * N + t];
      __syncthreads();
    }
  }
  for (int i = t; i < N * N; i += blockDim.x) out[i] = m[i / N * 2 * N + N + i % N];
}

__global__ void pcr(const float* a, const float* b, const float* c, const float* d, float* x,
                    int n) {  // parallel cyclic reduction
  extern __shared__ float sh[];
  float *sa = sh, *sb = sa + n, *sc = sb + n, *sd = sc + n;
  int i = threadIdx.x;
  sa[i] = a[i], sb[i] = b[i], sc[i] = c[i], sd[i] = d[i];
  __syncthreads();
  for (int s = 1; s < n; s *= 2) {
    int l = i - s, r = i + s;
    float k1 = l >= 0 ? sa[i] / sb[l] : 0, k2 = r < n ? sc[i] / sb[r] : 0;
    float nb = sb[i] - (l >= 0 ? sc[l] * k1 : 0) - (r < n ? sa[r] * k2 : 0);
    float nd = sd[i] - (l >= 0 ? sd[l] * k1 : 0) - (r < n ? sd[r] * k2 : 0);
    float na = l >= 0 ? -sa[l] * k1 : 0, nc = r < n ? -sc[r] * k2 : 0;
    __syncthreads();
    sa[i] = na, sb[i] = nb, sc[i] = nc, sd[i] = nd;
    __syncthreads();
  }
  x[i] = sd[i] / sb[i];
}

__global__ void sor(float* u, const float* f, int n, int colour, float omega, float h2) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= n - 1 || y >= n - 1 || (x + y) % 2 != colour) return;
  float g = 0.25f * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x] - h2 * f[y * n + x]);
  u[y * n + x] += omega * (g - u[y * n + x]);
}

__global__ void power_step(const double* a, const double* x, double* y, double* norm2) {
  int i = threadIdx.x;
  double s = 0;
  for (int j = 0; j < N; j++) s += a[i * N + j] * x[j];
  y[i] = s;
  atomicAdd(norm2, s * s);
}
__global__ void normalize(double* x, const double* y, const double* norm2) {
  x[threadIdx.x] = y[threadIdx.x] / sqrt(*norm2);
}

static double* up(const std::vector<double>& v) {
  double* d;
  CHECK(cudaMalloc(&d, v.size() * 8));
  CHECK(cudaMemcpy(d, v.data(), v.size() * 8, cudaMemcpyHostToDevice));
  return d;
}
static std::vector<double> down(const double* d, int n) {
  std::vector<double> v(n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(v.data(), d, n * 8, cudaMemcpyDeviceToHost));
  return v;
}
static int failures = 0;
static void report(const char* name, double error, double limit) {
  bool ok = error <= limit;
  printf("%-12s %s\n", name, ok ? "ok" : "WRONG");
  failures += !ok;
}

int main() {
  std::vector<double> A(N * N), G(N * N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i * N + j] = 1.0 / (1 + abs(i - j)) + (i == j ? 2.0 : 0), G[i * N + j] = sin(1.0 + i * 3.7 + j * j * 0.9);
  double *d_a = up(A), *d_g = up(G), *d_q = up(A), e = 0;
  cholesky<<<1, 64>>>(d_a);
  auto L = down(d_a, N * N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      double s = 0;
      for (int k = 0; k <= j; k++) s += L[i * N + k] * L[j * N + k];
      e = fmax(e, fabs(s - A[i * N + j]));
    }
  report("cholesky", e, 1e-12);

  householder<<<1, 64>>>(d_g, d_q);
  auto R = down(d_g, N * N), Q = down(d_q, N * N);
  e = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double s = 0, o = 0;
      for (int k = 0; k < N; k++) s += Q[i * N + k] * R[k * N + j], o += Q[i * N + k] * Q[j * N + k];
      e = fmax(e, fmax(fabs(s - G[i * N + j]), fabs(o - (i == j))));
      if (i > j) e = fmax(e, fabs(R[i * N + j]));
    }
  report("householder", e, 1e-11);

  double *d_in = up(G), *d_inv = up(G);
  gauss_jordan<<<1, 128, 2 * N * N * sizeof(double)>>>(d_in, d_inv);
  auto I = down(d_inv, N * N);
  e = 0;
  double largest = 0;
  for (double v : I) largest = fmax(largest, fabs(v));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double s = 0;
      for (int k = 0; k < N; k++) s += G[i * N + k] * I[k * N + j];
      e = fmax(e, fabs(s - (i == j)));
    }
  report("inverse", e, 1e-10 * fmax(1.0, largest));

  const int n = 256;
  std::vector<float> t[4], x(n);
  float *d[4], *dx;
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < n; i++)
      t[k].push_back(k == 0   ? (i ? -1.0f - 0.001f * i : 0)
                     : k == 1 ? 4.0f
                     : k == 2 ? (i < n - 1 ? -1.2f : 0)
                              : sinf(i * 0.1f));
    CHECK(cudaMalloc(&d[k], n * 4));
    CHECK(cudaMemcpy(d[k], t[k].data(), n * 4, cudaMemcpyHostToDevice));
  }
  CHECK(cudaMalloc(&dx, n * 4));
  pcr<<<1, n, 4 * n * 4>>>(d[0], d[1], d[2], d[3], dx, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(x.data(), dx, n * 4, cudaMemcpyDeviceToHost));
  e = 0;
  for (int i = 0; i < n; i++)
    e = fmax(
        e, fabs((i ? t[0][i] * x[i - 1] : 0.0f) + t[1][i] * x[i] + (i < n - 1 ? t[2][i] * x[i + 1] : 0.0f) - t[3][i]));
  report("tridiagonal", e, 1e-5);

  const int m = 33;
  std::vector<float> u(m * m, 0.0f), f(m * m, 0.0f);
  float *du, *df, h2 = 1.0f / ((m - 1) * (m - 1));
  for (int i = 0; i < m * m; i++)
    f[i] = -2 * (float)(M_PI * M_PI) * sinf((float)M_PI * (i % m) / (m - 1)) * sinf((float)M_PI * (i / m) / (m - 1));
  CHECK(cudaMalloc(&du, m * m * 4));
  CHECK(cudaMalloc(&df, m * m * 4));
  CHECK(cudaMemcpy(du, u.data(), m * m * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(df, f.data(), m * m * 4, cudaMemcpyHostToDevice));
  for (int it = 0; it < 150; it++)
    for (int colour = 0; colour < 2; colour++) sor<<<dim3(2, 4), dim3(16, 8)>>>(du, df, m, colour, 1.8f, h2);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(u.data(), du, m * m * 4, cudaMemcpyDeviceToHost));
  e = 0;
  for (int i = 0; i < m * m; i++)
    e = fmax(e, fabs(u[i] - sin(M_PI * (i % m) / (m - 1)) * sin(M_PI * (i / m) / (m - 1))));
  report("poisson", e, 2e-3);

  double *d_x = up(std::vector<double>(N, 1.0)), *d_y = up(std::vector<double>(N)),
         *d_n = up(std::vector<double>(1, 0.0)), *d_s = up(A);
  for (int it = 0; it < 300; it++) {
    CHECK(cudaMemset(d_n, 0, 8));
    power_step<<<1, N>>>(d_s, d_x, d_y, d_n);
    normalize<<<1, N>>>(d_x, d_y, d_n);
  }
  auto X = down(d_x, N);
  double lambda = sqrt(down(d_n, 1)[0]);
  e = 0;
  for (int i = 0; i < N; i++) {
    double s = 0;
    for (int j = 0; j < N; j++) s += A[i * N + j] * X[j];
    e = fmax(e, fabs(s - lambda * X[i]));
  }
  report("power", e, 1e-6);
  printf("dense_solvers: largest eigenvalue %.6f, %s\n", lambda, failures ? "FAILED" : "PASSED");
  return failures != 0;
}
