// build: -lcusolver -lcublas
// cuSOLVER: solvers that refine, with and without settings; eigenvalues of matrices without symmetry, in ranges and in
// batches; singular values by other methods; what is made of triangular and indefinite factors.
#include <cusolverDn.h>

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

using Complex = std::complex<double>;
static cusolverDnHandle_t handle;
static cusolverDnParams_t params;

template <class T>
struct Device {
  T* p = nullptr;
  size_t n;
  explicit Device(size_t n) : n(n) { CUDA(cudaMalloc(&p, n * sizeof(T))); }
  template <class F>
  explicit Device(const std::vector<F>& from) : Device(from.size()) {
    static_assert(sizeof(F) == sizeof(T));
    CUDA(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Device() { cudaFree(p); }
  Device(const Device&) = delete;
  operator T*() const { return p; }
  template <class F = T>
  std::vector<F> get() const {
    std::vector<F> out(n);
    CUDA(cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }
};

static double random_number() {
  static unsigned seed = 20;
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) / double(1 << 24) - 0.5;
}
template <class V>
static V random_value() {
  if constexpr (sizeof(V) == 2 * sizeof(double) || sizeof(V) == 8 && !std::is_arithmetic_v<V>) {
    const auto re = random_number();
    return V(re, random_number());
  } else {
    return V(random_number());
  }
}
template <class V>
static std::vector<V> random_matrix(int rows, int columns) {
  std::vector<V> out(size_t(rows) * columns);
  for (V& x : out) x = random_value<V>();
  return out;
}
template <class V>
static V conjugate(V x) {
  if constexpr (std::is_arithmetic_v<V>) return x;
  else return std::conj(x);
}
// op(A) * op(B), by columns; 'C' takes the conjugate transpose.
template <class V>
static std::vector<V> times(char ta, const std::vector<V>& a, char tb, const std::vector<V>& b, int m, int n, int k) {
  std::vector<V> out(size_t(m) * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < k; ++l)
        out[j * m + i] += (ta == 'C' ? conjugate(a[i * k + l]) : a[l * m + i]) * (tb == 'C' ? conjugate(b[l * n + j]) : b[j * k + l]);
  return out;
}
template <class V>
static double distance(const std::vector<V>& a, const std::vector<V>& b) {
  double most = a.size() == b.size() ? 0 : 1e30;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) most = std::fmax(most, double(std::abs(a[i] - b[i])));
  return most;
}

// --- solvers that refine --------------------------------------------------------------------------------------------------

template <class T, class V, class Size, class Solve>
static void refined(Size size, Solve solve, double within) {
  const int n = 20, columns = 3;
  std::vector<V> a = random_matrix<V>(n, n), want = random_matrix<V>(n, columns);
  for (int i = 0; i < n; ++i) a[i * n + i] += V(6);
  const std::vector<V> b = times('N', a, 'N', want, n, columns, n);
  Device<T> da(a), db(b), dx(want.size());
  Device<int> pivots(n), info(1);
  size_t bytes = 0;
  SOLVER(size(handle, n, columns, da, n, pivots, db, n, dx, n, nullptr, &bytes));
  Device<char> work(bytes);
  int rounds = -100;
  SOLVER(solve(handle, n, columns, da, n, pivots, db, n, dx, n, work, bytes, &rounds, info));
  REQUIRE(rounds >= 0 && info.get()[0] == 0);
  REQUIRE(distance(dx.template get<V>(), want) < within && distance(da.template get<V>(), a) == 0);
}
#define REFINED(P, T, V, within) refined<T, V>(cusolverDn##P##gesv_bufferSize, cusolverDn##P##gesv, within)

static void least_squares() {
  const int m = 30, n = 8;
  const std::vector<double> a = random_matrix<double>(m, n), want = random_matrix<double>(n, 1),
                            b = times('N', a, 'N', want, m, 1, n);
  Device<double> da(a), db(b), dx(n);
  Device<int> info(1);
  size_t bytes = 0;
  SOLVER(cusolverDnDSgels_bufferSize(handle, m, n, 1, da, m, db, m, dx, n, nullptr, &bytes));
  Device<char> work(bytes);
  int rounds = -1;
  SOLVER(cusolverDnDSgels(handle, m, n, 1, da, m, db, m, dx, n, work, bytes, &rounds, info));
  REQUIRE(rounds >= 0 && info.get()[0] == 0 && distance(dx.get(), want) < 1e-12);
}

static void settings() {
  const int n = 24;
  std::vector<double> a = random_matrix<double>(n, n), want = random_matrix<double>(n, 2);
  for (int i = 0; i < n; ++i) a[i * n + i] += 5;
  Device<double> da(a), db(times('N', a, 'N', want, n, 2, n)), dx(2 * n);
  Device<int> info(1);
  cusolverDnIRSParams_t how;
  cusolverDnIRSInfos_t about;
  size_t bytes = 0;
  int rounds = -1, most = 0;
  void* history = nullptr;
  REQUIRE(cusolverDnIRSXgesv_bufferSize(handle, nullptr, n, 2, &bytes) == CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED);
  SOLVER(cusolverDnIRSParamsCreate(&how));
  SOLVER(cusolverDnIRSInfosCreate(&about));
  REQUIRE(cusolverDnIRSXgesv_bufferSize(handle, how, n, 2, &bytes) == CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC);
  SOLVER(cusolverDnIRSParamsSetSolverPrecisions(how, CUSOLVER_R_64F, CUSOLVER_R_16F));
  REQUIRE(cusolverDnIRSXgesv_bufferSize(handle, how, n, 2, &bytes) == CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE);
  SOLVER(cusolverDnIRSParamsSetRefinementSolver(how, CUSOLVER_IRS_REFINE_GMRES));
  SOLVER(cusolverDnIRSParamsSetTol(how, 1e-13));
  REQUIRE(cusolverDnIRSParamsSetMaxIters(how, 0) == CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER);
  SOLVER(cusolverDnIRSParamsSetMaxIters(how, 12));
  SOLVER(cusolverDnIRSParamsGetMaxIters(how, &most));
  SOLVER(cusolverDnIRSInfosRequestResidual(about));
  SOLVER(cusolverDnIRSXgesv_bufferSize(handle, how, n, 2, &bytes));
  Device<char> work(bytes);
  REQUIRE(cusolverDnIRSInfosGetResidualHistory(about, &history) == CUSOLVER_STATUS_INVALID_VALUE);
  SOLVER(cusolverDnIRSXgesv(handle, how, about, n, 2, da, n, db, n, dx, n, work, bytes, &rounds, info));
  REQUIRE(most == 12 && rounds >= 0 && info.get()[0] == 0 && distance(dx.get(), want) < 1e-12);
  SOLVER(cusolverDnIRSInfosGetNiters(about, &rounds));
  SOLVER(cusolverDnIRSInfosGetMaxIters(about, &most));
  SOLVER(cusolverDnIRSInfosGetResidualHistory(about, &history));
  const double* column = static_cast<double*>(history) + (most + 1);  // of the first right side
  REQUIRE(most == 12 && rounds >= 0 && column[rounds] < 1e-11 && column[rounds + most + 1] < 1e-11);

  SOLVER(cusolverDnIRSParamsSetSolverPrecisions(how, CUSOLVER_R_64F, CUSOLVER_R_32F));
  SOLVER(cusolverDnIRSXgels_bufferSize(handle, how, n, n, 2, &bytes));
  Device<char> more(bytes);
  SOLVER(cusolverDnIRSXgels(handle, how, about, n, n, 2, da, n, db, n, dx, n, more, bytes, &rounds, info));
  REQUIRE(distance(dx.get(), want) < 1e-12);
  SOLVER(cusolverDnIRSInfosDestroy(about));
  SOLVER(cusolverDnIRSParamsDestroy(how));

  cusolverMathMode_t mode;
  SOLVER(cusolverDnSetMathMode(handle, CUSOLVER_FP32_EMULATED_BF16X9_MATH));
  SOLVER(cusolverDnGetMathMode(handle, &mode));
  REQUIRE(mode == CUSOLVER_FP32_EMULATED_BF16X9_MATH);
  SOLVER(cusolverDnSetMathMode(handle, CUSOLVER_DEFAULT_MATH));
}

// --- eigenvalues ----------------------------------------------------------------------------------------------------------

struct Workspace {  // for the functions whose types are arguments
  Device<char> device;
  std::vector<char> host;
  Workspace(size_t on_device, size_t on_host) : device(on_device + 1), host(on_host + 1) {}
};

static void any_real_matrix() {
  const int n = 12;
  const std::vector<double> a = random_matrix<double>(n, n);
  size_t bytes = 0, host_bytes = 0;
  std::vector<Complex> w;
  for (const bool halves : {false, true}) {
    Device<double> da(a), dw(2 * n), dv(n * n);
    Device<int> info(1);
    const cudaDataType type_w = halves ? CUDA_R_64F : CUDA_C_64F;
    SOLVER(cusolverDnXgeev_bufferSize(handle, params, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n, CUDA_R_64F, da, n, type_w,
                                      dw, CUDA_R_64F, nullptr, 1, CUDA_R_64F, dv, n, CUDA_R_64F, &bytes, &host_bytes));
    Workspace work(bytes, host_bytes);
    SOLVER(cusolverDnXgeev(handle, params, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n, CUDA_R_64F, da, n, type_w, dw,
                           CUDA_R_64F, nullptr, 1, CUDA_R_64F, dv, n, CUDA_R_64F, work.device, bytes, work.host.data(), host_bytes, info));
    REQUIRE(info.get()[0] == 0);
    const std::vector<double> values = dw.get(), v = dv.get();
    std::vector<Complex> found(n);
    for (int i = 0; i < n; ++i) found[i] = halves ? Complex(values[i], values[n + i]) : Complex(values[2 * i], values[2 * i + 1]);
    if (halves) REQUIRE(found == w);
    w = found;
    for (int j = 0; j < n; ++j) {  // two columns are the real and the imaginary part of the vectors of a pair
      std::vector<Complex> x(n), want(n);
      for (int i = 0; i < n; ++i) x[i] = w[j].imag() == 0 ? v[j * n + i] : Complex(v[j * n + i], v[(j + 1) * n + i]);
      const std::vector<Complex> ax = times('N', std::vector<Complex>(a.begin(), a.end()), 'N', x, n, 1, n);
      for (int i = 0; i < n; ++i) want[i] = w[j] * x[i];
      REQUIRE(distance(ax, want) < 1e-12);
      if (w[j].imag() != 0) ++j;
    }
  }
  Device<double> da(a), dw(2 * n);
  REQUIRE(cusolverDnXgeev(handle, params, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_MODE_NOVECTOR, n, CUDA_R_64F, da, n, CUDA_R_64F, dw,
                          CUDA_R_64F, da, n, CUDA_R_64F, nullptr, 1, CUDA_R_64F, nullptr, 0, nullptr, 0, nullptr) ==
          CUSOLVER_STATUS_INVALID_VALUE);
}

static void any_complex_matrix() {
  const int n = 9;
  const std::vector<Complex> a = random_matrix<Complex>(n, n);
  Device<Complex> da(a), dw(n), dv(n * n);
  Device<int> info(1);
  SOLVER(cusolverDnXgeev(handle, params, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n, CUDA_C_64F, da, n, CUDA_C_64F, dw, CUDA_C_64F,
                         nullptr, 1, CUDA_C_64F, dv, n, CUDA_C_64F, nullptr, 0, nullptr, 0, info));
  const std::vector<Complex> w = dw.get(), v = dv.get();
  std::vector<Complex> want = v;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) want[j * n + i] *= w[j];
  REQUIRE(info.get()[0] == 0 && distance(times('N', a, 'N', v, n, n, n), want) < 1e-12);
}

