// Vectors. Sums are accumulated in double and rounded once.
#include <algorithm>
#include <cmath>

#include "libraries/cublas/level1_ex.h"

namespace warpbeam::cublas {

namespace {

template <class T>
using Wide = std::conditional_t<is_complex<T>, DoubleComplex, double>;

template <class T>
double size_of(T x) {
  if constexpr (is_complex<T>) return std::abs(static_cast<double>(x.real())) + std::abs(static_cast<double>(x.imag()));
  else return std::abs(static_cast<double>(x));
}

// The first element that is larger (smaller) than all before it counts from 1.
template <class T, class Index>
cublasStatus_t extreme(Call& call, int64_t n, const T* x, int64_t inc, Index* result, bool largest) {
  call.require(result);
  if (n <= 0 || inc <= 0) return call.submit_result<Index>(0, result, [](Memory&) { return Index{0}; });
  return call.submit_result<Index>(n * sizeof(T), result, [=, v = vector(x, n, inc)](Memory& memory) {
    v.reads(memory);
    int64_t best = 0;
    double value = size_of(v[0]);
    for (int64_t i = 1; i < n; ++i) {
      const double other = size_of(v[i]);
      if (largest ? other > value : other < value) best = i, value = other;
    }
    return static_cast<Index>(best + 1);
  });
}
template <class T, class Index>
cublasStatus_t amax(Call& call, int64_t n, const T* x, int64_t inc, Index* result) {
  return extreme(call, n, x, inc, result, true);
}
template <class T, class Index>
cublasStatus_t amin(Call& call, int64_t n, const T* x, int64_t inc, Index* result) {
  return extreme(call, n, x, inc, result, false);
}

template <class T, class R>
cublasStatus_t asum(Call& call, int64_t n, const T* x, int64_t inc, R* result) {
  call.require(result);
  if (n <= 0 || inc <= 0) return call.submit_result<R>(0, result, [](Memory&) { return R{0}; });
  return call.submit_result<R>(n * sizeof(T), result, [=, v = vector(x, n, inc)](Memory& memory) {
    v.reads(memory);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += size_of(v[i]);
    return static_cast<R>(sum);
  });
}

// Squares of doubles may leave the range that their root stays in.
template <class V>
double norm(const V& v) {
  double sum = 0, largest = 0;
  auto each = [&](auto&& take) {
    for (int64_t i = 0; i < v.n; ++i) {
      const auto x = v[i];
      if constexpr (is_complex<std::remove_cvref_t<decltype(x)>>) take(static_cast<double>(x.real())), take(static_cast<double>(x.imag()));
      else take(static_cast<double>(x));
    }
  };
  each([&](double x) { sum += x * x; });
  if (std::isfinite(sum) && sum > 1e-290) return std::sqrt(sum);
  each([&](double x) { largest = std::isnan(x) ? x : std::max(largest, std::abs(x)); });
  if (std::isnan(sum) || largest == 0 || std::isinf(largest)) return std::isnan(sum) ? sum : largest;
  sum = 0;
  each([&](double x) { sum += x / largest * (x / largest); });
  return largest * std::sqrt(sum);
}

template <class T, class R>
cublasStatus_t nrm2(Call& call, int64_t n, const T* x, int64_t inc, R* result) {
  call.require(result);
  if (n <= 0 || inc <= 0) return call.submit_result<R>(0, result, [](Memory&) { return R{0}; });
  return call.submit_result<R>(n * sizeof(T), result, [=, v = vector(x, n, inc)](Memory& memory) {
    v.reads(memory);
    return static_cast<R>(norm(v));
  });
}

template <class T>
cublasStatus_t axpy(Call& call, int64_t n, const T* alpha, const T* x, int64_t incx, T* y, int64_t incy) {
  const auto a = call.scalar(alpha);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * sizeof(T), [=, v = vector(x, n, incx), w = vector(y, n, incy)](Memory& memory) {
    const auto factor = a.get(memory);
    if (factor == Value<T>{0}) return;
    v.reads(memory), w.reads(memory), w.writes(memory);
    if (incx == 1 && incy == 1)
      for (int64_t i = 0; i < n; ++i) w.base[i] += factor * v.base[i];
    else
      for (int64_t i = 0; i < n; ++i) w[i] += factor * v[i];
  });
}

template <class T>
cublasStatus_t copy(Call& call, int64_t n, const T* x, int64_t incx, T* y, int64_t incy) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * sizeof(T), [=, v = vector(x, n, incx), w = vector(y, n, incy)](Memory& memory) {
    v.reads(memory), w.writes(memory);
    for (int64_t i = 0; i < n; ++i) w[i] = v[i];
  });
}

