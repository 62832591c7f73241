// More of LAPACK by type, as in lapack.h: orthogonal factors, eigenvalues, singular values, and banded systems. Real and
// complex functions have one name here: orgqr is ungqr for complex numbers, syevd is heevd.
#pragma once
#include <algorithm>
#include <type_traits>
#include <vector>

#include "libraries/numeric/room.h"
#include "libraries/numeric/values.h"

namespace warpbeam::numeric::lapack {

using Int = int;

#define WB_DECLARE(T, R, p, or_, sy)                                                                                                   \
  extern "C" {                                                                                                                         \
  void p##laswp_(const Int*, T*, const Int*, const Int*, const Int*, const Int*, const Int*);                                          \
  void p##trtri_(const char*, const char*, const Int*, T*, const Int*, Int*, size_t, size_t);                                          \
  void p##or_##gqr_(const Int*, const Int*, const Int*, T*, const Int*, const T*, T*, const Int*, Int*);                               \
  void p##or_##mqr_(const char*, const char*, const Int*, const Int*, const Int*, const T*, const Int*, const T*, T*, const Int*, T*,  \
                    const Int*, Int*, size_t, size_t);                                                                                 \
  void p##or_##gbr_(const char*, const Int*, const Int*, const Int*, T*, const Int*, const T*, T*, const Int*, Int*, size_t);          \
  void p##or_##gtr_(const char*, const Int*, T*, const Int*, const T*, T*, const Int*, Int*, size_t);                                  \
  void p##or_##mtr_(const char*, const char*, const char*, const Int*, const Int*, const T*, const Int*, const T*, T*, const Int*, T*, \
                    const Int*, Int*, size_t, size_t, size_t);                                                                         \
  void p##gebrd_(const Int*, const Int*, T*, const Int*, R*, R*, T*, T*, T*, const Int*, Int*);                                        \
  void p##sy##trd_(const char*, const Int*, T*, const Int*, R*, R*, T*, T*, const Int*, Int*, size_t);                                 \
  void p##sytrf_(const char*, const Int*, T*, const Int*, Int*, T*, const Int*, Int*, size_t);                                         \
  void p##sytrs_(const char*, const Int*, const Int*, const T*, const Int*, const Int*, T*, const Int*, Int*, size_t);                 \
  void p##gbtrf_(const Int*, const Int*, const Int*, const Int*, T*, const Int*, Int*, Int*);                                          \
  void p##gbtrs_(const char*, const Int*, const Int*, const Int*, const Int*, const T*, const Int*, const Int*, T*, const Int*, Int*,  \
                 size_t);                                                                                                              \
  void p##pbtrf_(const char*, const Int*, const Int*, T*, const Int*, Int*, size_t);                                                   \
  void p##pbtrs_(const char*, const Int*, const Int*, const Int*, const T*, const Int*, T*, const Int*, Int*, size_t);                 \
  }                                                                                                                                    \
  inline void laswp(Int n, T* a, Int lda, Int first, Int last, const Int* pivots, Int step) {                                          \
    p##laswp_(&n, a, &lda, &first, &last, pivots, &step);                                                                              \
  }                                                                                                                                    \
  inline Int trtri(char uplo, char diag, Int n, T* a, Int lda) {                                                                       \
    Int info = 0;                                                                                                                      \
    p##trtri_(&uplo, &diag, &n, a, &lda, &info, 1, 1);                                                                                 \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int orgqr(Int m, Int n, Int k, T* a, Int lda, const T* tau) {                                                                 \
    Int info = 0, size = std::max(1, n) * 64;                                                                                          \
    std::vector<T> work(size);                                                                                                         \
    p##or_##gqr_(&m, &n, &k, a, &lda, tau, work.data(), &size, &info);                                                                 \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int ormqr(char side, char op, Int m, Int n, Int k, const T* a, Int lda, const T* tau, T* c, Int ldc) {                        \
    Int info = 0, size = std::max({1, m, n}) * 64;                                                                                     \
    std::vector<T> work(size);                                                                                                         \
    p##or_##mqr_(&side, &op, &m, &n, &k, a, &lda, tau, c, &ldc, work.data(), &size, &info, 1, 1);                                      \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int gebrd(Int m, Int n, T* a, Int lda, R* d, R* e, T* tauq, T* taup) {                                                        \
    Int info = 0, size = (m + n + 1) * 64;                                                                                             \
    std::vector<T> work(size);                                                                                                         \
    Room<T> room(a, m, n, lda);                                                                                                        \
    p##gebrd_(&m, &n, room.data(), room.lead(), d, e, tauq, taup, work.data(), &size, &info);                                          \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int orgbr(char which, Int m, Int n, Int k, T* a, Int lda, const T* tau) {                                                     \
    Int info = 0, size = (std::max(m, n) + 1) * 64;                                                                                    \
    std::vector<T> work(size);                                                                                                         \
    Room<T> room(a, m, n, lda);                                                                                                        \
    p##or_##gbr_(&which, &m, &n, &k, room.data(), room.lead(), tau, work.data(), &size, &info, 1);                                     \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int sytrd(char uplo, Int n, T* a, Int lda, R* d, R* e, T* tau) {                                                              \
    Int info = 0, size = std::max(1, n) * 64;                                                                                          \
    std::vector<T> work(size);                                                                                                         \
    Room<T> room(a, n, n, lda);                                                                                                        \
    p##sy##trd_(&uplo, &n, room.data(), room.lead(), d, e, tau, work.data(), &size, &info, 1);                                         \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int orgtr(char uplo, Int n, T* a, Int lda, const T* tau) {                                                                    \
    Int info = 0, size = std::max(1, n) * 64;                                                                                          \
    std::vector<T> work(size);                                                                                                         \
    p##or_##gtr_(&uplo, &n, a, &lda, tau, work.data(), &size, &info, 1);                                                               \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int ormtr(char side, char uplo, char op, Int m, Int n, const T* a, Int lda, const T* tau, T* c, Int ldc) {                    \
    Int info = 0, size = std::max({1, m, n}) * 64;                                                                                     \
    std::vector<T> work(size);                                                                                                         \
    p##or_##mtr_(&side, &uplo, &op, &m, &n, a, &lda, tau, c, &ldc, work.data(), &size, &info, 1, 1, 1);                                \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int sytrf(char uplo, Int n, T* a, Int lda, Int* pivots) {                                                                     \
    Int info = 0, size = std::max(1, n) * 64;                                                                                          \
    std::vector<T> work(size);                                                                                                         \
    p##sytrf_(&uplo, &n, a, &lda, pivots, work.data(), &size, &info, 1);                                                               \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int sytrs(char uplo, Int n, Int count, const T* a, Int lda, const Int* pivots, T* b, Int ldb) {                               \
    Int info = 0;                                                                                                                      \
    p##sytrs_(&uplo, &n, &count, a, &lda, pivots, b, &ldb, &info, 1);                                                                  \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int gbtrf(Int n, Int below, Int above, T* band, Int lead, Int* pivots) {                                                      \
    Int info = 0;                                                                                                                      \
    p##gbtrf_(&n, &n, &below, &above, band, &lead, pivots, &info);                                                                     \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int gbtrs(Int n, Int below, Int above, const T* band, Int lead, const Int* pivots, T* b) {                                    \
    const char op = 'N';                                                                                                               \
    const Int one = 1;                                                                                                                 \
    Int info = 0;                                                                                                                      \
    p##gbtrs_(&op, &n, &below, &above, &one, band, &lead, pivots, b, &n, &info, 1);                                                    \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int pbtrf(char uplo, Int n, Int width, T* band, Int lead) {                                                                   \
    Int info = 0;                                                                                                                      \
    p##pbtrf_(&uplo, &n, &width, band, &lead, &info, 1);                                                                               \
    return info;                                                                                                                       \
  }                                                                                                                                    \
  inline Int pbtrs(char uplo, Int n, Int width, const T* band, Int lead, T* b) {                                                       \
    const Int one = 1;                                                                                                                 \
    Int info = 0;                                                                                                                      \
    p##pbtrs_(&uplo, &n, &width, &one, band, &lead, b, &n, &info, 1);                                                                  \
    return info;                                                                                                                       \
  }