static void ranges_and_batches() {
  const int n = 10, count = 4;
  std::vector<Complex> a = random_matrix<Complex>(n, n), b = random_matrix<Complex>(n, n);
  a = times('N', a, 'C', a, n, n, n), b = times('N', b, 'C', b, n, n, n);
  for (int i = 0; i < n; ++i) b[i * n + i] += 1.0;
  Device<cuDoubleComplex> da(a), db(b);
  Device<double> w(n);
  Device<int> info(1);
  int size = 0, found = 0;
  SOLVER(cusolverDnZhegvdx_bufferSize(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_LOWER, n,
                                      da, n, db, n, 0, 0, 3, 6, &found, w, &size));
  Device<cuDoubleComplex> work(size);
  SOLVER(cusolverDnZhegvdx(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_LOWER, n, da, n, db,
                           n, 0, 0, 3, 6, &found, w, work, size, info));
  REQUIRE(found == count && info.get()[0] == 0);
  std::vector<Complex> x = da.get<Complex>();
  x.resize(n * count);
  const std::vector<double> values = w.get();
  std::vector<Complex> bx = times('N', b, 'N', x, n, count, n);
  for (int j = 0; j < count; ++j)
    for (int i = 0; i < n; ++i) bx[j * n + i] *= values[j];
  REQUIRE(distance(times('N', a, 'N', x, n, count, n), bx) < 1e-10 && values[0] < values[1] && values[2] < values[3]);

  const int m = 6, batch = 5;
  std::vector<float> all;
  for (int k = 0; k < batch; ++k) {
    const std::vector<float> one = random_matrix<float>(m, m), symmetric = times('N', one, 'C', one, m, m, m);
    all.insert(all.end(), symmetric.begin(), symmetric.end());
  }
  Device<float> d(all), dw(m * batch);
  Device<int> infos(batch);
  size_t bytes = 0, host_bytes = 0;
  SOLVER(cusolverDnXsyevBatched_bufferSize(handle, params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, m, CUDA_R_32F, d, m, CUDA_R_32F,
                                           dw, CUDA_R_32F, &bytes, &host_bytes, batch));
  Workspace space(bytes, host_bytes);
  SOLVER(cusolverDnXsyevBatched(handle, params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, m, CUDA_R_32F, d, m, CUDA_R_32F, dw,
                                CUDA_R_32F, space.device, bytes, space.host.data(), host_bytes, infos, batch));
  const std::vector<float> vectors = d.get(), lambda = dw.get();
  for (int k = 0; k < batch; ++k) {
    const std::vector<float> one(all.begin() + k * m * m, all.begin() + (k + 1) * m * m),
        v(vectors.begin() + k * m * m, vectors.begin() + (k + 1) * m * m);
    std::vector<float> want = v;
    for (int i = 0; i < m * m; ++i) want[i] *= lambda[k * m + i / m];
    REQUIRE(infos.get()[k] == 0 && distance(times('N', one, 'N', v, m, m, m), want) < 1e-5);
  }
}

