// Products of matrices whose types are named at run time.
#pragma once
#include "libraries/cublas/blas.h"

namespace warpbeam::cublas {

cublasStatus_t gemm_ex(Call&, const Product&, const void* alpha, AnyMatrix a, AnyMatrix b, const void* beta, AnyMatrix c,
                       cublasComputeType_t compute);
cublasStatus_t gemm_batched_ex(Call&, const Product&, const void* alpha, const void* const a[], AnyMatrix a_shape, const void* const b[],
                               AnyMatrix b_shape, const void* beta, void* const c[], AnyMatrix c_shape, int64_t count,
                               cublasComputeType_t compute);
// How large alpha and beta are for these types.
size_t scalar_bytes(Call&, cublasComputeType_t compute, cudaDataType a, cudaDataType b, cudaDataType c);
cublasStatus_t gemm_strided_ex(Call&, const Product&, const void* alpha, AnyMatrix a, int64_t stride_a, AnyMatrix b, int64_t stride_b,
                               const void* beta, AnyMatrix c, int64_t stride_c, int64_t count, cublasComputeType_t compute);
// `hermitian`: the scalars are real.
cublasStatus_t syrk_ex(Call&, cublasFillMode_t uplo, cublasOperation_t op, int64_t n, int64_t k, const void* alpha, AnyMatrix a,
                       const void* beta, AnyMatrix c, bool hermitian);

}  // namespace warpbeam::cublas
