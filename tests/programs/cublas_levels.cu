// Every function of cuBLAS's levels 1 and 2 and of level 3 against plain loops: all operations, triangles, sides, steps.

// build: -lcublas
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

static int failures = 0;
static cublasHandle_t handle;

static void expect(bool holds, const char* what, int line) {
  if (holds) return;
  if (++failures < 30) printf("line %d: FAIL %s\n", line, what);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define DO(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call, __LINE__)

typedef std::complex<float> C;
typedef std::complex<double> Z;

template <class T> struct Is { static const bool complex = false; typedef T real; typedef T cuda; };
template <> struct Is<C> { static const bool complex = true; typedef float real; typedef cuComplex cuda; };
template <> struct Is<Z> { static const bool complex = true; typedef double real; typedef cuDoubleComplex cuda; };

static double draw() { return (rand() % 2001 - 1000) / 1000.0; }
template <class T> T draw_one() { return T(draw()); }
template <> C draw_one<C>() { return C(draw(), draw()); }
template <> Z draw_one<Z>() { return Z(draw(), draw()); }
template <class T> T conj_if(bool, T x) { return x; }
static C conj_if(bool c, C x) { return c ? std::conj(x) : x; }
static Z conj_if(bool c, Z x) { return c ? std::conj(x) : x; }
template <class T> T real_of(T x) { return x; }
static C real_of(C x) { return C(x.real()); }
static Z real_of(Z x) { return Z(x.real()); }

// Memory of the device with a copy of the host.
template <class T>
struct Array {
  std::vector<T> host;
  T* device = nullptr;
  explicit Array(size_t n, bool nan = false) : host(n) {
    for (T& x : host) x = nan ? T(NAN) : draw_one<T>();
    cudaMalloc(&device, n * sizeof(T));
    push();
  }
  ~Array() { cudaFree(device); }
  Array(const Array&) = delete;
  void push() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  std::vector<T> pull() const {
    std::vector<T> out(host.size());
    cudaMemcpy(out.data(), device, out.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }
  typename Is<T>::cuda* at() const { return (typename Is<T>::cuda*)device; }
};

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  const double tolerance = sizeof(typename Is<T>::real) == 4 ? 2e-4 : 1e-11;
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i])))) {
      if (failures < 30) printf("  element %zu: %g, not %g\n", i, (double)std::abs(a[i]), (double)std::abs(b[i]));
      return false;
    }
  return true;
}

template <class T> const typename Is<T>::cuda* cu(const T& x) { return (const typename Is<T>::cuda*)&x; }
static int place(int i, int n, int inc) { return inc < 0 ? (i - n + 1) * inc : i * inc; }

#define FOUR(name, s, d, c, z) \
  template <class... A> cublasStatus_t name(float, A... a) { return s(handle, a...); } \
  template <class... A> cublasStatus_t name(double, A... a) { return d(handle, a...); } \
  template <class... A> cublasStatus_t name(C, A... a) { return c(handle, a...); } \
  template <class... A> cublasStatus_t name(Z, A... a) { return z(handle, a...); }