// --- singular values ------------------------------------------------------------------------------------------------------

static void singular_values() {
  const int m = 14, n = 6, rank = 3;
  const std::vector<double> left = random_matrix<double>(m, rank), right = random_matrix<double>(n, rank),
                            a = times('N', left, 'C', right, m, n, rank);  // so that three singular values say all
  size_t bytes = 0, host_bytes = 0;
  for (const bool random : {false, true}) {
    const int columns = random ? rank : n;
    Device<double> da(a), s(n), u(m * columns), v(n * columns);
    Device<int> info(1);
    double error = -1;
    if (random) {
      SOLVER(cusolverDnXgesvdr_bufferSize(handle, params, 'S', 'S', m, n, rank, 2, 4, CUDA_R_64F, da, m, CUDA_R_64F, s, CUDA_R_64F, u, m,
                                          CUDA_R_64F, v, n, CUDA_R_64F, &bytes, &host_bytes));
      Workspace work(bytes, host_bytes);
      SOLVER(cusolverDnXgesvdr(handle, params, 'S', 'S', m, n, rank, 2, 4, CUDA_R_64F, da, m, CUDA_R_64F, s, CUDA_R_64F, u, m, CUDA_R_64F, v,
                               n, CUDA_R_64F, work.device, bytes, work.host.data(), host_bytes, info));
    } else {
      SOLVER(cusolverDnXgesvdp_bufferSize(handle, params, CUSOLVER_EIG_MODE_VECTOR, 1, m, n, CUDA_R_64F, da, m, CUDA_R_64F, s, CUDA_R_64F, u,
                                          m, CUDA_R_64F, v, n, CUDA_R_64F, &bytes, &host_bytes));
      Workspace work(bytes, host_bytes);
      SOLVER(cusolverDnXgesvdp(handle, params, CUSOLVER_EIG_MODE_VECTOR, 1, m, n, CUDA_R_64F, da, m, CUDA_R_64F, s, CUDA_R_64F, u, m,
                               CUDA_R_64F, v, n, CUDA_R_64F, work.device, bytes, work.host.data(), host_bytes, info, &error));
      REQUIRE(error == 0);
    }
    REQUIRE(info.get()[0] == 0);
    std::vector<double> scaled = u.get();
    for (int i = 0; i < m * columns; ++i) scaled[i] *= s.get()[i / m];
    REQUIRE(distance(times('N', scaled, 'C', v.get(), m, n, columns), a) < 1e-13);
  }
  REQUIRE(cusolverDnXgesvdr(handle, params, 'S', 'S', m, n, n, 2, 4, CUDA_R_64F, nullptr, m, CUDA_R_64F, nullptr, CUDA_R_64F, nullptr, m,
                            CUDA_R_64F, nullptr, n, CUDA_R_64F, nullptr, 0, nullptr, 0, nullptr) == CUSOLVER_STATUS_INVALID_VALUE);
}

