// Systems of equations and triangular factors, for all types: with letters and with types as arguments.
#pragma once
#include "libraries/cusolver/call.h"

namespace warpbeam::cusolver {

template <class T>
cusolverStatus_t potrf(Call& call, cublasFillMode_t uplo, int64_t n, T* A, int64_t lda, int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  return call.submit(cube(n), [=](Memory& memory) {
    auto* a = values(A);
    read_and_write_triangle(memory, a, n, lda, half);
    set_info(memory, info, lapack::potrf(half, static_cast<int>(n), a, static_cast<int>(lda)));
  });
}

template <class T>
cusolverStatus_t potrs(Call& call, cublasFillMode_t uplo, int64_t n, int64_t columns, const T* A, int64_t lda, T* B, int64_t ldb,
                       int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  call.require_matrix(n, columns, ldb);
  return call.submit(static_cast<size_t>(n * n * columns), [=](Memory& memory) {
    auto* b = values(B);
    touch_triangle(memory, A, n, lda, sizeof(T), half == 'U', false);
    read_and_write(memory, b, n, columns, ldb);
    set_info(
        memory, info,
        lapack::potrs(half, static_cast<int>(n), static_cast<int>(columns), values(A), static_cast<int>(lda), b, static_cast<int>(ldb)));
  });
}

// Gauss without a choice of pivots. Gives the first column whose pivot is zero, counted from 1, or 0.
template <class V>
int factor_without_pivots(int64_t m, int64_t n, V* a, int64_t lda) {
  int info = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    V* column = a + k * lda;
    if (column[k] == V{0}) {
      if (!info) info = static_cast<int>(k) + 1;
      continue;
    }
    for (int64_t i = k + 1; i < m; ++i) column[i] /= column[k];
    for (int64_t j = k + 1; j < n; ++j)
      for (int64_t i = k + 1; i < m; ++i) a[j * lda + i] -= column[i] * a[j * lda + k];
  }
  return info;
}

// `Pivot` is int or, in the functions with 64-bit sizes, int64_t.
template <class T, class Pivot>
cusolverStatus_t getrf(Call& call, int64_t m, int64_t n, T* A, int64_t lda, Pivot* pivots, int* info) {
  call.require_matrix(m, n, lda);
  return call.submit(static_cast<size_t>(m * n * std::min(m, n)), [=](Memory& memory) {
    auto* a = values(A);
    read_and_write(memory, a, m, n, lda);
    if (!pivots) return set_info(memory, info, factor_without_pivots(m, n, a, lda));
    const int64_t count = std::min(m, n);
    memory.writes(pivots, static_cast<size_t>(count) * sizeof(Pivot));
    std::vector<int> found(static_cast<size_t>(count));
    const int result = lapack::getrf(static_cast<int>(m), static_cast<int>(n), a, static_cast<int>(lda), found.data());
    std::copy(found.begin(), found.end(), pivots);
    set_info(memory, info, result);
  });
}

// Pivots that no factorisation gave would lead outside of the matrix: such count as "the row stays".
template <class Pivot>
std::vector<int> pivots_or_identity(Memory& memory, const Pivot* pivots, int64_t n) {
  std::vector<int> out(static_cast<size_t>(n));
  if (pivots) memory.reads(pivots, static_cast<size_t>(n) * sizeof(Pivot));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = pivots ? pivots[i] : i + 1;
    out[i] = static_cast<int>(row < 1 || row > n ? i + 1 : row);
  }
  return out;
}

template <class T, class Pivot>
cusolverStatus_t getrs(Call& call, cublasOperation_t op, int64_t n, int64_t columns, const T* A, int64_t lda, const Pivot* pivots, T* B,
                       int64_t ldb, int* info) {
  const char how = letter(call, op);
  call.require_matrix(n, n, lda);
  call.require_matrix(n, columns, ldb);
  return call.submit(static_cast<size_t>(n * n * columns), [=](Memory& memory) {
    auto* b = values(B);
    read_matrix(memory, A, n, n, lda, sizeof(T));
    read_and_write(memory, b, n, columns, ldb);
    const std::vector<int> rows = pivots_or_identity(memory, pivots, n);
    set_info(memory, info,
             lapack::getrs(how, static_cast<int>(n), static_cast<int>(columns), values(A), static_cast<int>(lda), rows.data(), b,
                           static_cast<int>(ldb)));
  });
}

