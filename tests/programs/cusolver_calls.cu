// build: -lcusolver -lcublas -lcusparse
// cuSOLVER: factorisations, least squares, eigenvalues and singular values of dense matrices; sparse systems in one call
// and step by step; what wrong arguments get.
#include <cusolverDn.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define REQUIRE(holds)                                            \
  do {                                                            \
    if (!(holds)) {                                               \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #holds);     \
      std::exit(1);                                               \
    }                                                             \
  } while (0)
#define CUDA(call) REQUIRE((call) == cudaSuccess)
#define SOLVER(call) REQUIRE((call) == CUSOLVER_STATUS_SUCCESS)

template <class T>
struct Device {
  T* p = nullptr;
  size_t n;
  explicit Device(size_t n) : n(n) { CUDA(cudaMalloc(&p, n * sizeof(T))); }
  explicit Device(const std::vector<T>& from) : Device(from.size()) {
    CUDA(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Device() { cudaFree(p); }
  Device(const Device&) = delete;
  operator T*() const { return p; }
  std::vector<T> get() const {
    std::vector<T> out(n);
    CUDA(cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }
};

static bool near(double a, double b, double within = 1e-9) { return std::fabs(a - b) <= within * (1 + std::fabs(b)); }

static std::vector<double> random_matrix(int rows, int columns, unsigned seed) {
  std::vector<double> out(size_t(rows) * columns);
  for (double& x : out) seed = seed * 1664525u + 1013904223u, x = (seed >> 8) / double(1 << 24) - 0.5;
  return out;
}
// op(A) * B of matrices by columns.
static std::vector<double> times(const std::vector<double>& a, bool transposed, const std::vector<double>& b, int m, int n, int k) {
  std::vector<double> out(size_t(m) * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < k; ++l) out[j * m + i] += (transposed ? a[i * k + l] : a[l * m + i]) * b[j * k + l];
  return out;
}
static double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::fmax(most, std::fabs(a[i] - b[i]));
  return most;
}

static void systems(cusolverDnHandle_t handle) {
  const int n = 50;
  std::vector<double> a = random_matrix(n, n, 1), x = random_matrix(n, 2, 2);
  for (int i = 0; i < n; ++i) a[i * n + i] += 4;
  const std::vector<double> b = times(a, false, x, n, 2, n), bt = times(a, true, x, n, 2, n);
  Device<int> info(1), pivots(n);
  int size = 0;
  for (int* with : {pivots.p, static_cast<int*>(nullptr)}) {
    Device<double> da(a), db(b), dbt(bt);
    SOLVER(cusolverDnDgetrf_bufferSize(handle, n, n, da, n, &size));
    REQUIRE(size > 0);
    Device<double> work(size);
    SOLVER(cusolverDnDgetrf(handle, n, n, da, n, work, with, info));
    REQUIRE(info.get()[0] == 0);
    SOLVER(cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 2, da, n, with, db, n, info));
    SOLVER(cusolverDnDgetrs(handle, CUBLAS_OP_T, n, 2, da, n, with, dbt, n, info));
    REQUIRE(distance(db.get(), x) < 1e-10 && distance(dbt.get(), x) < 1e-10);
  }
  {  // the functions with types as arguments, and a matrix without an inverse
    cusolverDnParams_t params;
    SOLVER(cusolverDnCreateParams(&params));
    SOLVER(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_0));
    Device<double> da(a), db(b);
    Device<int64_t> rows(n);
    size_t on_device = 0, on_host = 0;
    SOLVER(cusolverDnXgetrf_bufferSize(handle, params, n, n, CUDA_R_64F, da, n, CUDA_R_64F, &on_device, &on_host));
    Device<char> work(on_device);
    std::vector<char> host(on_host);
    SOLVER(cusolverDnXgetrf(handle, params, n, n, CUDA_R_64F, da, n, rows, CUDA_R_64F, work, on_device, host.data(), on_host, info));
    SOLVER(cusolverDnXgetrs(handle, params, CUBLAS_OP_N, n, 2, CUDA_R_64F, da, n, rows, CUDA_R_64F, db, n, info));
    REQUIRE(distance(db.get(), x) < 1e-10);
    Device<double> zero(std::vector<double>(n * n));
    SOLVER(cusolverDnDgetrf(handle, n, n, zero, n, nullptr, pivots, info));
    REQUIRE(info.get()[0] == 1);
    SOLVER(cusolverDnDestroyParams(params));
  }
  {  // Cholesky of A^T A, which is positive, and of minus that, which is not
    std::vector<double> positive = times(a, true, a, n, n, n);
    const std::vector<double> right = times(positive, false, x, n, 2, n);
    for (cublasFillMode_t uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
      Device<double> da(positive), db(right);
      SOLVER(cusolverDnDpotrf_bufferSize(handle, uplo, n, da, n, &size));
      Device<double> work(size);
      SOLVER(cusolverDnDpotrf(handle, uplo, n, da, n, work, size, info));
      REQUIRE(info.get()[0] == 0);
      SOLVER(cusolverDnDpotrs(handle, uplo, n, 2, da, n, db, n, info));
      REQUIRE(distance(db.get(), x) < 1e-8);
    }
    positive[0] = -1;
    Device<double> da(positive);
    SOLVER(cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, n, da, n, nullptr, 0, info));
    REQUIRE(info.get()[0] == 1);
  }
}