// --- factors --------------------------------------------------------------------------------------------------------------

static void indefinite(cublasFillMode_t half) {
  const int n = 11, columns = 2;
  std::vector<double> a = random_matrix<double>(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) a[i * n + j] = a[j * n + i] = i == j ? 0 : a[j * n + i];  // pivots of two rows are needed
  const std::vector<double> want = random_matrix<double>(n, columns);
  Device<double> da(a), db(times('N', a, 'N', want, n, columns, n)), work(4096);
  Device<int> pivots(n), info(1);
  int size = 0;
  SOLVER(cusolverDnDsytrf_bufferSize(handle, n, da, n, &size));
  SOLVER(cusolverDnDsytrf(handle, half, n, da, n, pivots, work, size, info));
  const std::vector<int> rows = pivots.get();
  Device<int64_t> wide(std::vector<int64_t>(rows.begin(), rows.end()));
  size_t bytes = 0, host_bytes = 0;
  SOLVER(cusolverDnXsytrs_bufferSize(handle, half, n, columns, CUDA_R_64F, da, n, wide, CUDA_R_64F, db, n, &bytes, &host_bytes));
  Workspace space(bytes, host_bytes);
  SOLVER(cusolverDnXsytrs(handle, half, n, columns, CUDA_R_64F, da, n, wide, CUDA_R_64F, db, n, space.device, bytes, space.host.data(),
                          host_bytes, info));
  REQUIRE(info.get()[0] == 0 && distance(db.get(), want) < 1e-11);
  SOLVER(cusolverDnDsytri_bufferSize(handle, half, n, da, n, pivots, &size));
  SOLVER(cusolverDnDsytri(handle, half, n, da, n, pivots, work, size, info));
  std::vector<double> inverse = da.get(), one(n * n);
  for (int j = 0; j < n; ++j) {
    one[j * n + j] = 1;
    for (int i = 0; i < j; ++i)
      (half == CUBLAS_FILL_MODE_UPPER ? inverse[i * n + j] : inverse[j * n + i]) =
          half == CUBLAS_FILL_MODE_UPPER ? inverse[j * n + i] : inverse[i * n + j];
  }
  REQUIRE(distance(times('N', a, 'N', inverse, n, n, n), one) < 1e-11);
}