FOUR(axpy, cublasSaxpy, cublasDaxpy, cublasCaxpy, cublasZaxpy)
FOUR(copy, cublasScopy, cublasDcopy, cublasCcopy, cublasZcopy)
FOUR(swap_, cublasSswap, cublasDswap, cublasCswap, cublasZswap)
FOUR(scal, cublasSscal, cublasDscal, cublasCscal, cublasZscal)
FOUR(dot, cublasSdot, cublasDdot, cublasCdotc, cublasZdotc)
FOUR(nrm2, cublasSnrm2, cublasDnrm2, cublasScnrm2, cublasDznrm2)
FOUR(asum, cublasSasum, cublasDasum, cublasScasum, cublasDzasum)
FOUR(amax, cublasIsamax, cublasIdamax, cublasIcamax, cublasIzamax)
FOUR(amin, cublasIsamin, cublasIdamin, cublasIcamin, cublasIzamin)
FOUR(gemv, cublasSgemv, cublasDgemv, cublasCgemv, cublasZgemv)
FOUR(gbmv, cublasSgbmv, cublasDgbmv, cublasCgbmv, cublasZgbmv)
FOUR(symv, cublasSsymv, cublasDsymv, cublasCsymv, cublasZsymv)
FOUR(hemv, cublasSsymv, cublasDsymv, cublasChemv, cublasZhemv)
FOUR(sbmv, cublasSsbmv, cublasDsbmv, cublasChbmv, cublasZhbmv)
FOUR(spmv, cublasSspmv, cublasDspmv, cublasChpmv, cublasZhpmv)
FOUR(trmv, cublasStrmv, cublasDtrmv, cublasCtrmv, cublasZtrmv)
FOUR(trsv, cublasStrsv, cublasDtrsv, cublasCtrsv, cublasZtrsv)
FOUR(tbmv, cublasStbmv, cublasDtbmv, cublasCtbmv, cublasZtbmv)
FOUR(tbsv, cublasStbsv, cublasDtbsv, cublasCtbsv, cublasZtbsv)
FOUR(tpmv, cublasStpmv, cublasDtpmv, cublasCtpmv, cublasZtpmv)
FOUR(tpsv, cublasStpsv, cublasDtpsv, cublasCtpsv, cublasZtpsv)
FOUR(ger, cublasSger, cublasDger, cublasCgerc, cublasZgerc)
FOUR(her, cublasSsyr, cublasDsyr, cublasCher, cublasZher)
FOUR(hpr, cublasSspr, cublasDspr, cublasChpr, cublasZhpr)
FOUR(syr2, cublasSsyr2, cublasDsyr2, cublasCsyr2, cublasZsyr2)
FOUR(her2, cublasSsyr2, cublasDsyr2, cublasCher2, cublasZher2)
FOUR(hpr2, cublasSspr2, cublasDspr2, cublasChpr2, cublasZhpr2)
FOUR(gemm, cublasSgemm, cublasDgemm, cublasCgemm, cublasZgemm)
FOUR(symm, cublasSsymm, cublasDsymm, cublasCsymm, cublasZsymm)
FOUR(hemm, cublasSsymm, cublasDsymm, cublasChemm, cublasZhemm)
FOUR(syrk, cublasSsyrk, cublasDsyrk, cublasCsyrk, cublasZsyrk)
FOUR(herk, cublasSsyrk, cublasDsyrk, cublasCherk, cublasZherk)
FOUR(her2k, cublasSsyr2k, cublasDsyr2k, cublasCher2k, cublasZher2k)
FOUR(syrkx, cublasSsyrkx, cublasDsyrkx, cublasCsyrkx, cublasZsyrkx)
FOUR(trmm, cublasStrmm, cublasDtrmm, cublasCtrmm, cublasZtrmm)
FOUR(trsm, cublasStrsm, cublasDtrsm, cublasCtrsm, cublasZtrsm)
FOUR(geam, cublasSgeam, cublasDgeam, cublasCgeam, cublasZgeam)
FOUR(dgmm, cublasSdgmm, cublasDdgmm, cublasCdgmm, cublasZdgmm)

