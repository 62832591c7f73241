// More of LAPACK by type, as in lapack.h: products of triangles, block reflectors, inverses of indefinite matrices, and
// eigenvalues of matrices without symmetry.
#pragma once
#include <algorithm>
#include <vector>

#include "libraries/numeric/room.h"
#include "libraries/numeric/values.h"

namespace warpbeam::numeric::lapack {

using Int = int;

#define WB_DECLARE(T, p)                                                                                                            \
  extern "C" {                                                                                                                      \
  void p##lauum_(const char*, const Int*, T*, const Int*, Int*, size_t);                                                            \
  void p##larft_(const char*, const char*, const Int*, const Int*, const T*, const Int*, const T*, T*, const Int*, size_t, size_t); \
  void p##sytri_(const char*, const Int*, T*, const Int*, const Int*, T*, Int*, size_t);                                            \
  }                                                                                                                                 \
  inline Int lauum(char uplo, Int n, T* a, Int lda) {                                                                               \
    Int info = 0;                                                                                                                   \
    Room<T> room(a, n, n, lda);                                                                                                     \
    p##lauum_(&uplo, &n, room.data(), room.lead(), &info, 1);                                                                       \
    return info;                                                                                                                    \
  }                                                                                                                                 \
  inline void larft(char direct, char store, Int n, Int k, const T* v, Int ldv, const T* tau, T* t, Int ldt) {                      \
    p##larft_(&direct, &store, &n, &k, v, &ldv, tau, t, &ldt, 1, 1);                                                                \
  }                                                                                                                                 \
  inline Int sytri(char uplo, Int n, T* a, Int lda, const Int* pivots) {                                                            \
    Int info = 0;                                                                                                                   \
    std::vector<T> work(2 * static_cast<size_t>(std::max(1, n)));                                                                   \
    p##sytri_(&uplo, &n, a, &lda, pivots, work.data(), &info, 1);                                                                   \
    return info;                                                                                                                    \
  }
WB_DECLARE(float, s)
WB_DECLARE(double, d)
WB_DECLARE(Complex, c)
WB_DECLARE(DoubleComplex, z)
#undef WB_DECLARE

// The eigenvalues of real matrices come in two halves, those of complex ones as they are; `w` has them as complex numbers.
#define WB_REAL(T, C, p)                                                                                                                 \
  extern "C" void p##geev_(const char*, const char*, const Int*, T*, const Int*, T*, T*, T*, const Int*, T*, const Int*, T*, const Int*, \
                           Int*, size_t, size_t);                                                                                        \
  inline Int geev(char right, Int n, T* a, Int lda, C* w, T* vr, Int ldvr) {                                                             \
    const char left = 'N';                                                                                                               \
    const Int one = 1;                                                                                                                   \
    Int info = 0, size = 64 * std::max(1, n);                                                                                            \
    std::vector<T> work(size), re(std::max(1, n)), im(std::max(1, n));                                                                   \
    p##geev_(&left, &right, &n, a, &lda, re.data(), im.data(), nullptr, &one, vr, &ldvr, work.data(), &size, &info, 1, 1);               \
    for (Int i = 0; i < n; ++i) w[i] = C(re[i], im[i]);                                                                                  \
    return info;                                                                                                                         \
  }
WB_REAL(float, Complex, s)
WB_REAL(double, DoubleComplex, d)
#undef WB_REAL
#define WB_COMPLEX(T, R, p)                                                                                                              \
  extern "C" void p##geev_(const char*, const char*, const Int*, T*, const Int*, T*, T*, const Int*, T*, const Int*, T*, const Int*, R*, \
                           Int*, size_t, size_t);                                                                                        \
  inline Int geev(char right, Int n, T* a, Int lda, T* w, T* vr, Int ldvr) {                                                             \
    const char left = 'N';                                                                                                               \
    const Int one = 1;                                                                                                                   \
    Int info = 0, size = 64 * std::max(1, n);                                                                                            \
    std::vector<T> work(size);                                                                                                           \
    std::vector<R> reals(2 * static_cast<size_t>(std::max(1, n)));                                                                       \
    p##geev_(&left, &right, &n, a, &lda, w, nullptr, &one, vr, &ldvr, work.data(), &size, reals.data(), &info, 1, 1);                    \
    return info;                                                                                                                         \
  }
WB_COMPLEX(Complex, float, c)
WB_COMPLEX(DoubleComplex, double, z)
#undef WB_COMPLEX

}  // namespace warpbeam::numeric::lapack