static void triangle_and_reflectors() {
  const int n = 7;
  std::vector<double> u = random_matrix<double>(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i) u[j * n + i] = 0;
  Device<double> d(u), work(4096);
  Device<int> info(1);
  int size = 0;
  SOLVER(cusolverDnDlauum_bufferSize(handle, CUBLAS_FILL_MODE_UPPER, n, d, n, &size));
  SOLVER(cusolverDnDlauum(handle, CUBLAS_FILL_MODE_UPPER, n, d, n, work, size, info));
  std::vector<double> product = times('N', u, 'C', u, n, n, n), got = d.get();
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i) product[j * n + i] = got[j * n + i];
  REQUIRE(distance(got, product) < 1e-14);

  const int m = 9, k = 4;  // Q is I - V T V^T
  Device<double> q(random_matrix<double>(m, k)), tau(k), t(k * k);
  CUDA(cudaMemset(t, 0, k * k * sizeof(double)));
  SOLVER(cusolverDnDgeqrf(handle, m, k, q, m, tau, work, 4096, info));
  std::vector<double> v = q.get();
  for (int j = 0; j < k; ++j)
    for (int i = 0; i <= j; ++i) v[j * m + i] = i == j;
  size_t bytes = 0, host_bytes = 0;
  SOLVER(cusolverDnXlarft_bufferSize(handle, params, CUBLAS_DIRECT_FORWARD, CUBLAS_STOREV_COLUMNWISE, m, k, CUDA_R_64F, q, m, CUDA_R_64F, tau,
                                     CUDA_R_64F, t, k, CUDA_R_64F, &bytes, &host_bytes));
  Workspace space(bytes, host_bytes);
  SOLVER(cusolverDnXlarft(handle, params, CUBLAS_DIRECT_FORWARD, CUBLAS_STOREV_COLUMNWISE, m, k, CUDA_R_64F, q, m, CUDA_R_64F, tau, CUDA_R_64F,
                          t, k, CUDA_R_64F, space.device, bytes, space.host.data(), host_bytes));
  std::vector<double> whole = times('N', times('N', v, 'N', t.get(), m, k, k), 'C', v, m, m, k), columns(m * k);
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < m; ++i) columns[j * m + i] = (i == j) - whole[j * m + i];
  SOLVER(cusolverDnDorgqr(handle, m, k, k, q, m, tau, work, 4096, info));
  REQUIRE(distance(q.get(), columns) < 1e-13);
}

