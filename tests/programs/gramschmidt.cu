// QR by modified Gram-Schmidt, three kernels per column.
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

#define M 64
#define N 48

__global__ void norm(const double* a, double* r, int k) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
    double nrm = 0.0;
    for (int i = 0; i < M; i++) nrm += a[i * N + k] * a[i * N + k];
    r[k * N + k] = sqrt(nrm);
  }
}
__global__ void column(const double* a, const double* r, double* q, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < M) q[i * N + k] = a[i * N + k] / r[k * N + k];
}
__global__ void update(double* a, double* r, const double* q, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j > k && j < N) {
    double s = 0.0;
    for (int i = 0; i < M; i++) s += q[i * N + k] * a[i * N + j];
    r[k * N + j] = s;
    for (int i = 0; i < M; i++) a[i * N + j] -= q[i * N + k] * s;
  }
}

int main() {
  std::vector<double> A(M * N), R(N * N), Q(M * N);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) A[i * N + j] = cos(0.7 * i * j + i) + (i == j ? 3.0 : 0.0);
  double *a, *r, *q;
  CHECK(cudaMalloc(&a, M * N * 8));
  CHECK(cudaMalloc(&r, N * N * 8));
  CHECK(cudaMalloc(&q, M * N * 8));
  CHECK(cudaMemset(r, 0, N * N * 8));
  CHECK(cudaMemcpy(a, A.data(), M * N * 8, cudaMemcpyHostToDevice));
  for (int k = 0; k < N; k++) {
    norm<<<1, 256>>>(a, r, k);
    column<<<(M + 63) / 64, 64>>>(a, r, q, k);
    update<<<(N + 63) / 64, 64>>>(a, r, q, k);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(R.data(), r, N * N * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(Q.data(), q, M * N * 8, cudaMemcpyDeviceToHost));
  double product = 0, orthogonal = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double s = 0;
      for (int k = 0; k <= j; k++) s += Q[i * N + k] * R[k * N + j];
      product = fmax(product, fabs(s - A[i * N + j]));
    }
  for (int a1 = 0; a1 < N; a1++)
    for (int b = 0; b < N; b++) {
      double s = 0;
      for (int i = 0; i < M; i++) s += Q[i * N + a1] * Q[i * N + b];
      orthogonal = fmax(orthogonal, fabs(s - (a1 == b)));
    }
  bool ok = product < 1e-10 && orthogonal < 1e-8 && R[0] > 0;
  printf("gramschmidt: R[0][0] %.6f, %s\n", R[0], ok ? "PASSED" : "FAILED");
  return !ok;
}