template <class T>
void level1() {
  typedef typename Is<T>::real R;
  const int n = 37;
  for (int incx : {1, 2, -3})
    for (int incy : {1, -2}) {
      Array<T> x(n * 3), y(n * 2);
      const T a = draw_one<T>();
      std::vector<T> expected = y.host;
      for (int i = 0; i < n; ++i) expected[place(i, n, incy)] += a * x.host[place(i, n, incx)];
      DO(axpy(T(), n, cu(a), x.at(), incx, y.at(), incy));
      EXPECT(same(y.pull(), expected));
      T sum = 0, got;
      for (int i = 0; i < n; ++i) sum += conj_if(true, x.host[place(i, n, incx)]) * expected[place(i, n, incy)];
      DO(dot(T(), n, x.at(), incx, y.at(), incy, (typename Is<T>::cuda*)&got));
      EXPECT(std::abs(got - sum) < 1e-4);
      DO(swap_(T(), n, x.at(), incx, y.at(), incy));
      std::vector<T> sx = x.host;
      for (int i = 0; i < n; ++i) std::swap(sx[place(i, n, incx)], expected[place(i, n, incy)]);
      EXPECT(same(x.pull(), sx) && same(y.pull(), expected));
      DO(copy(T(), n, x.at(), incx, y.at(), incy));
      for (int i = 0; i < n; ++i) expected[place(i, n, incy)] = sx[place(i, n, incx)];
      EXPECT(same(y.pull(), expected));
    }
  for (int inc : {1, 3}) {
    Array<T> x(n * 3);
    double squares = 0, sum = 0;
    int largest = 0, smallest = 0;
    auto size = [&](int i) { return std::abs(std::real(x.host[i * inc])) + std::abs(std::imag(x.host[i * inc])); };
    for (int i = 0; i < n; ++i) {
      squares += std::norm(x.host[i * inc]), sum += size(i);
      if (size(i) > size(largest)) largest = i;
      if (size(i) < size(smallest)) smallest = i;
    }
    R norm, absolute;
    int most, least;
    DO(nrm2(T(), n, x.at(), inc, &norm));
    DO(asum(T(), n, x.at(), inc, &absolute));
    DO(amax(T(), n, x.at(), inc, &most));
    DO(amin(T(), n, x.at(), inc, &least));
    EXPECT(std::abs(norm - std::sqrt(squares)) < 1e-5 && std::abs(absolute - sum) < 1e-4);
    EXPECT(most == largest + 1 && least == smallest + 1);
    const T a = draw_one<T>();
    DO(scal(T(), n, cu(a), x.at(), inc));
    std::vector<T> expected = x.host;
    for (int i = 0; i < n; ++i) expected[i * inc] *= a;
    EXPECT(same(x.pull(), expected));
  }
}

static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
static const cublasFillMode_t fills[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};

