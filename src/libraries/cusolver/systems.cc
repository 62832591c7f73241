// Systems of equations and orthogonal factors: the functions with a letter for the type that are in no other file.
#include "libraries/cusolver/systems.h"

#include "libraries/cusolver/jacobi.h"
#include "libraries/cusolver/spectral.h"

namespace warpbeam::cusolver {

namespace {

cusolverStatus_t set_mode(Call& call, cusolverDeterministicMode_t mode) {
  call.require(mode == CUSOLVER_DETERMINISTIC_RESULTS || mode == CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS);
  call.handle().mode = mode;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t get_mode(Call& call, cusolverDeterministicMode_t* mode) { return give(call, call.handle().mode, mode); }

cusolverStatus_t set_math_mode(Call& call, cusolverMathMode_t mode) {
  call.require(mode == CUSOLVER_DEFAULT_MATH || mode == CUSOLVER_FP32_EMULATED_BF16X9_MATH);
  call.handle().math = mode;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t get_math_mode(Call& call, cusolverMathMode_t* mode) { return give(call, call.handle().math, mode); }
cusolverStatus_t set_strategy(Call& call, cudaEmulationStrategy_t strategy) {
  call.handle().strategy = strategy;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t get_strategy(Call& call, cudaEmulationStrategy_t* strategy) { return give(call, call.handle().strategy, strategy); }

template <class P>
void read_addresses(Memory& memory, P pointers, int count) {
  memory.reads(pointers, static_cast<size_t>(count) * sizeof(void*));
}

template <class T>
cusolverStatus_t potrf_batched(Call& call, cublasFillMode_t uplo, int n, T* a[], int lda, int* info, int count) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  call.require(count >= 0);
  if (n == 0 || count == 0) return CUSOLVER_STATUS_SUCCESS;
  return call.submit(cube(n) * count, [=](Memory& memory) {
    read_addresses(memory, a, count);
    memory.writes(info, count * sizeof(int));
    for (int k = 0; k < count; ++k) {
      read_and_write_triangle(memory, values(a[k]), n, lda, half);
      info[k] = lapack::potrf(half, n, values(a[k]), lda);
    }
  });
}

template <class T>
cusolverStatus_t potrs_batched(Call& call, cublasFillMode_t uplo, int n, int columns, T* a[], int lda, T* b[], int ldb, int* info,
                               int count) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  call.require_matrix(n, columns, ldb);
  call.require(count >= 0);
  call.support(columns <= 1);  // as documented
  if (n == 0 || columns == 0 || count == 0) return CUSOLVER_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(n) * n * count, [=](Memory& memory) {
    read_addresses(memory, a, count), read_addresses(memory, b, count);
    set_info(memory, info, 0);
    for (int k = 0; k < count; ++k) {
      touch_triangle(memory, a[k], n, lda, sizeof(T), half == 'U', false);
      read_and_write(memory, values(b[k]), n, columns, ldb);
      lapack::potrs(half, n, columns, values(a[k]), lda, values(b[k]), ldb);
    }
  });
}

template <class T>
cusolverStatus_t potri(Call& call, cublasFillMode_t uplo, int n, T* A, int lda, int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  return call.submit(cube(n), [=](Memory& memory) {
    read_and_write_triangle(memory, values(A), n, lda, half);
    set_info(memory, info, lapack::potri(half, n, values(A), lda));
  });
}

template <class T>
cusolverStatus_t laswp(Call& call, int n, T* A, int lda, int first, int last, const int* pivots, int step) {
  call.require(n >= 0 && first >= 1 && last >= first && step != 0 && lda >= 1);
  return call.submit(static_cast<size_t>(n) * (last - first + 1), [=](Memory& memory) {
    const size_t stride = static_cast<size_t>(step < 0 ? -step : step);
    // As in LAPACK, the pivot of row k is at first + (k - first) * |step|, counted from 1.
    const int* begin = pivots + (first - 1);
    memory.reads(begin, sizeof(int), static_cast<size_t>(last - first) + 1, stride * sizeof(int));
    std::vector<int> order(static_cast<size_t>(last));
    int rows = last;
    for (int k = first; k <= last; ++k) {
      order[k - 1] = begin[static_cast<size_t>(k - first) * stride];
      rows = std::max(rows, order[k - 1]);
      if (order[k - 1] < 1 || order[k - 1] > lda) order[k - 1] = k;
    }
    rows = std::min(rows, lda);
    read_and_write(memory, values(A), rows, n, lda);
    lapack::laswp(n, values(A), lda, first, last, order.data(), step < 0 ? -1 : 1);
  });
}

template <class T>
cusolverStatus_t sytrf(Call& call, cublasFillMode_t uplo, int n, T* A, int lda, int* pivots, int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  return call.submit(cube(n), [=](Memory& memory) {
    read_and_write_triangle(memory, values(A), n, lda, half);
    memory.writes(pivots, n * sizeof(int));
    set_info(memory, info, lapack::sytrf(half, n, values(A), lda, pivots));
  });
}

template <class T>
cusolverStatus_t sytri(Call& call, cublasFillMode_t uplo, int n, T* A, int lda, const int* pivots, int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  return call.submit(cube(n), [=](Memory& memory) {
    read_and_write_triangle(memory, values(A), n, lda, half);
    const std::vector<int> rows = indefinite_pivots(memory, pivots, n, half);
    set_info(memory, info, lapack::sytri(half, n, values(A), lda, rows.data()));
  });
}

template <class T>
cusolverStatus_t lauum(Call& call, cublasFillMode_t uplo, int n, T* A, int lda, int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  return call.submit(cube(n), [=](Memory& memory) {
    read_and_write_triangle(memory, values(A), n, lda, half);
    set_info(memory, info, lapack::lauum(half, n, values(A), lda));
  });
}

// --- orthogonal factors ---------------------------------------------------------------------------------------------------

template <class T>
cusolverStatus_t orgqr(Call& call, int m, int n, int k, T* A, int lda, const T* tau, int* info) {
  call.require_matrix(m, n, lda);
  call.require(n <= m && k >= 0 && k <= n);
  return call.submit(static_cast<size_t>(m) * n * (k + 1), [=](Memory& memory) {
    read_and_write(memory, values(A), m, n, lda);
    memory.reads(tau, k * sizeof(T));
    set_info(memory, info, lapack::orgqr(m, n, k, values(A), lda, values(tau)));
  });
}

template <class T>
cusolverStatus_t ormqr(Call& call, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const T* A, int lda, const T* tau,
                       T* C, int ldc, int* info) {
  const char where = letter(call, side), how = factor_letter<Value<T>>(call, op);
  const int rows = where == 'L' ? m : n;
  call.require_matrix(m, n, ldc);
  call.require(k >= 0 && k <= rows && lda >= std::max(1, rows));
  return call.submit(static_cast<size_t>(m) * n * (k + 1), [=](Memory& memory) {
    read_matrix(memory, A, rows, k, lda, sizeof(T));
    memory.reads(tau, k * sizeof(T));
    read_and_write(memory, values(C), m, n, ldc);
    set_info(memory, info, lapack::ormqr(where, how, m, n, k, values(A), lda, values(tau), values(C), ldc));
  });
}

template <class T, class R>
cusolverStatus_t gebrd(Call& call, int m, int n, T* A, int lda, R* d, R* e, T* tauq, T* taup, int* info) {
  call.require_matrix(m, n, lda);
  call.require(m >= n);  // as documented
  return call.submit(static_cast<size_t>(m) * n * n, [=](Memory& memory) {
    read_and_write(memory, values(A), m, n, lda);
    memory.writes(d, n * sizeof(R)), memory.writes(tauq, n * sizeof(T)), memory.writes(taup, n * sizeof(T));
    if (n > 1) memory.writes(e, (n - 1) * sizeof(R));
    set_info(memory, info, lapack::gebrd(m, n, values(A), lda, d, e, values(tauq), values(taup)));
  });
}

template <class T>
cusolverStatus_t orgbr(Call& call, cublasSideMode_t side, int m, int n, int k, T* A, int lda, const T* tau, int* info) {
  const bool left = letter(call, side) == 'L';
  call.require_matrix(m, n, lda);
  call.require(k >= 0 && (left ? n <= m && n >= std::min(m, k) : m <= n && m >= std::min(n, k)));
  return call.submit(static_cast<size_t>(m) * n * (k + 1), [=](Memory& memory) {
    read_and_write(memory, values(A), m, n, lda);
    memory.reads(tau, std::min(left ? m : n, k) * sizeof(T));
    set_info(memory, info, lapack::orgbr(left ? 'Q' : 'P', m, n, k, values(A), lda, values(tau)));
  });
}

template <class T, class R>
cusolverStatus_t sytrd(Call& call, cublasFillMode_t uplo, int n, T* A, int lda, R* d, R* e, T* tau, int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  return call.submit(cube(n), [=](Memory& memory) {
    read_and_write_triangle(memory, values(A), n, lda, half);
    memory.writes(d, n * sizeof(R));
    if (n > 1) memory.writes(e, (n - 1) * sizeof(R)), memory.writes(tau, (n - 1) * sizeof(T));
    set_info(memory, info, lapack::sytrd(half, n, values(A), lda, d, e, values(tau)));
  });
}

template <class T>
cusolverStatus_t orgtr(Call& call, cublasFillMode_t uplo, int n, T* A, int lda, const T* tau, int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  return call.submit(cube(n), [=](Memory& memory) {
    read_and_write(memory, values(A), n, n, lda);
    if (n > 1) memory.reads(tau, (n - 1) * sizeof(T));
    set_info(memory, info, lapack::orgtr(half, n, values(A), lda, values(tau)));
  });
}

template <class T>
cusolverStatus_t ormtr(Call& call, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, int m, int n, T* A, int lda, T* tau,
                       T* C, int ldc, int* info) {
  const char where = letter(call, side), half = letter(call, uplo), how = factor_letter<Value<T>>(call, op);
  const int order = where == 'L' ? m : n;
  call.require_matrix(order, order, lda);
  call.require_matrix(m, n, ldc);
  return call.submit(static_cast<size_t>(m) * n * order, [=](Memory& memory) {
    read_matrix(memory, A, order, order, lda, sizeof(T));
    if (order > 1) memory.reads(tau, (order - 1) * sizeof(T));
    read_and_write(memory, values(C), m, n, ldc);
    set_info(memory, info, lapack::ormtr(where, half, how, m, n, values(A), lda, values(tau), values(C), ldc));
  });
}

}  // namespace
}  // namespace warpbeam::cusolver

using namespace warpbeam::cusolver;

#define WB_CUSOLVER(name, parameters, ...) WB_DEFINE_CUSOLVER(cusolver##name, parameters, __VA_ARGS__)
#include "warpbeam/cusolver/dense.inc"
