// cuBLAS as before CUDA 4: no handles, letters for options, scalars by value, results returned.

// build: -lcublas
#include <cublas.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;
static void expect(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  printf("line %d: FAIL %s\n", line, what);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

int main() {
  const int n = 3;
  std::vector<float> a{4, 1, 2, 0, 5, 3, 0, 0, 6}, b{1, 2, 3, 4, 5, 6, 7, 8, 9}, c(n * n, NAN);
  float *da, *db, *dc;
  EXPECT(cublasInit() == CUBLAS_STATUS_SUCCESS);
  for (float** p : {&da, &db, &dc}) EXPECT(cublasAlloc(n * n, sizeof(float), (void**)p) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetMatrix(n, n, sizeof(float), a.data(), n, da, n) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetMatrix(n, n, sizeof(float), b.data(), n, db, n) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetVector(n * n, sizeof(float), c.data(), 1, dc, 1) == CUBLAS_STATUS_SUCCESS);
  cublasSgemm('n', 'T', n, n, n, 2, da, n, db, n, 0, dc, n);
  EXPECT(cublasGetError() == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasGetMatrix(n, n, sizeof(float), dc, n, c.data(), n) == CUBLAS_STATUS_SUCCESS);
  bool right = true;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[k * n + i] * b[k * n + j];
      right &= c[j * n + i] == 2 * sum;
    }
  EXPECT(right);
  EXPECT(cublasSdot(n, da, 1, db, 1) == 4 + 2 + 6 && cublasIsamax(n * n, db, 1) == 9 && cublasSasum(n * n, db, 1) == 45);
  cublasStrmm('L', 'L', 'N', 'N', n, n, 1, da, n, db, n);
  cublasStrsm('L', 'L', 'N', 'N', n, n, 1, da, n, db, n);
  EXPECT(cublasGetMatrix(n, n, sizeof(float), db, n, c.data(), n) == CUBLAS_STATUS_SUCCESS);
  for (int i = 0; i < n * n; ++i) EXPECT(std::fabs(c[i] - b[i]) < 1e-5);
  cublasSgemm('x', 'n', n, n, n, 2, da, n, db, n, 0, dc, n);
  EXPECT(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE && cublasGetError() == CUBLAS_STATUS_SUCCESS);
  for (float* p : {da, db, dc}) EXPECT(cublasFree(p) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasShutdown() == CUBLAS_STATUS_SUCCESS);
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
