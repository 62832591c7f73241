// LAPACK, as its Fortran functions are called, by type: lapack::getrf(m, n, a, lda, pivots) gives what `info` says.
#pragma once
#include <algorithm>
#include <vector>

#include "libraries/numeric/room.h"
#include "libraries/numeric/values.h"

namespace warpbeam::numeric::lapack {

using Int = int;

#define WB_LAPACK(T, R, p)                                                                                                      \
  extern "C" {                                                                                                                  \
  void p##getrf_(const Int*, const Int*, T*, const Int*, Int*, Int*);                                                           \
  void p##getrs_(const char*, const Int*, const Int*, const T*, const Int*, const Int*, T*, const Int*, Int*, size_t);          \
  void p##getri_(const Int*, T*, const Int*, const Int*, T*, const Int*, Int*);                                                 \
  void p##geqrf_(const Int*, const Int*, T*, const Int*, T*, T*, const Int*, Int*);                                             \
  void p##gels_(const char*, const Int*, const Int*, const Int*, T*, const Int*, T*, const Int*, T*, const Int*, Int*, size_t); \
  void p##potrf_(const char*, const Int*, T*, const Int*, Int*, size_t);                                                        \
  void p##potrs_(const char*, const Int*, const Int*, const T*, const Int*, T*, const Int*, Int*, size_t);                      \
  void p##potri_(const char*, const Int*, T*, const Int*, Int*, size_t);                                                        \
  }                                                                                                                             \
  inline Int getrf(Int m, Int n, T* a, Int lda, Int* pivots) {                                                                  \
    Int info = 0;                                                                                                               \
    p##getrf_(&m, &n, a, &lda, pivots, &info);                                                                                  \
    return info;                                                                                                                \
  }                                                                                                                             \
  inline Int getrs(char op, Int n, Int count, const T* a, Int lda, const Int* pivots, T* b, Int ldb) {                          \
    Int info = 0;                                                                                                               \
    p##getrs_(&op, &n, &count, a, &lda, pivots, b, &ldb, &info, 1);                                                             \
    return info;                                                                                                                \
  }                                                                                                                             \
  inline Int getri(Int n, T* a, Int lda, const Int* pivots) {                                                                   \
    Int info = 0, size = std::max(1, n) * 64;                                                                                   \
    std::vector<T> work(size);                                                                                                  \
    p##getri_(&n, a, &lda, pivots, work.data(), &size, &info);                                                                  \
    return info;                                                                                                                \
  }                                                                                                                             \
  inline Int geqrf(Int m, Int n, T* a, Int lda, T* tau) {                                                                       \
    Int info = 0, size = std::max(1, n) * 64;                                                                                   \
    std::vector<T> work(size);                                                                                                  \
    p##geqrf_(&m, &n, a, &lda, tau, work.data(), &size, &info);                                                                 \
    return info;                                                                                                                \
  }                                                                                                                             \
  inline Int gels(char op, Int m, Int n, Int count, T* a, Int lda, T* b, Int ldb) {                                             \
    Int info = 0, size = std::max(1, std::min(m, n) + std::max({m, n, count})) * 64;                                            \
    std::vector<T> work(size);                                                                                                  \
    p##gels_(&op, &m, &n, &count, a, &lda, b, &ldb, work.data(), &size, &info, 1);                                              \
    return info;                                                                                                                \
  }                                                                                                                             \
  inline Int potrf(char uplo, Int n, T* a, Int lda) {                                                                           \
    Int info = 0;                                                                                                               \
    p##potrf_(&uplo, &n, a, &lda, &info, 1);                                                                                    \
    return info;                                                                                                                \
  }                                                                                                                             \
  inline Int potrs(char uplo, Int n, Int count, const T* a, Int lda, T* b, Int ldb) {                                           \
    Int info = 0;                                                                                                               \
    p##potrs_(&uplo, &n, &count, a, &lda, b, &ldb, &info, 1);                                                                   \
    return info;                                                                                                                \
  }                                                                                                                             \
  inline Int potri(char uplo, Int n, T* a, Int lda) {                                                                           \
    Int info = 0;                                                                                                               \
    Room<T> room(a, n, n, lda);                                                                                                 \
    p##potri_(&uplo, &n, room.data(), room.lead(), &info, 1);                                                                   \
    return info;                                                                                                                \
  }
WB_LAPACK(float, float, s)
WB_LAPACK(double, double, d)
WB_LAPACK(Complex, float, c)
WB_LAPACK(DoubleComplex, double, z)
#undef WB_LAPACK

}  // namespace warpbeam::numeric::lapack