template <class T>
cublasStatus_t swap(Call& call, int64_t n, T* x, int64_t incx, T* y, int64_t incy) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * sizeof(T), [=, v = vector(x, n, incx), w = vector(y, n, incy)](Memory& memory) {
    v.reads(memory), w.reads(memory), v.writes(memory), w.writes(memory);
    for (int64_t i = 0; i < n; ++i) std::swap(v[i], w[i]);
  });
}

template <class T>
cublasStatus_t dot(Call& call, int64_t n, const T* x, int64_t incx, const T* y, int64_t incy, T* result, bool conjugate) {
  using V = Value<T>;
  call.require(result);
  if (n <= 0) return call.submit_result<V>(0, values(result), [](Memory&) { return V{0}; });
  return call.submit_result<V>(n * sizeof(T), values(result), [=, v = vector(x, n, incx), w = vector(y, n, incy)](Memory& memory) {
    v.reads(memory), w.reads(memory);
    Wide<V> sum{};
    for (int64_t i = 0; i < n; ++i) sum += convert<Wide<V>>(conjugate_if(conjugate, v[i])) * convert<Wide<V>>(w[i]);
    return convert<V>(sum);
  });
}

template <class A, class T>
cublasStatus_t scal(Call& call, int64_t n, const A* alpha, T* x, int64_t inc) {
  const auto a = call.scalar(alpha);
  if (n <= 0 || inc <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * sizeof(T), [=, v = vector(x, n, inc)](Memory& memory) {
    const auto factor = a.get(memory);
    v.reads(memory), v.writes(memory);
    for (int64_t i = 0; i < n; ++i) v[i] *= factor;
  });
}

template <class T, class R, class S>
cublasStatus_t rot(Call& call, int64_t n, T* x, int64_t incx, T* y, int64_t incy, const R* c, const S* s) {
  const auto cosine = call.scalar(c);
  const auto sine = call.scalar(s);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * sizeof(T), [=, v = vector(x, n, incx), w = vector(y, n, incy)](Memory& memory) {
    const auto c = cosine.get(memory);
    const auto s = sine.get(memory);
    v.reads(memory), w.reads(memory), v.writes(memory), w.writes(memory);
    for (int64_t i = 0; i < n; ++i) {
      const auto a = v[i], b = w[i];
      v[i] = c * a + s * b;
      w[i] = c * b - conjugate_if(true, s) * a;
    }
  });
}

template <class T>
cublasStatus_t rotm(Call& call, int64_t n, T* x, int64_t incx, T* y, int64_t incy, const T* param) {
  call.require(param);
  const bool on_device = call.scalars_on_device();
  Modified<T> given;
  if (!on_device) std::copy_n(param, 5, given.param);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(n * sizeof(T), [=, v = vector(x, n, incx), w = vector(y, n, incy)](Memory& memory) {
    Modified<T> rotation = given;
    if (on_device) {
      memory.reads(param, 5 * sizeof(T));
      std::copy_n(param, 5, rotation.param);
    }
    if (!rotation.prepare()) return;
    v.reads(memory), w.reads(memory), v.writes(memory), w.writes(memory);
    for (int64_t i = 0; i < n; ++i) rotation.apply(v[i], w[i]);
  });
}

}  // namespace
}  // namespace warpbeam::cublas

using namespace warpbeam::cublas;

#include "warpbeam/cublas/types.inc"
#define WB_CUBLAS(name, parameters, ...) WB_DEFINE_CUBLAS(cublas##name, parameters, __VA_ARGS__)
#define WB_INT int
#include "warpbeam/cublas/level1.inc"
#undef WB_CUBLAS
#undef WB_INT
#define WB_CUBLAS(name, parameters, ...) WB_DEFINE_CUBLAS(cublas##name##_64, parameters, __VA_ARGS__)
#define WB_INT int64_t
#include "warpbeam/cublas/level1.inc"
