// The functions with 64-bit sizes, whose types are arguments.
#include "cusolver/spectral.h"
#include "cusolver/systems.h"

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
cudaDataType real_of(cudaDataType type) {
  return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}

cusolverStatus_t two_buffers(Call& call, size_t* device, size_t* host) {
  call.require(device && host);
  *device = 1024, *host = 1024;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t xpotrf(Call& call, cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a, int64_t lda, int* info) {
  return with_field(call, type, [&]<class V>(V*) { return potrf(call, uplo, n, static_cast<V*>(a), lda, info); });
}
cusolverStatus_t xpotrs(Call& call, cublasFillMode_t uplo, int64_t n, int64_t columns, cudaDataType type, const void* a,
                        int64_t lda, cudaDataType type_b, void* b, int64_t ldb, int* info) {
  call.support(type == type_b);
  return with_field(call, type, [&]<class V>(V*) {
    return potrs(call, uplo, n, columns, static_cast<const V*>(a), lda, static_cast<V*>(b), ldb, info);
  });
}
cusolverStatus_t xgetrf(Call& call, int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, int64_t* pivots, int* info) {
  return with_field(call, type, [&]<class V>(V*) { return getrf(call, m, n, static_cast<V*>(a), lda, pivots, info); });
}
cusolverStatus_t xgetrs(Call& call, cublasOperation_t op, int64_t n, int64_t columns, cudaDataType type, const void* a,
                        int64_t lda, const int64_t* pivots, cudaDataType type_b, void* b, int64_t ldb, int* info) {
  call.support(type == type_b);
  return with_field(call, type, [&]<class V>(V*) {
    return getrs(call, op, n, columns, static_cast<const V*>(a), lda, pivots, static_cast<V*>(b), ldb, info);
  });
}
cusolverStatus_t xgeqrf(Call& call, int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType type_tau,
                        void* tau, int* info) {
  call.support(type == type_tau);
  return with_field(call, type,
                    [&]<class V>(V*) { return geqrf(call, m, n, static_cast<V*>(a), lda, static_cast<V*>(tau), info); });
}
cusolverStatus_t xsyevd(Call& call, cusolverEigMode_t job, cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                        int64_t lda, cudaDataType type_w, void* w, int* info) {
  call.support(real_of(type) == type_w);
  return with_field(call, type, [&]<class V>(V*) {
    return syevd(call, job, uplo, n, static_cast<V*>(a), lda, static_cast<Real<V>*>(w), info);
  });
}
cusolverStatus_t xsyevdx(Call& call, cusolverEigMode_t job, cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n,
                         cudaDataType type, void* a, int64_t lda, void* low, void* high, int64_t first, int64_t last,
                         int64_t* found, cudaDataType type_w, void* w, int* info) {
  call.support(real_of(type) == type_w);
  return with_field(call, type, [&]<class V>(V*) {
    using R = Real<V>;
    call.require(range != CUSOLVER_EIG_RANGE_V || (low && high));
    const R from = low ? *static_cast<R*>(low) : R{}, to = high ? *static_cast<R*>(high) : R{};
    return syevdx(call, job, range, uplo, n, static_cast<V*>(a), lda, from, to, first, last, found, static_cast<R*>(w), info);
  });
}
cusolverStatus_t xgesvd(Call& call, signed char jobu, signed char jobvt, int64_t m, int64_t n, cudaDataType type, void* a,
                        int64_t lda, cudaDataType type_s, void* s, cudaDataType type_u, void* u, int64_t ldu,
                        cudaDataType type_vt, void* vt, int64_t ldvt, int* info) {
  call.support(type == type_u && type == type_vt && real_of(type) == type_s);
  return with_field(call, type, [&]<class V>(V*) {
    return gesvd(call, jobu, jobvt, m, n, static_cast<V*>(a), lda, static_cast<Real<V>*>(s), static_cast<V*>(u), ldu,
                 static_cast<V*>(vt), ldvt, info);
  });
}
cusolverStatus_t xtrtri(Call& call, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n, cudaDataType type, void* a,
                        int64_t lda, int* info) {
  const char half = letter(call, uplo);
  call.require_matrix(n, n, lda);
  call.require(diag == CUBLAS_DIAG_UNIT || diag == CUBLAS_DIAG_NON_UNIT);
  return with_field(call, type, [&]<class V>(V*) {
    return call.submit(cube(n), [=](Memory& memory) {
      read_and_write_triangle(memory, static_cast<V*>(a), n, lda, half);
      set_info(memory, info, lapack::trtri(half, diag == CUBLAS_DIAG_UNIT ? 'U' : 'N', static_cast<int>(n), static_cast<V*>(a),
                                           static_cast<int>(lda)));
    });
  });
}

}  // namespace
}  // namespace warpbeam::cusolver

using namespace warpbeam::cusolver;

#define WB_CUSOLVER(name, parameters, ...) WB_DEFINE_CUSOLVER(cusolver##name, parameters, __VA_ARGS__)
#include "warpbeam/cusolver/dense_any_type.inc"