template <class T>
T entry(const std::vector<T>& a, int ld, cublasOperation_t op, int i, int j) {
  return op == CUBLAS_OP_N ? a[j * ld + i] : conj_if(op == CUBLAS_OP_C, a[i * ld + j]);
}
// A whole matrix that a triangle stands for.
template <class T>
std::vector<T> whole(const std::vector<T>& a, int ld, int n, bool upper, bool hermitian) {
  std::vector<T> out(n * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const bool stored = upper ? i <= j : i >= j;
      out[j * n + i] = stored ? a[j * ld + i] : conj_if(hermitian, a[i * ld + j]);
      if (hermitian && i == j) out[j * n + i] = real_of(out[j * n + i]);
    }
  return out;
}
template <class T>
std::vector<T> triangle(const std::vector<T>& a, int ld, int n, bool upper, bool unit, int band = 1 << 20) {
  std::vector<T> out(n * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if ((upper ? i <= j : i >= j) && std::abs(i - j) <= band) out[j * n + i] = unit && i == j ? T(1) : a[j * ld + i];
  return out;
}
template <class T>
std::vector<T> packed(const std::vector<T>& a, int ld, int n, bool upper) {
  std::vector<T> out;
  for (int j = 0; j < n; ++j)
    for (int i = upper ? 0 : j; i <= (upper ? j : n - 1); ++i) out.push_back(a[j * ld + i]);
  return out;
}
// Columns of a band: element (i, j) at row above + i - j.
template <class T>
std::vector<T> banded(const std::vector<T>& a, int lda, int m, int n, int below, int above, int ld) {
  std::vector<T> out(ld * n, T(NAN));
  for (int j = 0; j < n; ++j)
    for (int i = std::max(0, j - above); i <= std::min(m - 1, j + below); ++i) out[j * ld + above + i - j] = a[j * lda + i];
  return out;
}
template <class T>
void fill(Array<T>& a, const std::vector<T>& with) {
  std::copy(with.begin(), with.end(), a.host.begin());
  a.push();
}

template <class T>
void level2() {
  const int m = 9, n = 6, ld = 11, incx = -2, incy = 3;
  Array<T> a(ld * ld), x(64), band(ld * ld);
  for (cublasOperation_t op : ops)
    for (bool nan : {false, true}) {
      const int in = op == CUBLAS_OP_N ? n : m, out = op == CUBLAS_OP_N ? m : n;
      Array<T> y(40, nan), y2(40, nan);
      const T s = draw_one<T>(), b = nan ? T(0) : draw_one<T>();
      for (int banded_too = 0; banded_too < 2; ++banded_too) {
        std::vector<T> expected = (banded_too ? y2 : y).host;
        for (int i = 0; i < out; ++i) {
          T sum = 0;
          for (int j = 0; j < in; ++j) {
            const int r = op == CUBLAS_OP_N ? i : j, c = op == CUBLAS_OP_N ? j : i;
            if (!banded_too || (r - c <= 2 && c - r <= 1)) sum += entry(a.host, ld, op, i, j) * x.host[place(j, in, incx)];
          }
          T& to = expected[place(i, out, incy)];
          to = s * sum + (nan ? T(0) : b * to);
        }
        if (banded_too) {
          fill(band, banded(a.host, ld, m, n, 2, 1, 5));
          DO(gbmv(T(), op, m, n, 2, 1, cu(s), band.at(), 5, x.at(), incx, cu(b), y2.at(), incy));
        } else {
          DO(gemv(T(), op, m, n, cu(s), a.at(), ld, x.at(), incx, cu(b), y.at(), incy));
        }
        std::vector<T> got = (banded_too ? y2 : y).pull(), g, e;
        for (int i = 0; i < out; ++i) g.push_back(got[place(i, out, incy)]), e.push_back(expected[place(i, out, incy)]);
        EXPECT(same(g, e));
      }
    }
  for (cublasFillMode_t uplo : fills) {
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
    const T s = draw_one<T>(), b = draw_one<T>();
    auto product = [&](const std::vector<T>& full, const std::vector<T>& y) {
      std::vector<T> out = y;
      for (int i = 0; i < m; ++i) {
        T sum = 0;
        for (int j = 0; j < m; ++j) sum += full[j * m + i] * x.host[place(j, m, incx)];
        out[place(i, m, incy)] = s * sum + b * y[place(i, m, incy)];
      }
      return out;
    };
    auto with = [&](auto&& run, const std::vector<T>& full) {
      Array<T> y(40);
      const std::vector<T> expected = product(full, y.host);
      DO(run(y));
      EXPECT(same(y.pull(), expected));
    };
    with([&](Array<T>& y) { return symv(T(), uplo, m, cu(s), a.at(), ld, x.at(), incx, cu(b), y.at(), incy); }, whole(a.host, ld, m, upper, false));
    with([&](Array<T>& y) { return hemv(T(), uplo, m, cu(s), a.at(), ld, x.at(), incx, cu(b), y.at(), incy); }, whole(a.host, ld, m, upper, true));
    fill(band, packed(a.host, ld, m, upper));
    with([&](Array<T>& y) { return spmv(T(), uplo, m, cu(s), band.at(), x.at(), incx, cu(b), y.at(), incy); }, whole(a.host, ld, m, upper, true));
    std::vector<T> narrow = a.host;
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < m; ++i)
        if (std::abs(i - j) > 2) narrow[j * ld + i] = 0;
    fill(band, banded(a.host, ld, m, m, upper ? 0 : 2, upper ? 2 : 0, 4));
    with([&](Array<T>& y) { return sbmv(T(), uplo, m, 2, cu(s), band.at(), 4, x.at(), incx, cu(b), y.at(), incy); }, whole(narrow, ld, m, upper, true));

    for (cublasOperation_t op : ops)
      for (cublasDiagType_t diag : {CUBLAS_DIAG_UNIT, CUBLAS_DIAG_NON_UNIT})
        for (int kind = 0; kind < 3; ++kind) {
          std::vector<T> strong = a.host;
          for (int i = 0; i < m; ++i) strong[i * ld + i] += T(4);
          Array<T> t(ld * ld), v(64);
          fill(t, kind == 0 ? strong : kind == 1 ? packed(strong, ld, m, upper) : banded(strong, ld, m, m, upper ? 0 : 2, upper ? 2 : 0, 3));
          const std::vector<T> full = triangle(strong, ld, m, upper, diag == CUBLAS_DIAG_UNIT, kind == 2 ? 2 : 1 << 20);
          std::vector<T> expected = v.host;
          for (int i = 0; i < m; ++i) {
            T sum = 0;
            for (int j = 0; j < m; ++j) sum += entry(full, m, op, i, j) * v.host[place(j, m, incx)];
            expected[place(i, m, incx)] = sum;
          }
          if (kind == 0) DO(trmv(T(), uplo, op, diag, m, t.at(), ld, v.at(), incx));
          if (kind == 1) DO(tpmv(T(), uplo, op, diag, m, t.at(), v.at(), incx));
          if (kind == 2) DO(tbmv(T(), uplo, op, diag, m, 2, t.at(), 3, v.at(), incx));
          EXPECT(same(v.pull(), expected));
          if (kind == 0) DO(trsv(T(), uplo, op, diag, m, t.at(), ld, v.at(), incx));
          if (kind == 1) DO(tpsv(T(), uplo, op, diag, m, t.at(), v.at(), incx));
          if (kind == 2) DO(tbsv(T(), uplo, op, diag, m, 2, t.at(), 3, v.at(), incx));
          EXPECT(same(v.pull(), v.host));
        }

    typedef typename Is<T>::real R;
    const R real = R(draw());
    Array<T> r(ld * ld), r2(ld * ld), v(64), w(64), p(ld * ld), p2(ld * ld);
    fill(p, packed(r.host, ld, m, upper));
    fill(p2, packed(r2.host, ld, m, upper));
    std::vector<T> one = r.host, two = r2.host;
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < m; ++i) {
        if (upper ? i > j : i < j) continue;
        const T xi = v.host[place(i, m, incx)], xj = v.host[place(j, m, incx)], yi = w.host[place(i, m, incy)], yj = w.host[place(j, m, incy)];
        one[j * ld + i] += real * xi * conj_if(true, xj);
        two[j * ld + i] += s * xi * conj_if(true, yj) + conj_if(true, s) * yi * conj_if(true, xj);
        if (i == j) one[j * ld + i] = real_of(one[j * ld + i]), two[j * ld + i] = real_of(two[j * ld + i]);
      }
    DO(her(T(), uplo, m, &real, v.at(), incx, r.at(), ld));
    DO(her2(T(), uplo, m, cu(s), v.at(), incx, w.at(), incy, r2.at(), ld));
    DO(hpr(T(), uplo, m, &real, v.at(), incx, p.at()));
    DO(hpr2(T(), uplo, m, cu(s), v.at(), incx, w.at(), incy, p2.at()));
    EXPECT(same(r.pull(), one) && same(r2.pull(), two));
    std::vector<T> got = p.pull(), got2 = p2.pull();
    got.resize(m * (m + 1) / 2), got2.resize(m * (m + 1) / 2);
    EXPECT(same(got, packed(one, ld, m, upper)) && same(got2, packed(two, ld, m, upper)));
  }
  Array<T> g(ld * n), v(64), w(64);
  const T s = draw_one<T>();
  std::vector<T> expected = g.host;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) expected[j * ld + i] += s * v.host[place(i, m, incx)] * conj_if(true, w.host[place(j, n, incy)]);
  DO(ger(T(), m, n, cu(s), v.at(), incx, w.at(), incy, g.at(), ld));
  EXPECT(same(g.pull(), expected));
}

