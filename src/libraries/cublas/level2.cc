// Matrices and vectors, for every kind of storage (storage.h). Vectors are gathered first and scattered at the end.
#include <cmath>

#include "libraries/cublas/storage.h"

namespace warpbeam::cublas {

namespace {

constexpr size_t area(int64_t m, int64_t n) { return static_cast<size_t>(m) * static_cast<size_t>(n); }

template <class W, class T>
std::vector<W> gather(const Vector<T>& v) {
  std::vector<W> out(static_cast<size_t>(v.n));
  for (int64_t i = 0; i < v.n; ++i) out[i] = convert<W>(v[i]);
  return out;
}

template <class W, class T>
void scatter(const std::vector<W>& from, const Vector<T>& to) {
  for (int64_t i = 0; i < to.n; ++i) to[i] = convert<T>(from[i]);
}

// y before the product is added: nothing is read where beta is zero.
template <class W, class T>
std::vector<W> scaled(Memory& memory, const Vector<T>& y, W beta) {
  if (beta == W{0}) return std::vector<W>(static_cast<size_t>(y.n));
  y.reads(memory);
  std::vector<W> out = gather<W>(y);
  for (W& value : out) value *= beta;
  return out;
}

// --- products ----------------------------------------------------------------------------------------------------------

// y += alpha op(A) x, in numbers of type W.
template <class W, class V>
void multiply(cublasOperation_t op, int64_t m, int64_t n, W alpha, const Storage<V>& a, const std::vector<W>& x, std::vector<W>& y) {
  for (int64_t j = 0; j < n; ++j) {
    const auto c = a.column(j, m);
    if (op == CUBLAS_OP_N) {
      const W factor = alpha * x[j];
      for (int64_t i = c.low; i <= c.high; ++i) y[i] += factor * convert<W>(c.at(i));
    } else {
      W sum{};
      for (int64_t i = c.low; i <= c.high; ++i) sum += conjugate_if(op == CUBLAS_OP_C, convert<W>(c.at(i))) * x[i];
      y[j] += alpha * sum;
    }
  }
}

template <class W, class V, class X, class Y>
void run_gemv(Memory& memory, cublasOperation_t op, int64_t m, int64_t n, W alpha, const Storage<V>& a, const Vector<X>& x, W beta,
              const Vector<Y>& y) {
  std::vector<W> out = scaled(memory, y, beta);
  y.writes(memory);
  if (alpha != W{0}) {
    x.reads(memory);
    a.touch(memory, m, n);
    multiply(op, m, n, alpha, a, gather<W>(x), out);
  }
  scatter(out, y);
}

struct GemvShape {
  cublasOperation_t op;
  int64_t m, n;
  int64_t in() const { return op == CUBLAS_OP_N ? n : m; }
  int64_t out() const { return op == CUBLAS_OP_N ? m : n; }
  bool empty() const { return m == 0 || n == 0; }
  size_t effort() const { return area(m, n); }
  void check(const Call& call, int64_t incx, int64_t incy) const {
    cublas::check(call, op);
    call.require(m >= 0 && n >= 0 && incx != 0 && incy != 0);
  }
};

template <class T, class V>
cublasStatus_t gemv(Call& call, cublasOperation_t trans, int64_t m, int64_t n, const T* alpha, const Storage<V>& a, const T* x,
                    int64_t incx, const T* beta, T* y, int64_t incy) {
  const GemvShape shape{trans, m, n};
  shape.check(call, incx, incy);
  a.check(call, m);
  const auto factor = call.scalar(alpha), keep = call.scalar(beta);
  if (shape.empty()) return CUBLAS_STATUS_SUCCESS;
  return call.submit(shape.effort(), [=, v = vector(x, shape.in(), incx), w = vector(y, shape.out(), incy)](Memory& memory) {
    run_gemv(memory, trans, m, n, factor.get(memory), a, v, keep.get(memory), w);
  });
}

template <class S, class A, class Y>
cublasStatus_t gemv_batched(Call& call, cublasOperation_t trans, int64_t m, int64_t n, const S* alpha, const A* const a[], int64_t lead,
                            const A* const x[], int64_t incx, const S* beta, Y* const y[], int64_t incy, int64_t count) {
  const GemvShape shape{trans, m, n};
  shape.check(call, incx, incy);
  check_lead(call, lead, m);
  call.require(count >= 0);
  const auto factor = call.scalar(alpha), keep = call.scalar(beta);
  if (shape.empty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(shape.effort() * count, [=](Memory& memory) {
    const auto s = factor.get(memory), b = keep.get(memory);
    const size_t bytes = static_cast<size_t>(count) * sizeof(void*);
    memory.reads(a, bytes), memory.reads(x, bytes), memory.reads(y, bytes);
    for (int64_t k = 0; k < count; ++k)
      run_gemv(memory, trans, m, n, s, full(a[k], lead), vector(x[k], shape.in(), incx), b, vector(y[k], shape.out(), incy));
  });
}

template <class S, class A, class Y>
cublasStatus_t gemv_strided(Call& call, cublasOperation_t trans, int64_t m, int64_t n, const S* alpha, const A* a, int64_t lead,
                            int64_t stride_a, const A* x, int64_t incx, int64_t stride_x, const S* beta, Y* y, int64_t incy,
                            int64_t stride_y, int64_t count) {
  const GemvShape shape{trans, m, n};
  shape.check(call, incx, incy);
  check_lead(call, lead, m);
  call.require(count >= 0);
  const auto factor = call.scalar(alpha), keep = call.scalar(beta);
  if (shape.empty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(shape.effort() * count, [=](Memory& memory) {
    const auto s = factor.get(memory), b = keep.get(memory);
    for (int64_t k = 0; k < count; ++k)
      run_gemv(memory, trans, m, n, s, full(a + k * stride_a, lead), vector(x + k * stride_x, shape.in(), incx), b,
               vector(y + k * stride_y, shape.out(), incy));
  });
}

// Of a hermitian matrix the imaginary parts of the diagonal are taken as zero.
template <class T, class V>
cublasStatus_t symv(Call& call, cublasFillMode_t uplo, int64_t n, const T* alpha, const Storage<V>& a, const T* x, int64_t incx,
                    const T* beta, T* y, int64_t incy, bool hermitian) {
  using W = Value<T>;
  check(call, uplo);
  call.require(n >= 0 && incx != 0 && incy != 0);
  a.check(call, n);
  const auto factor = call.scalar(alpha), keep = call.scalar(beta);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(area(n, n), [=, v = vector(x, n, incx), w = vector(y, n, incy)](Memory& memory) {
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
    const W s = factor.get(memory);
    std::vector<W> out = scaled(memory, w, W(keep.get(memory)));
    w.writes(memory);
    if (s != W{0}) {
      v.reads(memory);
      a.touch(memory, n, upper);
      const std::vector<W> in = gather<W>(v);
      for (int64_t j = 0; j < n; ++j) {
        const auto c = a.column(j, n, upper);
        W sum{};
        for (int64_t i = c.low; i <= c.high; ++i) {
          const W entry = c.at(i);
          if (i == j) {
            sum += (hermitian ? W(real_part(entry)) : entry) * in[j];
            continue;
          }
          out[i] += s * entry * in[j];
          sum += conjugate_if(hermitian, entry) * in[i];
        }
        out[j] += s * sum;
      }
    }
    scatter(out, w);
  });
}

// --- triangles -----------------------------------------------------------------------------------------------------------

template <class V>
struct Triangle {
  cublasFillMode_t uplo;
  cublasOperation_t op;
  cublasDiagType_t diag;
  int64_t n;
  Storage<V> a;
  bool upper() const { return uplo == CUBLAS_FILL_MODE_UPPER; }
  bool unit() const { return diag == CUBLAS_DIAG_UNIT; }
  void check(const Call& call, int64_t inc) const {
    cublas::check(call, uplo);
    cublas::check(call, op);
    cublas::check(call, diag);
    call.require(n >= 0 && inc != 0);
    a.check(call, n);
  }
};

template <class T, class V>
cublasStatus_t trmv(Call& call, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int64_t n, const Storage<V>& a, T* x,
                    int64_t inc) {
  using W = Value<T>;
  const Triangle<V> t{uplo, trans, diag, n, a};
  t.check(call, inc);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(area(n, n), [=, v = vector(x, n, inc)](Memory& memory) {
    v.reads(memory), v.writes(memory);
    a.touch(memory, n, t.upper());
    const std::vector<W> in = gather<W>(v);
    std::vector<W> out(in.size());
    for (int64_t j = 0; j < n; ++j) {
      const auto c = a.column(j, n, t.upper());
      for (int64_t i = c.low; i <= c.high; ++i) {
        const W entry = i == j && t.unit() ? W(1) : c.at(i);
        if (trans == CUBLAS_OP_N) out[i] += entry * in[j];
        else out[j] += conjugate_if(trans == CUBLAS_OP_C, entry) * in[i];
      }
    }
    scatter(out, v);
  });
}

template <class T, class V>
cublasStatus_t trsv(Call& call, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int64_t n, const Storage<V>& a, T* x,
                    int64_t inc) {
  using W = Value<T>;
  const Triangle<V> t{uplo, trans, diag, n, a};
  t.check(call, inc);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(area(n, n), [=, v = vector(x, n, inc)](Memory& memory) {
    v.reads(memory), v.writes(memory);
    a.touch(memory, n, t.upper());
    std::vector<W> out = gather<W>(v);
    const bool backwards = t.upper() == (trans == CUBLAS_OP_N);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t j = backwards ? n - 1 - k : k;
      const auto c = a.column(j, n, t.upper());
      const bool conjugate = trans == CUBLAS_OP_C;
      if (trans != CUBLAS_OP_N)
        for (int64_t i = c.low; i <= c.high; ++i)
          if (i != j) out[j] -= conjugate_if(conjugate, W(c.at(i))) * out[i];
      if (!t.unit()) out[j] /= conjugate_if(conjugate, W(c.at(j)));
      if (trans == CUBLAS_OP_N)
        for (int64_t i = c.low; i <= c.high; ++i)
          if (i != j) out[i] -= out[j] * c.at(i);
    }
    scatter(out, v);
  });
}

// --- ranks ---------------------------------------------------------------------------------------------------------------

template <class T, class V>
cublasStatus_t ger(Call& call, int64_t m, int64_t n, const T* alpha, const T* x, int64_t incx, const T* y, int64_t incy,
                   const Storage<V>& a, bool conjugate) {
  using W = Value<T>;
  call.require(m >= 0 && n >= 0 && incx != 0 && incy != 0);
  a.check(call, m);
  const auto factor = call.scalar(alpha);
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(area(m, n), [=, v = vector(x, m, incx), w = vector(y, n, incy)](Memory& memory) {
    const W s = factor.get(memory);
    if (s == W{0}) return;
    v.reads(memory), w.reads(memory);
    a.touch(memory, m, n);
    const std::vector<W> left = gather<W>(v), right = gather<W>(w);
    for (int64_t j = 0; j < n; ++j) {
      const auto c = a.column(j, m);
      const W f = s * conjugate_if(conjugate, right[j]);
      for (int64_t i = 0; i < m; ++i) c.at(i) += left[i] * f;
    }
  });
}

// Adds `term(i, j)` to a triangle; the diagonal of a hermitian matrix stays real.
template <class V, class Term>
void add_to_triangle(Memory& memory, const Storage<V>& a, int64_t n, bool upper, bool hermitian, Term&& term) {
  a.touch(memory, n, upper);
  for (int64_t j = 0; j < n; ++j) {
    const auto c = a.column(j, n, upper);
    for (int64_t i = c.low; i <= c.high; ++i) {
      c.at(i) += term(i, j);
      if (hermitian && i == j) c.at(i) = V(real_part(c.at(i)));
    }
  }
}

template <class S, class T, class V>
cublasStatus_t syr(Call& call, cublasFillMode_t uplo, int64_t n, const S* alpha, const T* x, int64_t inc, const Storage<V>& a,
                   bool hermitian) {
  check(call, uplo);
  call.require(n >= 0 && inc != 0);
  a.check(call, n);
  const auto factor = call.scalar(alpha);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(area(n, n), [=, v = vector(x, n, inc)](Memory& memory) {
    const V s = V(factor.get(memory));
    if (s == V{0}) return;
    v.reads(memory);
    const std::vector<V> in = gather<V>(v);
    add_to_triangle(memory, a, n, uplo == CUBLAS_FILL_MODE_UPPER, hermitian,
                    [&](int64_t i, int64_t j) { return in[i] * (s * conjugate_if(hermitian, in[j])); });
  });
}

template <class T, class V>
cublasStatus_t syr2(Call& call, cublasFillMode_t uplo, int64_t n, const T* alpha, const T* x, int64_t incx, const T* y, int64_t incy,
                    const Storage<V>& a, bool hermitian) {
  check(call, uplo);
  call.require(n >= 0 && incx != 0 && incy != 0);
  a.check(call, n);
  const auto factor = call.scalar(alpha);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(area(n, n), [=, v = vector(x, n, incx), w = vector(y, n, incy)](Memory& memory) {
    const V s = factor.get(memory);
    if (s == V{0}) return;
    v.reads(memory), w.reads(memory);
    const std::vector<V> left = gather<V>(v), right = gather<V>(w);
    add_to_triangle(memory, a, n, uplo == CUBLAS_FILL_MODE_UPPER, hermitian, [&](int64_t i, int64_t j) {
      return left[i] * (s * conjugate_if(hermitian, right[j])) + right[i] * (conjugate_if(hermitian, s) * conjugate_if(hermitian, left[j]));
    });
  });
}

}  // namespace
}  // namespace warpbeam::cublas

using namespace warpbeam::cublas;

#include "warpbeam/cublas/types.inc"
#define WB_CUBLAS(name, parameters, ...) WB_DEFINE_CUBLAS(cublas##name, parameters, __VA_ARGS__)
#define WB_INT int
#include "warpbeam/cublas/level2.inc"
#undef WB_CUBLAS
#undef WB_INT
#define WB_CUBLAS(name, parameters, ...) WB_DEFINE_CUBLAS(cublas##name##_64, parameters, __VA_ARGS__)
#define WB_INT int64_t
#include "warpbeam/cublas/level2.inc"
