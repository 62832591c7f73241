// Eigenvalues and singular values. GPUs find them by other ways (Jacobi, polar decompositions) as well; here they all come
// from LAPACK's dense solvers, in the order that is documented: eigenvalues ascending, singular values descending.
#pragma once
#include <cmath>

#include "libraries/cusolver/jacobi.h"

namespace warpbeam::cusolver {

template <class T, class R>
cusolverStatus_t syevd(Call& call, cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n, T* A, int64_t lda, R* W, int* info) {
  const char job = letter(call, jobz), half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  return call.submit(9 * cube(n), [=](Memory& memory) {
    touch_triangle(memory, A, n, lda, sizeof(T), half == 'U', false);
    write_matrix(memory, A, n, n, lda, sizeof(T));
    memory.writes(W, static_cast<size_t>(n) * sizeof(R));
    set_info(memory, info, lapack::syevd(job, half, static_cast<int>(n), values(A), static_cast<int>(lda), W));
  });
}

// Of all eigenvalues the wanted ones: [from, from + count).
template <class R>
std::pair<int64_t, int64_t> wanted(const std::vector<R>& all, cusolverEigRange_t range, R low, R high, int64_t first, int64_t last) {
  const auto n = static_cast<int64_t>(all.size());
  if (range == CUSOLVER_EIG_RANGE_ALL) return {0, n};
  if (range == CUSOLVER_EIG_RANGE_I) return {first - 1, last - first + 1};
  const auto begin = std::upper_bound(all.begin(), all.end(), low), end = std::upper_bound(begin, all.end(), high);
  return {begin - all.begin(), end - begin};
}

// Those eigenvalues that are asked for of the ones that `all_of` finds, with their vectors in A. `found` is the host's: the
// call waits for it.
template <class T, class R, class Count, class AllOf>
cusolverStatus_t some_eigenvalues(Call& call, char job, char half, cusolverEigRange_t range, int64_t n, T* A, int64_t lda, R low, R high,
                                  int64_t first, int64_t last, Count* found, R* W, int* info, AllOf all_of) {
  call.require_matrix(n, n, lda);
  call.require(found && (range == CUSOLVER_EIG_RANGE_ALL || range == CUSOLVER_EIG_RANGE_I || range == CUSOLVER_EIG_RANGE_V));
  if (range == CUSOLVER_EIG_RANGE_I) call.require(n == 0 || (first >= 1 && last >= first && last <= n));
  if (range == CUSOLVER_EIG_RANGE_V) call.require(low < high);
  auto count = std::make_shared<int64_t>(0);
  const cusolverStatus_t status = call.submit(9 * cube(n), [=](Memory& memory) {
    auto* a = values(A);
    touch_triangle(memory, a, n, lda, sizeof(T), half == 'U', false);
    write_matrix(memory, a, n, n, lda, sizeof(T));
    memory.writes(W, static_cast<size_t>(n) * sizeof(R));
    std::vector<R> all(static_cast<size_t>(n));
    const int result = all_of(memory, a, all.data());
    const auto [from, number] = result ? std::pair<int64_t, int64_t>{0, 0} : wanted(all, range, low, high, first, last);
    std::copy_n(all.begin() + from, number, W);
    if (job == 'V' && from > 0)
      for (int64_t j = 0; j < number; ++j) std::copy_n(a + (from + j) * lda, n, a + j * lda);
    *count = number;
    set_info(memory, info, result);
  });
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  if (const cusolverStatus_t waited = call.wait(); waited != CUSOLVER_STATUS_SUCCESS) return waited;
  *found = static_cast<Count>(*count);
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T, class R, class Count>
cusolverStatus_t syevdx(Call& call, cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, T* A, int64_t lda,
                        R low, R high, int64_t first, int64_t last, Count* found, R* W, int* info) {
  const char job = letter(call, jobz), half = letter(call, uplo);
  return some_eigenvalues(call, job, half, range, n, A, lda, low, high, first, last, found, W, info, [=](Memory&, Value<T>* a, R* all) {
    return lapack::syevd(job, half, static_cast<int>(n), a, static_cast<int>(lda), all);
  });
}

template <class T, class R>
cusolverStatus_t sygvd(Call& call, cusolverEigType_t type, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, int lda, T* B,
                       int ldb, R* W, int* info) {
  const char job = letter(call, jobz), half = letter(call, uplo);
  call.require(type >= CUSOLVER_EIG_TYPE_1 && type <= CUSOLVER_EIG_TYPE_3);
  call.require_matrix(n, n, lda);
  call.require_matrix(n, n, ldb);
  return call.submit(9 * cube(n), [=](Memory& memory) {
    touch_triangle(memory, A, n, lda, sizeof(T), half == 'U', false);
    write_matrix(memory, A, n, n, lda, sizeof(T));
    read_and_write_triangle(memory, values(B), n, ldb, half);
    memory.writes(W, n * sizeof(R));
    set_info(memory, info, lapack::sygvd(type, job, half, n, values(A), lda, values(B), ldb, W));
  });
}

template <class T, class R>
cusolverStatus_t sygvdx(Call& call, cusolverEigType_t type, cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo, int n,
                        T* A, int lda, T* B, int ldb, R low, R high, int first, int last, int* found, R* W, int* info) {
  const char job = letter(call, jobz), half = letter(call, uplo);
  call.require(type >= CUSOLVER_EIG_TYPE_1 && type <= CUSOLVER_EIG_TYPE_3);
  call.require_matrix(n, n, ldb);
  return some_eigenvalues(call, job, half, range, n, A, lda, low, high, first, last, found, W, info,
                          [=](Memory& memory, Value<T>* a, R* all) {
                            read_and_write_triangle(memory, values(B), n, ldb, half);
                            return lapack::sygvd(type, job, half, n, a, lda, values(B), ldb, all);
                          });
}

// --- the Jacobi methods ---------------------------------------------------------------------------------------------------

// |A - U diag(s) V^H|, where `rows` x `count` of U, `columns` x `count` of V are there.
template <class V, class R>
double residual(const std::vector<V>& a, int64_t rows, int64_t columns, int64_t count, const R* s, const V* u, int64_t ldu, const V* v,
                int64_t ldv) {
  double sum = 0;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) {
      V x = a[j * rows + i];
      for (int64_t k = 0; k < count; ++k) x -= u[k * ldu + i] * V(s[k]) * conjugate_if(true, v[k * ldv + j]);
      sum += static_cast<double>(std::norm(x));
    }
  return std::sqrt(sum);
}

inline cusolverStatus_t jacobi_residual(Call& call, JacobiSettings* settings, double* residual) {
  call.require(settings && residual);
  if (const cusolverStatus_t waited = call.wait(); waited != CUSOLVER_STATUS_SUCCESS) return waited;
  *residual = settings->outcome->residual;
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t jacobi_sweeps(Call& call, JacobiSettings* settings, int* sweeps) {
  call.require(settings && sweeps);
  if (const cusolverStatus_t waited = call.wait(); waited != CUSOLVER_STATUS_SUCCESS) return waited;
  *sweeps = settings->outcome->sweeps;
  return CUSOLVER_STATUS_SUCCESS;
}

// One symmetric or Hermitian matrix; with vectors it measures how far they are from the matrix.
template <class V, class R>
int one_syevj(char job, char half, int n, V* a, int lda, R* w, JacobiOutcome& outcome) {
  std::vector<V> whole;
  if (job == 'V') {
    whole = dense_copy(a, n, n, lda);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        if (half == 'U' ? i > j : i < j) whole[static_cast<size_t>(j) * n + i] = conjugate_if(true, whole[static_cast<size_t>(i) * n + j]);
  }
  const int result = lapack::syevd(job, half, n, a, lda, w);
  outcome = {job == 'V' ? residual(whole, n, n, n, w, a, lda, a, lda) : 0.0, 1};
  return result;
}

template <class T, class R>
cusolverStatus_t syevj_batched(Call& call, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, int lda, R* W, int* info,
                               syevjInfo_t settings, int count) {
  const char job = letter(call, jobz), half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  call.require(settings && count >= 0);
  return call.submit(9 * cube(n) * count, [=, outcome = settings->outcome](Memory& memory) {
    memory.writes(W, static_cast<size_t>(n) * count * sizeof(R));
    if (info) memory.writes(info, count * sizeof(int));
    for (int64_t k = 0; k < count; ++k) {
      auto* a = values(A) + k * n * lda;
      touch_triangle(memory, a, n, lda, sizeof(T), half == 'U', false);
      write_matrix(memory, a, n, n, lda, sizeof(T));
      const int result = one_syevj(job, half, n, a, lda, W + k * n, *outcome);
      if (info) info[k] = result;
    }
  });
}
template <class T, class R>
cusolverStatus_t syevj(Call& call, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, int lda, R* W, int* info,
                       syevjInfo_t settings) {
  return syevj_batched(call, jobz, uplo, n, A, lda, W, info, settings, 1);
}
template <class T, class R>
cusolverStatus_t sygvj(Call& call, cusolverEigType_t type, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, int lda, T* B,
                       int ldb, R* W, int* info, syevjInfo_t settings) {
  call.require(settings);
  *settings->outcome = {0, 1};
  return sygvd(call, type, jobz, uplo, n, A, lda, B, ldb, W, info);
}

// --- singular values ------------------------------------------------------------------------------------------------------

inline cusolverStatus_t svd_buffer_size(Call& call, int m, int n, int* size) {
  call.require(m >= n);  // as documented for gesvd
  return buffer_size(call, m, n, m, size);
}

template <class T, class R>
cusolverStatus_t gesvd(Call& call, signed char jobu, signed char jobvt, int64_t m, int64_t n, T* A, int64_t lda, R* S, T* U, int64_t ldu,
                       T* VT, int64_t ldvt, int* info) {
  const auto known = [](char job) { return job == 'A' || job == 'S' || job == 'O' || job == 'N'; };
  call.require(known(jobu) && known(jobvt) && !(jobu == 'O' && jobvt == 'O'));
  call.require_matrix(m, n, lda);
  call.require(m >= n);  // as documented
  const bool has_u = jobu == 'A' || jobu == 'S', has_vt = jobvt == 'A' || jobvt == 'S';
  call.require(!has_u || (U && ldu >= std::max<int64_t>(1, m)));
  call.require(!has_vt || (VT && ldvt >= std::max<int64_t>(1, n)));
  return call.submit(static_cast<size_t>(9 * m * n * n), [=](Memory& memory) {
    read_and_write(memory, values(A), m, n, lda);
    memory.writes(S, static_cast<size_t>(n) * sizeof(R));
    if (has_u) write_matrix(memory, U, m, jobu == 'A' ? m : n, ldu, sizeof(T));
    if (has_vt) write_matrix(memory, VT, n, n, ldvt, sizeof(T));
    set_info(memory, info,
             lapack::gesvd(jobu, jobvt, static_cast<int>(m), static_cast<int>(n), values(A), static_cast<int>(lda), S, values(U),
                           static_cast<int>(std::max<int64_t>(1, ldu)), values(VT), static_cast<int>(std::max<int64_t>(1, ldvt))));
  });
}

// A = U diag(s) V^H of a copy of A, with the first `left` columns of U and the first `right` of V.
template <class V, class R>
int one_svd(bool vectors, int m, int n, const V* a, int lda, R* s, V* u, int ldu, int left, V* v, int ldv, int right, double* distance) {
  const int small = std::min(m, n);
  std::vector<V> kept = dense_copy(a, m, n, lda), work = kept;
  const bool all_u = left > small, all_v = right > small;
  std::vector<V> wide_u(vectors ? static_cast<size_t>(m) * (all_u ? m : small) : 1);
  std::vector<V> vt(vectors ? static_cast<size_t>(all_v ? n : small) * n : 1);
  const int rows = vectors ? std::max(1, all_v ? n : small) : 1;
  std::vector<R> all(static_cast<size_t>(small));
  const int result = lapack::gesvd(!vectors ? 'N'
                                   : all_u  ? 'A'
                                            : 'S',
                                   !vectors ? 'N'
                                   : all_v  ? 'A'
                                            : 'S',
                                   m, n, work.data(), std::max(1, m), all.data(), wide_u.data(), std::max(1, m), vt.data(), rows);
  std::copy_n(all.begin(), std::min(small, std::max(left, right)), s);
  if (!vectors) return result;
  for (int k = 0; k < left; ++k) std::copy_n(wide_u.data() + static_cast<size_t>(k) * m, m, u + static_cast<size_t>(k) * ldu);
  for (int k = 0; k < right; ++k)
    for (int j = 0; j < n; ++j) v[static_cast<size_t>(k) * ldv + j] = conjugate_if(true, vt[static_cast<size_t>(j) * rows + k]);
  if (distance) *distance = residual(kept, m, n, std::min({small, left, right}), s, u, ldu, v, ldv);
  return result;
}

template <class T, class R>
cusolverStatus_t gesvdj(Call& call, cusolverEigMode_t jobz, int econ, int m, int n, T* A, int lda, R* S, T* U, int ldu, T* V, int ldv,
                        int* info, gesvdjInfo_t settings) {
  const bool vectors = letter(call, jobz) == 'V';
  const int small = std::min(m, n), left = econ ? small : m, right = econ ? small : n;
  call.require_matrix(m, n, lda);
  call.require(settings);
  if (vectors) call.require_matrix(m, left, ldu), call.require_matrix(n, right, ldv);
  return call.submit(static_cast<size_t>(9) * m * n * small, [=, outcome = settings->outcome](Memory& memory) {
    read_and_write(memory, values(A), m, n, lda);
    memory.writes(S, small * sizeof(R));
    if (vectors) write_matrix(memory, U, m, left, ldu, sizeof(T)), write_matrix(memory, V, n, right, ldv, sizeof(T));
    *outcome = {0, 1};
    set_info(memory, info, one_svd(vectors, m, n, values(A), lda, S, values(U), ldu, left, values(V), ldv, right, &outcome->residual));
  });
}

template <class T, class R>
cusolverStatus_t gesvdj_batched(Call& call, cusolverEigMode_t jobz, int m, int n, T* A, int lda, R* S, T* U, int ldu, T* V, int ldv,
                                int* info, gesvdjInfo_t settings, int count) {
  const bool vectors = letter(call, jobz) == 'V';
  call.require_matrix(m, n, lda);
  call.require(settings && count >= 0 && m <= 32 && n <= 32);  // as documented
  if (vectors) call.require_matrix(m, m, ldu), call.require_matrix(n, n, ldv);
  return call.submit(static_cast<size_t>(9) * m * n * n * count, [=, outcome = settings->outcome](Memory& memory) {
    const int small = std::min(m, n);
    memory.writes(S, static_cast<size_t>(small) * count * sizeof(R));
    if (info) memory.writes(info, count * sizeof(int));
    *outcome = {0, 1};
    for (int64_t k = 0; k < count; ++k) {
      auto *a = values(A) + k * lda * n, *u = vectors ? values(U) + k * ldu * m : nullptr, *v = vectors ? values(V) + k * ldv * n : nullptr;
      read_and_write(memory, a, m, n, lda);
      if (vectors) write_matrix(memory, u, m, m, ldu, sizeof(T)), write_matrix(memory, v, n, n, ldv, sizeof(T));
      const int result = one_svd(vectors, m, n, a, lda, S + k * small, u, ldu, m, v, ldv, n, nullptr);
      if (info) info[k] = result;
    }
  });
}

// `distances` are the host's: the call waits for them.
template <class T, class R>
cusolverStatus_t gesvda_batched(Call& call, cusolverEigMode_t jobz, int rank, int m, int n, const T* A, int lda, long long stride_a, R* S,
                                long long stride_s, T* U, int ldu, long long stride_u, T* V, int ldv, long long stride_v, int* info,
                                double* distances, int count) {
  const bool vectors = letter(call, jobz) == 'V';
  call.require_matrix(m, n, lda);
  call.require(count >= 0 && m >= n && rank >= 1 && rank <= n);
  if (vectors) call.require_matrix(m, rank, ldu), call.require_matrix(n, rank, ldv);
  auto found = std::make_shared<std::vector<double>>(count);
  const cusolverStatus_t status = call.submit(static_cast<size_t>(9) * m * n * n * count, [=](Memory& memory) {
    if (info) memory.writes(info, count * sizeof(int));
    for (int64_t k = 0; k < count; ++k) {
      const auto* a = values(A) + k * stride_a;
      auto *u = vectors ? values(U) + k * stride_u : nullptr, *v = vectors ? values(V) + k * stride_v : nullptr;
      read_matrix(memory, a, m, n, lda, sizeof(T));
      memory.writes(S + k * stride_s, rank * sizeof(R));
      if (vectors) write_matrix(memory, u, m, rank, ldu, sizeof(T)), write_matrix(memory, v, n, rank, ldv, sizeof(T));
      const int result = one_svd(vectors, m, n, a, lda, S + k * stride_s, u, ldu, rank, v, ldv, rank, &(*found)[k]);
      if (info) info[k] = result;
    }
  });
  if (status != CUSOLVER_STATUS_SUCCESS || !distances || !vectors) return status;
  if (const cusolverStatus_t waited = call.wait(); waited != CUSOLVER_STATUS_SUCCESS) return waited;
  std::copy(found->begin(), found->end(), distances);
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace warpbeam::cusolver
