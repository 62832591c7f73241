// Copies of vectors and matrices between host and device.
#include <cuda_runtime_api.h>

#include "libraries/cublas/call.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

cublasStatus_t answer(cudaError_t error) { return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR; }

// n elements, `fx` apart, to places `ty` apart; a vector is a matrix of one row.
cublasStatus_t vector(int64_t n, int64_t element, const void* from, int64_t fx, void* to, int64_t ty, cudaMemcpyKind kind,
                      const cudaStream_t* stream) {
  if (n < 0 || element <= 0 || fx <= 0 || ty <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  const size_t e = static_cast<size_t>(element), count = static_cast<size_t>(n);
  if (fx == 1 && ty == 1)
    return answer(stream ? cudaMemcpyAsync(to, from, count * e, kind, *stream) : cudaMemcpy(to, from, count * e, kind));
  const size_t tp = e * static_cast<size_t>(ty), fp = e * static_cast<size_t>(fx);
  return answer(stream ? cudaMemcpy2DAsync(to, tp, from, fp, e, count, kind, *stream) : cudaMemcpy2D(to, tp, from, fp, e, count, kind));
}

cublasStatus_t matrix(int64_t rows, int64_t columns, int64_t element, const void* from, int64_t lf, void* to, int64_t lt,
                      cudaMemcpyKind kind, const cudaStream_t* stream) {
  if (rows < 0 || columns < 0 || element <= 0 || lf <= 0 || lt <= 0 || lf < rows || lt < rows) return CUBLAS_STATUS_INVALID_VALUE;
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const size_t e = static_cast<size_t>(element), width = e * static_cast<size_t>(rows), height = static_cast<size_t>(columns);
  const size_t tp = e * static_cast<size_t>(lt), fp = e * static_cast<size_t>(lf);
  return answer(stream ? cudaMemcpy2DAsync(to, tp, from, fp, width, height, kind, *stream)
                       : cudaMemcpy2D(to, tp, from, fp, width, height, kind));
}

}  // namespace

#define WB_TRANSFER(INT, suffix)                                                                                                   \
  WB_EXPORT cublasStatus_t cublasSetVector##suffix(INT n, INT size, const void* x, INT incx, void* y, INT incy) {                  \
    return vector(n, size, x, incx, y, incy, cudaMemcpyHostToDevice, nullptr);                                                     \
  }                                                                                                                                \
  WB_EXPORT cublasStatus_t cublasGetVector##suffix(INT n, INT size, const void* x, INT incx, void* y, INT incy) {                  \
    return vector(n, size, x, incx, y, incy, cudaMemcpyDeviceToHost, nullptr);                                                     \
  }                                                                                                                                \
  WB_EXPORT cublasStatus_t cublasSetMatrix##suffix(INT rows, INT columns, INT size, const void* a, INT lda, void* b, INT ldb) {    \
    return matrix(rows, columns, size, a, lda, b, ldb, cudaMemcpyHostToDevice, nullptr);                                           \
  }                                                                                                                                \
  WB_EXPORT cublasStatus_t cublasGetMatrix##suffix(INT rows, INT columns, INT size, const void* a, INT lda, void* b, INT ldb) {    \
    return matrix(rows, columns, size, a, lda, b, ldb, cudaMemcpyDeviceToHost, nullptr);                                           \
  }                                                                                                                                \
  WB_EXPORT cublasStatus_t cublasSetVectorAsync##suffix(INT n, INT size, const void* x, INT incx, void* y, INT incy,               \
                                                        cudaStream_t stream) {                                                     \
    return vector(n, size, x, incx, y, incy, cudaMemcpyHostToDevice, &stream);                                                     \
  }                                                                                                                                \
  WB_EXPORT cublasStatus_t cublasGetVectorAsync##suffix(INT n, INT size, const void* x, INT incx, void* y, INT incy,               \
                                                        cudaStream_t stream) {                                                     \
    return vector(n, size, x, incx, y, incy, cudaMemcpyDeviceToHost, &stream);                                                     \
  }                                                                                                                                \
  WB_EXPORT cublasStatus_t cublasSetMatrixAsync##suffix(INT rows, INT columns, INT size, const void* a, INT lda, void* b, INT ldb, \
                                                        cudaStream_t stream) {                                                     \
    return matrix(rows, columns, size, a, lda, b, ldb, cudaMemcpyHostToDevice, &stream);                                           \
  }                                                                                                                                \
  WB_EXPORT cublasStatus_t cublasGetMatrixAsync##suffix(INT rows, INT columns, INT size, const void* a, INT lda, void* b, INT ldb, \
                                                        cudaStream_t stream) {                                                     \
    return matrix(rows, columns, size, a, lda, b, ldb, cudaMemcpyDeviceToHost, &stream);                                           \
  }
WB_TRANSFER(int, )
WB_TRANSFER(int64_t, _64)