// Least squares by QR: R x = Q^T b.
static void least_squares(cusolverDnHandle_t handle) {
  const int m = 40, n = 12;
  const std::vector<double> a = random_matrix(m, n, 3), x = random_matrix(n, 1, 4), b = times(a, false, x, m, 1, n);
  Device<double> da(a), db(b), tau(n), work(1 << 14);
  Device<int> info(1);
  int size = 0;
  SOLVER(cusolverDnDgeqrf_bufferSize(handle, m, n, da, n, &size));  // CuPy's way to ask: the leading dimension is not looked at
  SOLVER(cusolverDnDgeqrf_bufferSize(handle, m, n, da, m, &size));
  SOLVER(cusolverDnDgeqrf(handle, m, n, da, m, tau, work, size, info));
  SOLVER(cusolverDnDormqr_bufferSize(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, da, m, tau, db, m, &size));
  SOLVER(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, 1, n, da, m, tau, db, m, work, size, info));
  cublasHandle_t blas;
  REQUIRE(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
  const double one = 1;
  REQUIRE(cublasDtrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, 1, &one, da, m, db, m) ==
          CUBLAS_STATUS_SUCCESS);
  std::vector<double> found = db.get();
  found.resize(n);
  REQUIRE(distance(found, x) < 1e-10);
  SOLVER(cusolverDnDorgqr(handle, m, n, n, da, m, tau, work, size, info));
  const std::vector<double> q = da.get(), product = times(q, true, q, n, n, m);
  for (int i = 0; i < n * n; ++i) REQUIRE(near(product[i], i % (n + 1) == 0));
  int iterations = 7;
  Device<double> da2(a), db2(b), dx(n);
  SOLVER(cusolverDnDDgels(handle, m, n, 1, da2, m, db2, m, dx, n, work, 0, &iterations, info));
  REQUIRE(distance(dx.get(), x) < 1e-10 && info.get()[0] == 0);
  cublasDestroy(blas);
}

static void eigenvalues(cusolverDnHandle_t handle) {
  const int n = 3;  // eigenvalues 2, 3, 4
  const std::vector<double> a = {3.5, 0.5, 0, 0.5, 3.5, 0, 0, 0, 2};
  Device<double> w(n), work(1024);
  Device<int> info(1);
  for (bool jacobi : {false, true}) {
    Device<double> da(a);
    syevjInfo_t settings;
    SOLVER(cusolverDnCreateSyevjInfo(&settings));
    SOLVER(cusolverDnXsyevjSetTolerance(settings, 1e-10));
    if (jacobi)
      SOLVER(cusolverDnDsyevj(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, da, n, w, work, 1024, info, settings));
    else
      SOLVER(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, da, n, w, work, 1024, info));
    const std::vector<double> values = w.get(), v = da.get();
    for (int k = 0; k < n; ++k) {
      REQUIRE(near(values[k], k + 2));
      const std::vector<double> column(v.begin() + k * n, v.begin() + k * n + n), image = times(a, false, column, n, 1, n);
      for (int i = 0; i < n; ++i) REQUIRE(near(image[i], values[k] * column[i]));
    }
    double residual = 1;
    if (jacobi) SOLVER(cusolverDnXsyevjGetResidual(handle, settings, &residual));
    REQUIRE(!jacobi || residual < 1e-12);
    SOLVER(cusolverDnDestroySyevjInfo(settings));
  }
  int found = 0;
  Device<double> da(a);
  SOLVER(cusolverDnDsyevdx(handle, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_V, CUBLAS_FILL_MODE_UPPER, n, da, n, 2.5, 9.0, 0, 0,
                           &found, w, work, 1024, info));
  REQUIRE(found == 2 && near(w.get()[0], 3) && near(w.get()[1], 4) && near(std::fabs(da.get()[0]), std::sqrt(0.5)));
  // Hermitian: [[2, i], [-i, 2]] has the eigenvalues 1 and 3.
  Device<cuDoubleComplex> hermitian(std::vector<cuDoubleComplex>{{2, 0}, {0, -1}, {0, 1}, {2, 0}}), complex_work(1024);
  SOLVER(cusolverDnZheevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_LOWER, 2, hermitian, 2, w, complex_work, 1024, info));
  REQUIRE(near(w.get()[0], 1) && near(w.get()[1], 3));
}