WB_DECLARE(float, float, s, or, sy)
WB_DECLARE(double, double, d, or, sy)
WB_DECLARE(Complex, float, c, un, he)
WB_DECLARE(DoubleComplex, double, z, un, he)
#undef WB_DECLARE

// Workspaces of real and complex numbers differ here, so that there are two forms. The sizes that these functions want
// depend on much: they are asked.
#define WB_REAL(T, p)                                                                                                                    \
  extern "C" {                                                                                                                           \
  void p##syevd_(const char*, const char*, const Int*, T*, const Int*, T*, T*, const Int*, Int*, const Int*, Int*, size_t, size_t);      \
  void p##sygvd_(const Int*, const char*, const char*, const Int*, T*, const Int*, T*, const Int*, T*, T*, const Int*, Int*, const Int*, \
                 Int*, size_t, size_t);                                                                                                  \
  void p##gesvd_(const char*, const char*, const Int*, const Int*, T*, const Int*, T*, T*, const Int*, T*, const Int*, T*, const Int*,   \
                 Int*, size_t, size_t);                                                                                                  \
  }                                                                                                                                      \
  inline Int syevd(char jobz, char uplo, Int n, T* a, Int lda, T* w) {                                                                   \
    Int info = 0, size = -1, ints = -1, int_need = 0;                                                                                    \
    T need{};                                                                                                                            \
    p##syevd_(&jobz, &uplo, &n, a, &lda, w, &need, &size, &int_need, &ints, &info, 1, 1);                                                \
    std::vector<T> work(size = std::max(1, static_cast<Int>(need)));                                                                     \
    std::vector<Int> int_work(ints = std::max(1, int_need));                                                                             \
    p##syevd_(&jobz, &uplo, &n, a, &lda, w, work.data(), &size, int_work.data(), &ints, &info, 1, 1);                                    \
    return info;                                                                                                                         \
  }                                                                                                                                      \
  inline Int sygvd(Int type, char jobz, char uplo, Int n, T* a, Int lda, T* b, Int ldb, T* w) {                                          \
    Int info = 0, size = -1, ints = -1, int_need = 0;                                                                                    \
    T need{};                                                                                                                            \
    p##sygvd_(&type, &jobz, &uplo, &n, a, &lda, b, &ldb, w, &need, &size, &int_need, &ints, &info, 1, 1);                                \
    std::vector<T> work(size = std::max(1, static_cast<Int>(need)));                                                                     \
    std::vector<Int> int_work(ints = std::max(1, int_need));                                                                             \
    p##sygvd_(&type, &jobz, &uplo, &n, a, &lda, b, &ldb, w, work.data(), &size, int_work.data(), &ints, &info, 1, 1);                    \
    return info;                                                                                                                         \
  }                                                                                                                                      \
  inline Int gesvd(char jobu, char jobvt, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu, T* vt, Int ldvt) {                           \
    Int info = 0, size = -1;                                                                                                             \
    T need{};                                                                                                                            \
    p##gesvd_(&jobu, &jobvt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, &need, &size, &info, 1, 1);                                         \
    std::vector<T> work(size = std::max(1, static_cast<Int>(need)));                                                                     \
    p##gesvd_(&jobu, &jobvt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work.data(), &size, &info, 1, 1);                                   \
    return info;                                                                                                                         \
  }
