// cuBLAS without handles, as before CUDA 4: scalars by value, results returned, the status asked for with cublasGetError.
#ifndef WARPBEAM_CUBLAS_H
#define WARPBEAM_CUBLAS_H
#ifdef CUBLAS_V2_H_
#error "cublas.h and cublas_v2.h exclude each other"
#endif
#define CUBLAS_H_

#include "cuda_runtime.h"

#include "cublas_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define cublasStatus cublasStatus_t

cublasStatus cublasInit(void);
cublasStatus cublasShutdown(void);
cublasStatus cublasGetError(void);
cublasStatus cublasGetVersion(int* version);
cublasStatus cublasAlloc(int n, int elemSize, void** devicePtr);
cublasStatus cublasFree(void* devicePtr);
cublasStatus cublasSetKernelStream(cudaStream_t stream);

#define WB_LEGACY(result, name, parameters, ...) result cublas##name parameters;
#include "warpbeam/cublas/legacy.inc"
#undef WB_LEGACY

#ifdef __cplusplus
}
#endif
#endif