static void singular_values(cusolverDnHandle_t handle) {
  const int m = 9, n = 5;
  const std::vector<double> a = random_matrix(m, n, 5);
  Device<double> s(n), u(m * m), v(n * n), work(4096);
  Device<int> info(1);
  auto check = [&](bool transposed) {
    const std::vector<double> values = s.get(), left = u.get(), right = v.get();
    for (int k = 1; k < n; ++k) REQUIRE(values[k] <= values[k - 1]);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += left[k * m + i] * values[k] * (transposed ? right[j * n + k] : right[k * n + j]);
        REQUIRE(near(sum, a[j * m + i]));
      }
  };
  Device<double> first(a), second(a);
  SOLVER(cusolverDnDgesvd(handle, 'A', 'A', m, n, first, m, s, u, m, v, n, work, 4096, nullptr, info));
  check(true);
  gesvdjInfo_t settings;
  SOLVER(cusolverDnCreateGesvdjInfo(&settings));
  SOLVER(cusolverDnDgesvdj(handle, CUSOLVER_EIG_MODE_VECTOR, 1, m, n, second, m, s, u, m, v, n, work, 4096, info, settings));
  check(false);
  double residual = 1;
  SOLVER(cusolverDnXgesvdjGetResidual(handle, settings, &residual));
  REQUIRE(residual < 1e-12);
  SOLVER(cusolverDnDestroyGesvdjInfo(settings));
  REQUIRE(cusolverDnDgesvd(handle, 'A', 'A', n, m, first, n, s, u, n, v, m, work, 4096, nullptr, info) == CUSOLVER_STATUS_INVALID_VALUE);
}

// The five-point star on a grid of `edge` x `edge`, with indices from 1.
struct Grid {
  int n, entries;
  std::vector<int> first, column;
  std::vector<double> value, x, b;
  explicit Grid(int edge) : n(edge * edge), first{1}, x(random_matrix(n, 1, 6)), b(n) {
    for (int row = 0; row < n; ++row) {
      for (int step : {-edge, -1, 0, 1, edge}) {
        const int other = row + step;
        if (other < 0 || other >= n || ((step == 1 || step == -1) && other / edge != row / edge)) continue;
        column.push_back(other + 1), value.push_back(step ? -1 : 4.5);
        b[row] += value.back() * x[other];
      }
      first.push_back(int(column.size()) + 1);
    }
    entries = int(column.size());
  }
};

