// The largest eigenvalue of a symmetric matrix by power iteration: the matrix is made by a kernel, multiplied by cuBLAS.
// Everything stays on the device until the end; the scalars between the calls do too (CUBLAS_POINTER_MODE_DEVICE).
// build: -lcublas
// See: the estimate comes closer with every step, to 6.894427 (the matrix is tridiagonal, so that its eigenvalues are known).

#include <cublas_v2.h>

#include <cmath>
#include <cstdio>

#define CHECK(call)                                                                \
  do {                                                                             \
    if ((call) != 0) return printf("%s failed (line %d)\n", #call, __LINE__), 1;   \
  } while (0)

constexpr int kOrder = 4;

__global__ void make_matrix(float* a, float* x) {
  const int i = threadIdx.x, j = threadIdx.y;
  a[j * kOrder + i] = i == j ? 2 + 1.0f * (kOrder - 1) : abs(i - j) == 1 ? 1.17082039f : 0;
  if (j == 0) x[i] = 1 + i;
}

__global__ void invert(float* norm) { *norm = 1 / *norm; }

int main() {
  float *a, *x, *y, *scalars;  // scalars: one, zero, the norm, the estimate
  CHECK(cudaMalloc(&a, kOrder * kOrder * sizeof(float)));
  CHECK(cudaMalloc(&x, kOrder * sizeof(float)));
  CHECK(cudaMalloc(&y, kOrder * sizeof(float)));
  CHECK(cudaMalloc(&scalars, 4 * sizeof(float)));
  const float start[] = {1, 0, 0, 0};
  CHECK(cublasSetVector(4, sizeof(float), start, 1, scalars, 1));
  make_matrix<<<1, dim3(kOrder, kOrder)>>>(a, x);

  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  float estimate = 0;
  for (int step = 1; step <= 40; ++step) {
    CHECK(cublasSnrm2(handle, kOrder, x, 1, scalars + 2));
    invert<<<1, 1>>>(scalars + 2);
    CHECK(cublasSscal(handle, kOrder, scalars + 2, x, 1));
    CHECK(cublasSgemv(handle, CUBLAS_OP_N, kOrder, kOrder, scalars, a, kOrder, x, 1, scalars + 1, y, 1));
    CHECK(cublasSdot(handle, kOrder, x, 1, y, 1, scalars + 3));
    CHECK(cublasScopy(handle, kOrder, y, 1, x, 1));
    if (step % 10 == 0) {
      CHECK(cublasGetVector(1, sizeof(float), scalars + 3, 1, &estimate, 1));
      printf("after %2d steps: %.6f\n", step, estimate);
    }
  }
  // The eigenvalues of a tridiagonal matrix with d on and e beside the diagonal are d + 2 e cos(k pi / (n + 1)).
  const double exact = 5 + 2 * 1.17082039 * std::cos(M_PI / (kOrder + 1));
  printf("exact:          %.6f\n", exact);
  cublasDestroy(handle);
  return std::fabs(estimate - exact) < 1e-3 ? 0 : 1;
}