template <class T>
std::vector<T> times(const std::vector<T>& a, int lda, cublasOperation_t oa, const std::vector<T>& b, int ldb, cublasOperation_t ob, int m, int n, int k) {
  std::vector<T> out(m * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < k; ++l) out[j * m + i] += entry(a, lda, oa, i, l) * entry(b, ldb, ob, l, j);
  return out;
}
// s * product + b * C in the part of C that counts.
template <class T>
std::vector<T> merged(const std::vector<T>& product, T s, T b, const std::vector<T>& c, int ld, int m, int n, std::function<bool(int, int)> counts = {}) {
  std::vector<T> out = c;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      if (!counts || counts(i, j)) out[j * ld + i] = s * product[j * m + i] + (b == T(0) ? T(0) : b * c[j * ld + i]);
  return out;
}
template <class T>
std::vector<T> cut(const std::vector<T>& c, int ld, int m, int n) {
  std::vector<T> out;
  for (int j = 0; j < n; ++j) out.insert(out.end(), c.begin() + j * ld, c.begin() + j * ld + m);
  return out;
}

template <class T>
void level3() {
  typedef typename Is<T>::real R;
  const int m = 7, n = 5, k = 6, ld = 9;
  Array<T> a(ld * ld), b(ld * ld);
  const T s = draw_one<T>(), t = draw_one<T>();
  for (cublasOperation_t oa : ops)
    for (cublasOperation_t ob : ops)
      for (bool nan : {false, true}) {
        Array<T> c(ld * ld, nan);
        const T keep = nan ? T(0) : t;
        const auto expected = merged(times(a.host, ld, oa, b.host, ld, ob, m, n, k), s, keep, c.host, ld, m, n);
        DO(gemm(T(), oa, ob, m, n, k, cu(s), a.at(), ld, b.at(), ld, cu(keep), c.at(), ld));
        EXPECT(same(cut(c.pull(), ld, m, n), cut(expected, ld, m, n)));
        Array<T> sum(ld * ld);
        std::vector<T> both(m * n);
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < m; ++i) both[j * m + i] = s * entry(a.host, ld, oa, i, j) + t * entry(b.host, ld, ob, i, j);
        DO(geam(T(), oa, ob, m, n, cu(s), a.at(), ld, cu(t), b.at(), ld, sum.at(), ld));
        EXPECT(same(cut(sum.pull(), ld, m, n), both));
      }
  for (cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    const bool left = side == CUBLAS_SIDE_LEFT;
    const int order = left ? m : n;
    auto product = [&](const std::vector<T>& square, cublasOperation_t op) {
      return left ? times(square, order, op, b.host, ld, CUBLAS_OP_N, m, n, m) : times(b.host, ld, CUBLAS_OP_N, square, order, op, m, n, n);
    };
    for (cublasFillMode_t uplo : fills) {
      const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
      Array<T> c(ld * ld), h(ld * ld);
      const auto expected = merged(product(whole(a.host, ld, order, upper, false), CUBLAS_OP_N), s, t, c.host, ld, m, n);
      const auto hermitian = merged(product(whole(a.host, ld, order, upper, true), CUBLAS_OP_N), s, t, h.host, ld, m, n);
      DO(symm(T(), side, uplo, m, n, cu(s), a.at(), ld, b.at(), ld, cu(t), c.at(), ld));
      DO(hemm(T(), side, uplo, m, n, cu(s), a.at(), ld, b.at(), ld, cu(t), h.at(), ld));
      EXPECT(same(c.pull(), expected) && same(h.pull(), hermitian));
      for (cublasOperation_t op : ops)
        for (cublasDiagType_t diag : {CUBLAS_DIAG_UNIT, CUBLAS_DIAG_NON_UNIT}) {
          Array<T> strong(ld * ld), out(ld * ld), back(ld * ld);
          strong.host = a.host;
          for (int i = 0; i < order; ++i) strong.host[i * ld + i] += T(4);
          strong.push();
          const auto full = triangle(strong.host, ld, order, upper, diag == CUBLAS_DIAG_UNIT);
          const auto want = merged(product(full, op), s, T(0), out.host, ld, m, n);
          DO(trmm(T(), side, uplo, op, diag, m, n, cu(s), strong.at(), ld, b.at(), ld, out.at(), ld));
          EXPECT(same(cut(out.pull(), ld, m, n), cut(want, ld, m, n)));
          const T inverse = T(1) / s;
          DO(trsm(T(), side, uplo, op, diag, m, n, cu(inverse), strong.at(), ld, out.at(), ld));
          EXPECT(same(cut(out.pull(), ld, m, n), cut(b.host, ld, m, n)));
        }
    }
    Array<T> d(ld * ld);
    std::vector<T> scaled(m * n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) scaled[j * m + i] = a.host[j * ld + i] * b.host[2 * (left ? i : j)];
    DO(dgmm(T(), side, m, n, a.at(), ld, b.at(), 2, d.at(), ld));
    EXPECT(same(cut(d.pull(), ld, m, n), scaled));
  }
  for (cublasFillMode_t uplo : fills)
    for (cublasOperation_t op : ops) {
      const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
      auto counts = [=](int i, int j) { return upper ? i <= j : i >= j; };
      const bool plain = op == CUBLAS_OP_N;
      auto outer = [&](const std::vector<T>& x, const std::vector<T>& y, bool conj) {
        const cublasOperation_t other = conj ? CUBLAS_OP_C : CUBLAS_OP_T;
        return times(x, ld, plain ? CUBLAS_OP_N : other, y, ld, plain ? other : CUBLAS_OP_N, n, n, k);
      };
      if (!Is<T>::complex || op != CUBLAS_OP_C) {
        Array<T> c(ld * ld), c2(ld * ld);
        const auto expected = merged<T>(outer(a.host, a.host, false), s, t, c.host, ld, n, n, counts);
        const auto expected2 = merged<T>(outer(a.host, b.host, false), s, t, c2.host, ld, n, n, counts);
        DO(syrk(T(), uplo, op, n, k, cu(s), a.at(), ld, cu(t), c.at(), ld));
        DO(syrkx(T(), uplo, op, n, k, cu(s), a.at(), ld, b.at(), ld, cu(t), c2.at(), ld));
        EXPECT(same(c.pull(), expected) && same(c2.pull(), expected2));
      }
      if (!Is<T>::complex || op != CUBLAS_OP_T) {
        Array<T> c(ld * ld), c2(ld * ld);
        const R rs = R(draw()), rt = R(draw());
        auto expected = merged<T>(outer(a.host, a.host, true), T(rs), T(rt), c.host, ld, n, n, counts);
        std::vector<T> both = outer(a.host, b.host, true), other = outer(b.host, a.host, true);
        for (int i = 0; i < n * n; ++i) both[i] = s * both[i] + conj_if(true, s) * other[i];
        auto expected2 = merged<T>(both, T(1), T(rt), c2.host, ld, n, n, counts);
        for (int i = 0; i < n; ++i) expected[i * ld + i] = real_of(expected[i * ld + i]), expected2[i * ld + i] = real_of(expected2[i * ld + i]);
        DO(herk(T(), uplo, op, n, k, &rs, a.at(), ld, &rt, c.at(), ld));
        DO(her2k(T(), uplo, op, n, k, cu(s), a.at(), ld, b.at(), ld, &rt, c2.at(), ld));
        EXPECT(same(c.pull(), expected) && same(c2.pull(), expected2));
      }
    }
}

template <class T>
void all() {
  level1<T>();
  level2<T>();
  level3<T>();
}

int main() {
  DO(cublasCreate(&handle));
  all<float>();
  all<double>();
  all<C>();
  all<Z>();
  DO(cublasDestroy(handle));
  EXPECT(cudaGetLastError() == cudaSuccess);
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