static void sparse(cusolverSpHandle_t handle, cusparseMatDescr_t descr) {
  Grid g(20);
  const double tolerance = 1e-12;
  int singular = 0, symmetric = 0;
  std::vector<double> x(g.n);
  SOLVER(cusolverSpXcsrissymHost(handle, g.n, g.entries, descr, g.first.data(), g.first.data() + 1, g.column.data(), &symmetric));
  REQUIRE(symmetric == 1);
  for (int reorder = 0; reorder < 4; ++reorder) {
    SOLVER(cusolverSpDcsrlsvluHost(handle, g.n, g.entries, descr, g.value.data(), g.first.data(), g.column.data(), g.b.data(),
                                   tolerance, reorder, x.data(), &singular));
    REQUIRE(singular == -1 && distance(x, g.x) < 1e-10);
  }
  Device<double> value(g.value), b(g.b), dx(g.n);
  Device<int> first(g.first), column(g.column);
  SOLVER(cusolverSpDcsrlsvqr(handle, g.n, g.entries, descr, value, first, column, b, tolerance, 0, dx, &singular));
  REQUIRE(singular == -1 && distance(dx.get(), g.x) < 1e-10);
  SOLVER(cusolverSpDcsrlsvchol(handle, g.n, g.entries, descr, value, first, column, b, tolerance, 0, dx, &singular));
  REQUIRE(singular == -1 && distance(dx.get(), g.x) < 1e-10);
  {
    csrcholInfo_t info;
    size_t internal = 0, workspace = 0;
    SOLVER(cusolverSpCreateCsrcholInfo(&info));
    SOLVER(cusolverSpXcsrcholAnalysis(handle, g.n, g.entries, descr, first, column, info));
    SOLVER(cusolverSpDcsrcholBufferInfo(handle, g.n, g.entries, descr, value, first, column, info, &internal, &workspace));
    SOLVER(cusolverSpDcsrcholFactor(handle, g.n, g.entries, descr, value, first, column, info, nullptr));
    SOLVER(cusolverSpDcsrcholZeroPivot(handle, info, tolerance, &singular));
    CUDA(cudaMemset(dx, 0, g.n * sizeof(double)));
    SOLVER(cusolverSpDcsrcholSolve(handle, g.n, b, dx, info, nullptr));
    REQUIRE(singular == -1 && distance(dx.get(), g.x) < 1e-10);
    SOLVER(cusolverSpDestroyCsrcholInfo(info));
  }
  {  // A(p, p) by the order that the library suggests, and the way of the entries
    std::vector<int> p(g.n), map(g.entries), seen(g.n), rows = g.first, columns = g.column;
    SOLVER(cusolverSpXcsrsymrcmHost(handle, g.n, g.entries, descr, g.first.data(), g.column.data(), p.data()));
    for (int old : p) REQUIRE(old >= 0 && old < g.n && !seen[old]++);
    for (int e = 0; e < g.entries; ++e) map[e] = e;
    SOLVER(cusolverSpXcsrpermHost(handle, g.n, g.n, g.entries, descr, rows.data(), columns.data(), p.data(), p.data(), map.data(), nullptr));
    for (int i = 0; i < g.n; ++i) {
      double sum = 0;
      for (int e = rows[i] - 1; e < rows[i + 1] - 1; ++e) sum += g.value[map[e]] * g.x[p[columns[e] - 1]];
      REQUIRE(near(sum, g.b[p[i]]));
    }
  }
  {  // the eigenvalue next to 0, 4.5 - 4 cos(pi / 21)
    Device<double> start(g.x), mu(1);
    SOLVER(cusolverSpDcsreigvsi(handle, g.n, g.entries, descr, value, first, column, 0.0, start, 200, 1e-10, mu, dx));
    REQUIRE(near(mu.get()[0], 4.5 - 4 * std::cos(std::acos(-1.0) / 21)));
  }
  for (double& v : g.value) v = 0;
  SOLVER(cusolverSpDcsrlsvluHost(handle, g.n, g.entries, descr, g.value.data(), g.first.data(), g.column.data(), g.b.data(), tolerance,
                                 0, x.data(), &singular));
  REQUIRE(singular == 0);
  g.column[5] = g.n + 1;
  REQUIRE(cusolverSpDcsrlsvluHost(handle, g.n, g.entries, descr, g.value.data(), g.first.data(), g.column.data(), g.b.data(),
                                  tolerance, 0, x.data(), &singular) == CUSOLVER_STATUS_INVALID_VALUE);
}

int main() {
  cusolverDnHandle_t dense;
  SOLVER(cusolverDnCreate(&dense));
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  SOLVER(cusolverDnSetStream(dense, stream));
  systems(dense);
  least_squares(dense);
  eigenvalues(dense);
  singular_values(dense);

  int size = 0;
  REQUIRE(cusolverDnDgetrf_bufferSize(dense, -1, 4, nullptr, 4, &size) == CUSOLVER_STATUS_INVALID_VALUE);
  REQUIRE(cusolverDnDgetrf_bufferSize(dense, 4, 4, nullptr, 3, &size) == CUSOLVER_STATUS_INVALID_VALUE);
  REQUIRE(cusolverDnDgetrf_bufferSize(nullptr, 4, 4, nullptr, 4, &size) == CUSOLVER_STATUS_NOT_INITIALIZED);
  SOLVER(cusolverDnDestroy(dense));
  REQUIRE(cusolverDnDestroy(dense) == CUSOLVER_STATUS_NOT_INITIALIZED);
  REQUIRE(cusolverDnDpotrf(dense, CUBLAS_FILL_MODE_LOWER, 1, nullptr, 1, nullptr, 0, nullptr) == CUSOLVER_STATUS_NOT_INITIALIZED);

  cusolverSpHandle_t sparse_handle;
  cusparseMatDescr_t descr;
  SOLVER(cusolverSpCreate(&sparse_handle));
  REQUIRE(cusparseCreateMatDescr(&descr) == CUSPARSE_STATUS_SUCCESS);
  REQUIRE(cusparseSetMatIndexBase(descr, CUSPARSE_INDEX_BASE_ONE) == CUSPARSE_STATUS_SUCCESS);
  sparse(sparse_handle, descr);
  cusparseDestroyMatDescr(descr);
  SOLVER(cusolverSpDestroy(sparse_handle));
  CUDA(cudaStreamDestroy(stream));
  std::puts("PASSED");
}