int main() {
  SOLVER(cusolverDnCreate(&handle));
  SOLVER(cusolverDnCreateParams(&params));
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  SOLVER(cusolverDnSetStream(handle, stream));
  REFINED(DD, double, double, 1e-12);
  REFINED(DS, double, double, 1e-12);
  REFINED(DH, double, double, 1e-12);
  REFINED(DB, double, double, 1e-12);
  REFINED(DX, double, double, 1e-12);
  REFINED(SH, float, float, 1e-4);
  REFINED(SX, float, float, 1e-4);
  REFINED(ZC, cuDoubleComplex, Complex, 1e-12);
  REFINED(ZK, cuDoubleComplex, Complex, 1e-12);
  REFINED(ZY, cuDoubleComplex, Complex, 1e-12);
  REFINED(CE, cuComplex, std::complex<float>, 1e-4);
  least_squares();
  settings();
  any_real_matrix();
  any_complex_matrix();
  ranges_and_batches();
  singular_values();
  indefinite(CUBLAS_FILL_MODE_UPPER);
  indefinite(CUBLAS_FILL_MODE_LOWER);
  triangle_and_reflectors();
  SOLVER(cusolverDnDestroyParams(params));
  SOLVER(cusolverDnDestroy(handle));
  CUDA(cudaStreamDestroy(stream));
  std::puts("PASSED");
}