// A pivot below zero stands for two rows, and both say the same. What no factorisation gave counts as "the row stays", too.
template <class Pivot>
std::vector<int> indefinite_pivots(Memory& memory, const Pivot* pivots, int64_t n, char half) {
  memory.reads(pivots, static_cast<size_t>(n) * sizeof(Pivot));
  std::vector<int> out(static_cast<size_t>(n));
  const auto known = [&](int64_t i) { return pivots[i] != 0 && pivots[i] >= -n && pivots[i] <= n; };
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int>(known(i) && pivots[i] > 0 ? pivots[i] : i + 1);
  // Pairs are taken from the end of the triangle at which the solvers begin.
  const int64_t step = half == 'U' ? -1 : 1;
  for (int64_t i = half == 'U' ? n - 1 : 0; i + step >= 0 && i + step < n; i += step)
    if (known(i) && pivots[i] < 0 && pivots[i] == pivots[i + step]) {
      out[i] = out[i + step] = static_cast<int>(pivots[i]);
      i += step;
    }
  return out;
}

// Both refine results of lower precision on a GPU. Here they are computed in the precision that is asked for, at once; the
// matrix stays as it was, as after refinements that came to an end.
template <class T>
cusolverStatus_t gesv(Call& call, int n, int columns, T* A, int lda, int* pivots, T* B, int ldb, T* X, int ldx, int* iterations,
                      int* info) {
  call.require(iterations);
  call.require_matrix(n, n, lda);
  call.require_matrix(n, columns, ldb);
  call.require_matrix(n, columns, ldx);
  *iterations = 0;
  return call.submit(cube(n), [=](Memory& memory) {
    const auto *a = values(A), *b = values(B);
    auto* x = values(X);
    read_matrix(memory, a, n, n, lda, sizeof(T));
    read_matrix(memory, b, n, columns, ldb, sizeof(T)), write_matrix(memory, x, n, columns, ldx, sizeof(T));
    std::vector<Value<T>> factors = dense_copy(a, n, n, lda);
    std::vector<int> rows(static_cast<size_t>(n));
    const int lead = std::max(1, n), result = lapack::getrf(n, n, factors.data(), lead, rows.data());
    if (pivots) memory.writes(pivots, n * sizeof(int)), std::copy(rows.begin(), rows.end(), pivots);
    for (int j = 0; j < columns; ++j) std::copy_n(b + static_cast<size_t>(j) * ldb, n, x + static_cast<size_t>(j) * ldx);
    if (result == 0) lapack::getrs('N', n, columns, factors.data(), lead, rows.data(), x, ldx);
    set_info(memory, info, result);
  });
}

template <class T>
cusolverStatus_t gels(Call& call, int m, int n, int columns, T* A, int lda, T* B, int ldb, T* X, int ldx, int* iterations, int* info) {
  call.require(iterations);
  call.require_matrix(m, n, lda);
  call.require_matrix(m, columns, ldb);
  call.require_matrix(n, columns, ldx);
  call.support(m >= n);  // as documented
  *iterations = 0;
  return call.submit(static_cast<size_t>(m) * n * n, [=](Memory& memory) {
    const auto *a = values(A), *b = values(B);
    auto* x = values(X);
    read_matrix(memory, a, m, n, lda, sizeof(T));
    read_matrix(memory, b, m, columns, ldb, sizeof(T)), write_matrix(memory, x, n, columns, ldx, sizeof(T));
    std::vector<Value<T>> factors = dense_copy(a, m, n, lda), right = dense_copy(b, m, columns, ldb);
    const int lead = std::max(1, m), result = lapack::gels('N', m, n, columns, factors.data(), lead, right.data(), lead);
    for (int j = 0; j < columns; ++j) std::copy_n(right.data() + static_cast<size_t>(j) * m, n, x + static_cast<size_t>(j) * ldx);
    set_info(memory, info, result);
  });
}

template <class T>
cusolverStatus_t geqrf(Call& call, int64_t m, int64_t n, T* A, int64_t lda, T* tau, int* info) {
  call.require_matrix(m, n, lda);
  return call.submit(static_cast<size_t>(m * n * std::min(m, n)), [=](Memory& memory) {
    auto* a = values(A);
    read_and_write(memory, a, m, n, lda);
    memory.writes(tau, static_cast<size_t>(std::min(m, n)) * sizeof(T));
    set_info(memory, info, lapack::geqrf(static_cast<int>(m), static_cast<int>(n), a, static_cast<int>(lda), values(tau)));
  });
}

}  // namespace warpbeam::cusolver
