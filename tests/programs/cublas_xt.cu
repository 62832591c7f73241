// build: -lcublas
// cublasXt: matrices in host memory, in device memory and both at once, of every shape that the functions take; refusals.
#include <cublasXt.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("FAIL %s\n", what);
}

using Z = std::complex<double>;
using Matrix = std::vector<Z>;  // by columns, with `ld` rows of which the last are not the matrix's

constexpr size_t kLd = 9;

static Matrix filled(size_t columns, unsigned seed) {
  Matrix a(kLd * columns);
  for (Z& x : a) {
    seed = seed * 1664525u + 1013904223u;
    x = Z((seed >> 20) % 17 - 8.0, (seed >> 26) % 7 - 3.0);
  }
  return a;
}

static Z op(const Matrix& a, cublasOperation_t how, size_t i, size_t j) {
  const Z x = how == CUBLAS_OP_N ? a[j * kLd + i] : a[i * kLd + j];
  return how == CUBLAS_OP_C ? std::conj(x) : x;
}
static bool same(const Matrix& a, const Matrix& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-9) return false;
  return true;
}
static cuDoubleComplex* at(Matrix& a) { return reinterpret_cast<cuDoubleComplex*>(a.data()); }

static cublasXtHandle_t handle;

static void products() {
  const size_t m = 5, n = 4, k = 6;
  const Z alpha(2, -1), beta(0, 1);
  const auto *s = reinterpret_cast<const cuDoubleComplex*>(&alpha), *t = reinterpret_cast<const cuDoubleComplex*>(&beta);
  for (auto ta : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
    for (auto tb : {CUBLAS_OP_N, CUBLAS_OP_C}) {
      Matrix a = filled(8, 1), b = filled(8, 2), c = filled(n, 3), want = c;
      for (size_t j = 0; j < n; ++j)
        for (size_t i = 0; i < m; ++i) {
          Z sum = 0;
          for (size_t l = 0; l < k; ++l) sum += op(a, ta, i, l) * op(b, tb, l, j);
          want[j * kLd + i] = alpha * sum + beta * c[j * kLd + i];
        }
      // B is on the device.
      cuDoubleComplex* device;
      cudaMalloc(&device, b.size() * sizeof(Z));
      cudaMemcpy(device, b.data(), b.size() * sizeof(Z), cudaMemcpyHostToDevice);
      expect(cublasXtZgemm(handle, ta, tb, m, n, k, s, at(a), kLd, device, kLd, t, at(c), kLd) == CUBLAS_STATUS_SUCCESS,
             "cublasXtZgemm");
      expect(same(c, want), "a product");
      cudaFree(device);
    }
}

static void triangles() {
  const size_t n = 5, k = 3;
  const double alpha = 2, beta = -1;
  for (auto trans : {CUBLAS_OP_N, CUBLAS_OP_C}) {
    const cublasOperation_t other = trans == CUBLAS_OP_N ? CUBLAS_OP_C : CUBLAS_OP_N;
    Matrix a = filled(8, 4), c = filled(n, 5);
    for (size_t i = 0; i < n; ++i) c[i * kLd + i] = c[i * kLd + i].real();
    Matrix want = c;
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i <= j; ++i) {
        Z sum = 0;
        for (size_t l = 0; l < k; ++l) sum += op(a, trans, i, l) * op(a, other, l, j);
        want[j * kLd + i] = alpha * sum + beta * c[j * kLd + i];
      }
    expect(cublasXtZherk(handle, CUBLAS_FILL_MODE_UPPER, trans, n, k, &alpha, at(a), kLd, &beta, at(c), kLd) ==
               CUBLAS_STATUS_SUCCESS,
           "cublasXtZherk");
    expect(same(c, want), "a triangle");
  }
}

static void solves() {
  const size_t m = 5, n = 3;
  const Z one = 1;
  const auto* s = reinterpret_cast<const cuDoubleComplex*>(&one);
  for (auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    const size_t size = side == CUBLAS_SIDE_LEFT ? m : n;
    Matrix a = filled(size, 6), x = filled(n, 7), b = x;
    for (size_t i = 0; i < size; ++i) a[i * kLd + i] = 20.0 + i;
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i < m; ++i) {
        Z sum = 0;
        if (side == CUBLAS_SIDE_LEFT)
          for (size_t l = 0; l <= i; ++l) sum += a[l * kLd + i] * x[j * kLd + l];
        else
          for (size_t l = j; l < n; ++l) sum += x[l * kLd + i] * a[j * kLd + l];
        b[j * kLd + i] = sum;
      }
    Matrix product = filled(n, 8), want = product;
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i < m; ++i) want[j * kLd + i] = b[j * kLd + i];
    expect(cublasXtZtrmm(handle, side, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, m, n, s, at(a), kLd, at(x),
                         kLd, at(product), kLd) == CUBLAS_STATUS_SUCCESS,
           "cublasXtZtrmm");
    expect(same(product, want), "a product with a triangle");
    expect(cublasXtZtrsm(handle, side, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, m, n, s, at(a), kLd, at(b),
                         kLd) == CUBLAS_STATUS_SUCCESS,
           "cublasXtZtrsm");
    expect(same(b, x), "a solution");
  }
}

int main() {
  expect(cublasXtCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasXtCreate");
  int devices[1] = {0}, tile = 0, boards = 0;
  expect(cublasXtDeviceSelect(handle, 1, devices) == CUBLAS_STATUS_SUCCESS, "cublasXtDeviceSelect");
  expect(cublasXtSetBlockDim(handle, 64) == CUBLAS_STATUS_SUCCESS && cublasXtGetBlockDim(handle, &tile) == CUBLAS_STATUS_SUCCESS &&
             tile == 64,
         "cublasXtSetBlockDim");
  expect(cublasXtGetNumBoards(1, devices, &boards) == CUBLAS_STATUS_SUCCESS && boards == 1, "cublasXtGetNumBoards");
  products();
  triangles();
  solves();
  float one = 1, value = 0;
  expect(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 1, 1, &one, &value, 1, &value, 1, &one, &value, 4) ==
             CUBLAS_STATUS_INVALID_VALUE,
         "columns that are too short");
  expect(cublasXtSetBlockDim(handle, 0) == CUBLAS_STATUS_INVALID_VALUE, "tiles of nothing");
  devices[0] = 99;
  expect(cublasXtDeviceSelect(handle, 1, devices) != CUBLAS_STATUS_SUCCESS, "a device that is not there");
  expect(cublasXtDestroy(handle) == CUBLAS_STATUS_SUCCESS, "cublasXtDestroy");
  printf(failures ? "%d FAILED\n" : "PASSED\n", failures);
  return failures != 0;
}
