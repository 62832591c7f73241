// Jacobi 1-D and 2-D, a 2-D finite-difference time-domain step and 2-D and 3-D convolutions.
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

#define N 64
#define STEPS 10

__global__ void jacobi2d(const double* A, double* B) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1)
    B[i * N + j] = 0.2 * (A[i * N + j] + A[i * N + j - 1] + A[i * N + 1 + j] + A[(1 + i) * N + j] + A[(i - 1) * N + j]);
}
__global__ void fdtd_e(double* ex, double* ey, const double* hz, int t) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N && j < N) {
    if (i == 0)
      ey[j] = t;
    else
      ey[i * N + j] -= 0.5 * (hz[i * N + j] - hz[(i - 1) * N + j]);
    if (j > 0) ex[i * N + j] -= 0.5 * (hz[i * N + j] - hz[i * N + j - 1]);
  }
}
__global__ void fdtd_h(const double* ex, const double* ey, double* hz) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N - 1 && j < N - 1)
    hz[i * N + j] -= 0.7 * (ex[i * N + j + 1] - ex[i * N + j] + ey[(i + 1) * N + j] - ey[i * N + j]);
}
#define D 24
__global__ void conv3d(const float* A, float* B) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
      i = blockIdx.z * blockDim.z + threadIdx.z;
  if (i < 1 || j < 1 || k < 1 || i >= D - 1 || j >= D - 1 || k >= D - 1) return;
  float sum = 0;
  for (int a = -1; a <= 1; a++)
    for (int b = -1; b <= 1; b++)
      for (int c = -1; c <= 1; c++) sum += (a * 9 + b * 3 + c + 14) * A[((i + a) * D + j + b) * D + k + c];
  B[(i * D + j) * D + k] = sum;
}

static double* up(const std::vector<double>& v) {
  double* d;
  CHECK(cudaMalloc(&d, v.size() * 8));
  CHECK(cudaMemcpy(d, v.data(), v.size() * 8, cudaMemcpyHostToDevice));
  return d;
}
static int compare(const char* name, const double* d, const std::vector<double>& want) {
  std::vector<double> got(want.size());
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), d, got.size() * 8, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (size_t i = 0; i < want.size(); i++) bad += !(fabs(got[i] - want[i]) <= 1e-9 * (1 + fabs(want[i])));
  printf("%-10s middle %.6f, %d wrong\n", name, got[N / 2 * N + N / 2], bad);
  return bad;
}

int main() {
  std::vector<double> A(N * N), B(N * N), ex(N * N), ey(N * N), hz(N * N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i * N + j] = B[i * N + j] = (double)i * (j + 2) / N;
      ex[i * N + j] = (double)i * (j + 1) / N, ey[i * N + j] = (double)(i - 9) * (j + 4) / N,
                 hz[i * N + j] = (double)(i + 1) * (j + 5) / N;
    }
  double *d_A = up(A), *d_B = up(B), *d_ex = up(ex), *d_ey = up(ey), *d_hz = up(hz);
  dim3 block(32, 8), grid(N / 32, N / 8);
  for (int t = 0; t < STEPS; t++) {
    jacobi2d<<<grid, block>>>(d_A, d_B);
    jacobi2d<<<grid, block>>>(d_B, d_A);
    fdtd_e<<<grid, block>>>(d_ex, d_ey, d_hz, t);
    fdtd_h<<<grid, block>>>(d_ex, d_ey, d_hz);
  }
  for (int t = 0; t < STEPS; t++) {
    for (int h = 0; h < 2; h++) {
      for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
          B[i * N + j] =
              0.2 * (A[i * N + j] + A[i * N + j - 1] + A[i * N + j + 1] + A[(i + 1) * N + j] + A[(i - 1) * N + j]);
      A.swap(B);
    }
    for (int j = 0; j < N; j++) ey[j] = t;
    for (int i = 1; i < N; i++)
      for (int j = 0; j < N; j++) ey[i * N + j] -= 0.5 * (hz[i * N + j] - hz[(i - 1) * N + j]);
    for (int i = 0; i < N; i++)
      for (int j = 1; j < N; j++) ex[i * N + j] -= 0.5 * (hz[i * N + j] - hz[i * N + j - 1]);
    for (int i = 0; i < N - 1; i++)
      for (int j = 0; j < N - 1; j++)
        hz[i * N + j] -= 0.7 * (ex[i * N + j + 1] - ex[i * N + j] + ey[(i + 1) * N + j] - ey[i * N + j]);
  }
  int bad = compare("jacobi-2d", d_A, A) + compare("fdtd hz", d_hz, hz) + compare("fdtd ex", d_ex, ex) +
            compare("fdtd ey", d_ey, ey);
  std::vector<float> V(D * D * D), W(D * D * D, 0.0f);
  for (int i = 0; i < D * D * D; i++) V[i] = (float)(i % 12) + 2 * (i % 7);
  float *d_V, *d_W;
  CHECK(cudaMalloc(&d_V, V.size() * 4));
  CHECK(cudaMalloc(&d_W, V.size() * 4));
  CHECK(cudaMemcpy(d_V, V.data(), V.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_W, 0, V.size() * 4));
  conv3d<<<dim3((D + 7) / 8, (D + 7) / 8, (D + 3) / 4), dim3(8, 8, 4)>>>(d_V, d_W);
  CHECK(cudaMemcpy(W.data(), d_W, V.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 1; i < D - 1; i++)
    for (int j = 1; j < D - 1; j++)
      for (int k = 1; k < D - 1; k++) {
        float s = 0;
        for (int a = -1; a <= 1; a++)
          for (int b = -1; b <= 1; b++)
            for (int c = -1; c <= 1; c++) s += (a * 9 + b * 3 + c + 14) * V[((i + a) * D + j + b) * D + k + c];
        bad += W[(i * D + j) * D + k] != s;
      }
  printf("stencils: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