WB_REAL(float, s)
WB_REAL(double, d)
#undef WB_REAL
#define WB_COMPLEX(T, R, p)                                                                                                                \
  extern "C" {                                                                                                                             \
  void p##heevd_(const char*, const char*, const Int*, T*, const Int*, R*, T*, const Int*, R*, const Int*, Int*, const Int*, Int*, size_t, \
                 size_t);                                                                                                                  \
  void p##hegvd_(const Int*, const char*, const char*, const Int*, T*, const Int*, T*, const Int*, R*, T*, const Int*, R*, const Int*,     \
                 Int*, const Int*, Int*, size_t, size_t);                                                                                  \
  void p##gesvd_(const char*, const char*, const Int*, const Int*, T*, const Int*, R*, T*, const Int*, T*, const Int*, T*, const Int*, R*, \
                 Int*, size_t, size_t);                                                                                                    \
  }                                                                                                                                        \
  inline Int syevd(char jobz, char uplo, Int n, T* a, Int lda, R* w) {                                                                     \
    Int info = 0, size = -1, reals = -1, ints = -1, int_need = 0;                                                                          \
    T need{};                                                                                                                              \
    R real_need{};                                                                                                                         \
    Room<T> room(a, n, n, lda);                                                                                                            \
    p##heevd_(&jobz, &uplo, &n, room.data(), room.lead(), w, &need, &size, &real_need, &reals, &int_need, &ints, &info, 1, 1);             \
    std::vector<T> work(size = std::max(1, static_cast<Int>(need.real())));                                                                \
    std::vector<R> real_work(reals = std::max(1, static_cast<Int>(real_need)));                                                            \
    std::vector<Int> int_work(ints = std::max(1, int_need));                                                                               \
    p##heevd_(&jobz, &uplo, &n, room.data(), room.lead(), w, work.data(), &size, real_work.data(), &reals, int_work.data(), &ints, &info,  \
              1, 1);                                                                                                                       \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  inline Int sygvd(Int type, char jobz, char uplo, Int n, T* a, Int lda, T* b, Int ldb, R* w) {                                            \
    Int info = 0, size = -1, reals = -1, ints = -1, int_need = 0;                                                                          \
    T need{};                                                                                                                              \
    R real_need{};                                                                                                                         \
    Room<T> room(a, n, n, lda), other(b, n, n, ldb);                                                                                       \
    p##hegvd_(&type, &jobz, &uplo, &n, room.data(), room.lead(), other.data(), other.lead(), w, &need, &size, &real_need, &reals,          \
              &int_need, &ints, &info, 1, 1);                                                                                              \
    std::vector<T> work(size = std::max(1, static_cast<Int>(need.real())));                                                                \
    std::vector<R> real_work(reals = std::max(1, static_cast<Int>(real_need)));                                                            \
    std::vector<Int> int_work(ints = std::max(1, int_need));                                                                               \
    p##hegvd_(&type, &jobz, &uplo, &n, room.data(), room.lead(), other.data(), other.lead(), w, work.data(), &size, real_work.data(),      \
              &reals, int_work.data(), &ints, &info, 1, 1);                                                                                \
    return info;                                                                                                                           \
  }                                                                                                                                        \
  inline Int gesvd(char jobu, char jobvt, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vt, Int ldvt) {                             \
    Int info = 0, size = -1;                                                                                                               \
    T need{};                                                                                                                              \
    std::vector<R> real_work(5 * static_cast<size_t>(std::max(1, std::min(m, n))));                                                        \
    Room<T> room(a, m, n, lda), left(jobu == 'A' || jobu == 'S' ? u : nullptr, m, jobu == 'A' ? m : std::min(m, n), ldu);                  \
    Room<T> right(jobvt == 'A' || jobvt == 'S' ? vt : nullptr, jobvt == 'A' ? n : std::min(m, n), n, ldvt);                                \
    p##gesvd_(&jobu, &jobvt, &m, &n, room.data(), room.lead(), s, left.data(), left.lead(), right.data(), right.lead(), &need, &size,      \
              real_work.data(), &info, 1, 1);                                                                                              \
    std::vector<T> work(size = std::max(1, static_cast<Int>(need.real())));                                                                \
    p##gesvd_(&jobu, &jobvt, &m, &n, room.data(), room.lead(), s, left.data(), left.lead(), right.data(), right.lead(), work.data(),       \
              &size, real_work.data(), &info, 1, 1);                                                                                       \
    return info;                                                                                                                           \
  }
WB_COMPLEX(Complex, float, c)
WB_COMPLEX(DoubleComplex, double, z)
#undef WB_COMPLEX

}  // namespace warpbeam::numeric::lapack
