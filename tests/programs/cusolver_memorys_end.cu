// build: -lcusolver
// cuSOLVER on matrices of complex numbers with which an allocation ends: what the work loads beyond a matrix is not there.
#include <cusolverDn.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define REQUIRE(holds)                                        \
  do {                                                        \
    if (!(holds)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #holds); \
      std::exit(1);                                           \
    }                                                         \
  } while (0)
#define CUDA(call) REQUIRE((call) == cudaSuccess)
#define SOLVER(call) REQUIRE((call) == CUSOLVER_STATUS_SUCCESS)

// The last bytes of an allocation as large as those that are mapped by themselves.
template <class T>
struct AtTheEnd {
  static constexpr size_t kBytes = 4 << 20;
  char* base = nullptr;
  T* p = nullptr;
  size_t n;
  explicit AtTheEnd(size_t n) : n(n) {
    CUDA(cudaMalloc(&base, kBytes));
    p = reinterpret_cast<T*>(base + kBytes) - n;
  }
  template <class F>
  explicit AtTheEnd(const std::vector<F>& from) : AtTheEnd(from.size()) {
    static_assert(sizeof(F) == sizeof(T));
    CUDA(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~AtTheEnd() { cudaFree(base); }
  AtTheEnd(const AtTheEnd&) = delete;
  operator T*() const { return p; }
  template <class F>
  std::vector<F> get() const {
    std::vector<F> out(n);
    CUDA(cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }
};

static double random_number() {
  static unsigned seed = 7;
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) / double(1 << 24) - 0.5;
}

template <class V>
static double norm_of(const std::vector<V>& a) {
  double sum = 0;
  for (V x : a) sum += std::norm(x);
  return std::sqrt(sum);
}

#define FUNCTIONS(P, T, V, R)                                                                                                       \
  static void check_##P(cusolverDnHandle_t handle, int m, int n, double tolerance) {                                                \
    std::vector<V> a(size_t(m) * n), h(size_t(n) * n);                                                                              \
    for (V& x : a) x = V(random_number(), random_number());                                                                         \
    for (int j = 0; j < n; ++j)                                                                                                     \
      for (int i = 0; i < n; ++i)                                                                                                   \
        for (int k = 0; k < m; ++k) h[size_t(j) * n + i] += std::conj(a[size_t(i) * m + k]) * a[size_t(j) * m + k];                 \
    AtTheEnd<R> s(n), w(n), d(n), e(n);                                                                                             \
    AtTheEnd<T> u(size_t(m) * m), vt(size_t(n) * n), tau(n), taup(n), work(1 << 15);                                                \
    AtTheEnd<int> info(1);                                                                                                          \
    double sum = 0;                                                                                                                 \
    for (char job : {'N', 'A'}) { /* the squares of the singular values are the sum of the squares of all elements */              \
      AtTheEnd<T> da(a);                                                                                                            \
      SOLVER(cusolverDn##P##gesvd(handle, job, job, m, n, da, m, s, u, m, vt, n, work, 1 << 15, nullptr, info));                    \
      sum = 0;                                                                                                                      \
      for (R x : s.get<R>()) sum += double(x) * x;                                                                                  \
      REQUIRE(std::fabs(std::sqrt(sum) - norm_of(a)) < tolerance * norm_of(a));                                                     \
    }                                                                                                                               \
    REQUIRE(std::fabs(norm_of(u.get<V>()) - std::sqrt(double(m))) < tolerance * m);                                                 \
    REQUIRE(std::fabs(norm_of(vt.get<V>()) - std::sqrt(double(n))) < tolerance * n);                                                \
    AtTheEnd<T> bidiagonal(a);                                                                                                      \
    SOLVER(cusolverDn##P##gebrd(handle, m, n, bidiagonal, m, d, e, tau, taup, work, 1 << 15, info));                                \
    REQUIRE(info.get<int>()[0] == 0);                                                                                               \
    SOLVER(cusolverDn##P##ungbr(handle, CUBLAS_SIDE_LEFT, m, n, n, bidiagonal, m, tau, work, 1 << 15, info));                       \
    REQUIRE(std::fabs(norm_of(bidiagonal.get<V>()) - std::sqrt(double(n))) < tolerance * m);                                        \
    for (cublasFillMode_t half : {CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_LOWER}) {                                                \
      AtTheEnd<T> dh(h), tridiagonal(h), inverse(h);                                                                                \
      SOLVER(cusolverDn##P##heevd(handle, CUSOLVER_EIG_MODE_VECTOR, half, n, dh, n, w, work, 1 << 15, info));                       \
      double trace = 0;                                                                                                             \
      for (R x : w.get<R>()) trace += x;                                                                                            \
      REQUIRE(std::fabs(trace - sum) < tolerance * sum);                                                                            \
      SOLVER(cusolverDn##P##hetrd(handle, half, n, tridiagonal, n, d, e, tau, work, 1 << 15, info));                                \
      trace = 0;                                                                                                                    \
      for (R x : d.get<R>()) trace += x;                                                                                            \
      REQUIRE(std::fabs(trace - sum) < tolerance * sum);                                                                            \
      SOLVER(cusolverDn##P##potrf(handle, half, n, inverse, n, work, 1 << 15, info));                                               \
      REQUIRE(info.get<int>()[0] == 0);                                                                                             \
      SOLVER(cusolverDn##P##potri(handle, half, n, inverse, n, work, 1 << 15, info));                                               \
      REQUIRE(info.get<int>()[0] == 0);                                                                                             \
    }                                                                                                                               \
  }
FUNCTIONS(C, cuComplex, std::complex<float>, float)
FUNCTIONS(Z, cuDoubleComplex, std::complex<double>, double)

int main() {
  cusolverDnHandle_t handle;
  SOLVER(cusolverDnCreate(&handle));
  for (int n : {2, 3, 15, 17, 33, 64})
    for (int m : {n, n + 1, n + 3}) {
      check_C(handle, m, n, 1e-4);
      check_Z(handle, m, n, 1e-10);
    }
  SOLVER(cusolverDnDestroy(handle));
  std::puts("PASSED");
}
