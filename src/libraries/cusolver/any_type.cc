// The functions with 64-bit sizes, whose types are arguments.
#include "libraries/cusolver/spectral.h"
#include "libraries/cusolver/systems.h"

namespace warpbeam::cusolver {

namespace {

// Calls `body` with a null pointer of the type: S, D, C and Z are what matrices can be.
template <class Body>
cusolverStatus_t with_field(Call& call, cudaDataType type, Body&& body) {
  switch (type) {
    case CUDA_R_32F: return body(static_cast<float*>(nullptr));
    case CUDA_R_64F: return body(static_cast<double*>(nullptr));
    case CUDA_C_32F: return body(static_cast<Complex*>(nullptr));
    case CUDA_C_64F: return body(static_cast<DoubleComplex*>(nullptr));
    default: call.support(false); return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
}
cudaDataType real_of(cudaDataType type) { return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type; }

cusolverStatus_t two_buffers(Call& call, size_t* device, size_t* host) {
  call.require(device && host);
  *device = 1024, *host = 1024;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t xpotrf(Call& call, cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a, int64_t lda, int* info) {
  return with_field(call, type, [&]<class V>(V*) { return potrf(call, uplo, n, static_cast<V*>(a), lda, info); });
}
cusolverStatus_t xpotrs(Call& call, cublasFillMode_t uplo, int64_t n, int64_t columns, cudaDataType type, const void* a, int64_t lda,
                        cudaDataType type_b, void* b, int64_t ldb, int* info) {
  call.support(type == type_b);
  return with_field(
      call, type, [&]<class V>(V*) { return potrs(call, uplo, n, columns, static_cast<const V*>(a), lda, static_cast<V*>(b), ldb, info); });
}
cusolverStatus_t xgetrf(Call& call, int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, int64_t* pivots, int* info) {
  return with_field(call, type, [&]<class V>(V*) { return getrf(call, m, n, static_cast<V*>(a), lda, pivots, info); });
}
cusolverStatus_t xgetrs(Call& call, cublasOperation_t op, int64_t n, int64_t columns, cudaDataType type, const void* a, int64_t lda,
                        const int64_t* pivots, cudaDataType type_b, void* b, int64_t ldb, int* info) {
  call.support(type == type_b);
  return with_field(call, type, [&]<class V>(V*) {
    return getrs(call, op, n, columns, static_cast<const V*>(a), lda, pivots, static_cast<V*>(b), ldb, info);
  });
}
cusolverStatus_t xgeqrf(Call& call, int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType type_tau, void* tau,
                        int* info) {
  call.support(type == type_tau);
  return with_field(call, type, [&]<class V>(V*) { return geqrf(call, m, n, static_cast<V*>(a), lda, static_cast<V*>(tau), info); });
}
cusolverStatus_t xsyevd(Call& call, cusolverEigMode_t job, cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a, int64_t lda,
                        cudaDataType type_w, void* w, int* info) {
  call.support(real_of(type) == type_w);
  return with_field(call, type,
                    [&]<class V>(V*) { return syevd(call, job, uplo, n, static_cast<V*>(a), lda, static_cast<Real<V>*>(w), info); });
}
cusolverStatus_t xsyevdx(Call& call, cusolverEigMode_t job, cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, cudaDataType type,
                         void* a, int64_t lda, void* low, void* high, int64_t first, int64_t last, int64_t* found, cudaDataType type_w,
                         void* w, int* info) {
  call.support(real_of(type) == type_w);
  return with_field(call, type, [&]<class V>(V*) {
    using R = Real<V>;
    call.require(range != CUSOLVER_EIG_RANGE_V || (low && high));
    const R from = low ? *static_cast<R*>(low) : R{}, to = high ? *static_cast<R*>(high) : R{};
    return syevdx(call, job, range, uplo, n, static_cast<V*>(a), lda, from, to, first, last, found, static_cast<R*>(w), info);
  });
}
cusolverStatus_t xgesvd(Call& call, signed char jobu, signed char jobvt, int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda,
                        cudaDataType type_s, void* s, cudaDataType type_u, void* u, int64_t ldu, cudaDataType type_vt, void* vt,
                        int64_t ldvt, int* info) {
  call.support(type == type_u && type == type_vt && real_of(type) == type_s);
  return with_field(call, type, [&]<class V>(V*) {
    return gesvd(call, jobu, jobvt, m, n, static_cast<V*>(a), lda, static_cast<Real<V>*>(s), static_cast<V*>(u), ldu, static_cast<V*>(vt),
                 ldvt, info);
  });
}
cusolverStatus_t xtrtri(Call& call, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n, cudaDataType type, void* a, int64_t lda,
                        int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  call.require(diag == CUBLAS_DIAG_UNIT || diag == CUBLAS_DIAG_NON_UNIT);
  return with_field(call, type, [&]<class V>(V*) {
    return call.submit(cube(n), [=](Memory& memory) {
      read_and_write_triangle(memory, static_cast<V*>(a), n, lda, half);
      set_info(memory, info,
               lapack::trtri(half, diag == CUBLAS_DIAG_UNIT ? 'U' : 'N', static_cast<int>(n), static_cast<V*>(a), static_cast<int>(lda)));
    });
  });
}

cusolverStatus_t xsytrs(Call& call, cublasFillMode_t uplo, int64_t n, int64_t columns, cudaDataType type, const void* a, int64_t lda,
                        const int64_t* pivots, cudaDataType type_b, void* b, int64_t ldb, int* info) {
  const char half = letter(call, uplo);
  call.support(type == type_b && pivots);
  call.require_matrix(n, n, lda);
  call.require_matrix(n, columns, ldb);
  return with_field(call, type, [&]<class V>(V*) {
    return call.submit(static_cast<size_t>(n * n * columns), [=](Memory& memory) {
      touch_triangle(memory, a, n, lda, sizeof(V), half == 'U', false);
      read_and_write(memory, static_cast<V*>(b), n, columns, ldb);
      const std::vector<int> rows = indefinite_pivots(memory, pivots, n, half);
      set_info(memory, info,
               lapack::sytrs(half, static_cast<int>(n), static_cast<int>(columns), static_cast<const V*>(a), static_cast<int>(lda),
                             rows.data(), static_cast<V*>(b), static_cast<int>(ldb)));
    });
  });
}

// Singular values by polar decompositions and by random projections on a GPU, here from the whole decomposition. V comes as
// it is, not transposed.
cusolverStatus_t some_singular(Call& call, bool left, bool right, int64_t m, int64_t n, int64_t left_count, int64_t right_count,
                               cudaDataType type, void* a, int64_t lda, cudaDataType type_s, void* s, cudaDataType type_u, void* u,
                               int64_t ldu, cudaDataType type_v, void* v, int64_t ldv, int* info) {
  call.support(type == type_u && type == type_v && real_of(type) == type_s);
  call.require_matrix(m, n, lda);
  if (left) call.require_matrix(m, left_count, ldu);
  if (right) call.require_matrix(n, right_count, ldv);
  return with_field(call, type, [&]<class V>(V*) {
    using R = Real<V>;
    return call.submit(static_cast<size_t>(9 * m * n * std::min(m, n)), [=](Memory& memory) {
      const int64_t count = std::min({m, n, std::max(left_count, right_count)});
      read_and_write(memory, static_cast<V*>(a), m, n, lda);
      memory.writes(s, static_cast<size_t>(count) * sizeof(R));
      if (left) write_matrix(memory, u, m, left_count, ldu, sizeof(V));
      if (right) write_matrix(memory, v, n, right_count, ldv, sizeof(V));
      std::vector<V> own_u(left ? 0 : m * left_count), own_v(right ? 0 : n * right_count);
      set_info(memory, info,
               one_svd(left || right, static_cast<int>(m), static_cast<int>(n), static_cast<const V*>(a), static_cast<int>(lda),
                       static_cast<R*>(s), left ? static_cast<V*>(u) : own_u.data(), static_cast<int>(left ? ldu : m),
                       static_cast<int>(left_count), right ? static_cast<V*>(v) : own_v.data(), static_cast<int>(right ? ldv : n),
                       static_cast<int>(right_count), nullptr));
    });
  });
}
cusolverStatus_t xgesvdp(Call& call, cusolverEigMode_t job, int econ, int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda,
                         cudaDataType type_s, void* s, cudaDataType type_u, void* u, int64_t ldu, cudaDataType type_v, void* v, int64_t ldv,
                         int* info, double* error) {
  const bool vectors = letter(call, job) == 'V';
  if (error) *error = 0;
  const int64_t small = std::min(m, n);
  return some_singular(call, vectors, vectors, m, n, econ ? small : m, econ ? small : n, type, a, lda, type_s, s, type_u, u, ldu, type_v, v,
                       ldv, info);
}
cusolverStatus_t xgesvdr(Call& call, signed char jobu, signed char jobv, int64_t m, int64_t n, int64_t rank, int64_t more, int64_t rounds,
                         cudaDataType type, void* a, int64_t lda, cudaDataType type_s, void* s, cudaDataType type_u, void* u, int64_t ldu,
                         cudaDataType type_v, void* v, int64_t ldv, int* info) {
  call.require((jobu == 'S' || jobu == 'N') && (jobv == 'S' || jobv == 'N'));
  call.require(rank >= 1 && more >= 0 && rounds >= 0 && rank + more <= std::min(m, n));
  return some_singular(call, jobu == 'S', jobv == 'S', m, n, rank, rank, type, a, lda, type_s, s, type_u, u, ldu, type_v, v, ldv, info);
}

// The eigenvalues of a real matrix are complex numbers or, in an array of reals, first all real parts, then all imaginary ones.
template <class V>
void store_eigenvalues(Memory& memory, const std::vector<std::complex<Real<V>>>& found, cudaDataType type, void* w) {
  const size_t n = found.size();
  memory.writes(w, 2 * n * sizeof(Real<V>));
  auto* out = static_cast<Real<V>*>(w);
  const bool halves = real_of(type) == type;
  for (size_t i = 0; i < n; ++i) {
    out[halves ? i : 2 * i] = found[i].real();
    out[halves ? n + i : 2 * i + 1] = found[i].imag();
  }
}
cusolverStatus_t xgeev(Call& call, cusolverEigMode_t left, cusolverEigMode_t right, int64_t n, cudaDataType type, void* a, int64_t lda,
                       cudaDataType type_w, void* w, cudaDataType type_vl, cudaDataType type_vr, void* vr, int64_t ldvr, int* info) {
  call.require(letter(call, left) == 'N');  // as documented
  const char job = letter(call, right);
  call.support(type_vl == type && type_vr == type && real_of(type_w) == real_of(type) && (type_w == type || real_of(type) == type));
  call.require_matrix(n, n, lda);
  if (job == 'V') call.require_matrix(n, n, ldvr);
  return with_field(call, type, [&]<class V>(V*) {
    return call.submit(25 * cube(n), [=](Memory& memory) {
      read_and_write(memory, static_cast<V*>(a), n, n, lda);
      if (job == 'V') write_matrix(memory, vr, n, n, ldvr, sizeof(V));
      std::vector<std::complex<Real<V>>> found(static_cast<size_t>(n));
      const int result = lapack::geev(job, static_cast<int>(n), static_cast<V*>(a), static_cast<int>(lda), found.data(),
                                      static_cast<V*>(vr), static_cast<int>(std::max<int64_t>(1, ldvr)));
      store_eigenvalues<V>(memory, found, type_w, w);
      set_info(memory, info, result);
    });
  });
}

cusolverStatus_t xsyev_batched(Call& call, cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                               int64_t lda, cudaDataType type_w, void* w, int* info, int64_t count) {
  const char job = letter(call, jobz), half = letter(call, uplo);
  call.support(real_of(type) == type_w);
  call.require_matrix(n, n, lda);
  call.require(count >= 0);
  return with_field(call, type, [&]<class V>(V*) {
    using R = Real<V>;
    return call.submit(9 * cube(n) * static_cast<size_t>(count), [=](Memory& memory) {
      memory.writes(w, static_cast<size_t>(n * count) * sizeof(R));
      if (info) memory.writes(info, static_cast<size_t>(count) * sizeof(int));
      for (int64_t k = 0; k < count; ++k) {
        V* one = static_cast<V*>(a) + k * n * lda;
        touch_triangle(memory, one, n, lda, sizeof(V), half == 'U', false);
        write_matrix(memory, one, n, n, lda, sizeof(V));
        const int result = lapack::syevd(job, half, static_cast<int>(n), one, static_cast<int>(lda), static_cast<R*>(w) + k * n);
        if (info) info[k] = result;
      }
    });
  });
}

cusolverStatus_t xlarft(Call& call, cusolverDirectMode_t direct, cusolverStorevMode_t store, int64_t n, int64_t k, cudaDataType type,
                        const void* v, int64_t ldv, cudaDataType type_tau, const void* tau, cudaDataType type_t, void* t, int64_t ldt) {
  call.support(direct == CUBLAS_DIRECT_FORWARD && store == CUBLAS_STOREV_COLUMNWISE);  // as documented
  call.support(type == type_tau && type == type_t);
  call.require_matrix(n, k, ldv);
  call.require_matrix(k, k, ldt);
  call.require(k <= n);
  return with_field(call, type, [&]<class V>(V*) {
    return call.submit(static_cast<size_t>(n * k * k), [=](Memory& memory) {
      read_matrix(memory, v, n, k, ldv, sizeof(V));
      memory.reads(tau, static_cast<size_t>(k) * sizeof(V));
      touch_triangle(memory, static_cast<V*>(t), k, ldt, sizeof(V), true, true);
      lapack::larft('F', 'C', static_cast<int>(n), static_cast<int>(k), static_cast<const V*>(v), static_cast<int>(ldv),
                    static_cast<const V*>(tau), static_cast<V*>(t), static_cast<int>(ldt));
    });
  });
}

}  // namespace
}  // namespace warpbeam::cusolver

using namespace warpbeam::cusolver;

#define WB_CUSOLVER(name, parameters, ...) WB_DEFINE_CUSOLVER(cusolver##name, parameters, __VA_ARGS__)
#include "warpbeam/cusolver/dense_any_type.inc"
