// cuSOLVER's sparse part: direct solvers. The functions are listed in warpbeam/cusolver/sparse.inc.
#ifndef WARPBEAM_CUSOLVERSP_H
#define WARPBEAM_CUSOLVERSP_H
#define CUSOLVERSP_H_

#include "cublas_v2.h"
#include "cusolver_common.h"
#include "cusparse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cusolverSpContext* cusolverSpHandle_t;
typedef struct csrqrInfo* csrqrInfo_t;

cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t* handle);
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle);
cusolverStatus_t cusolverSpCreateCsrqrInfo(csrqrInfo_t* info);
cusolverStatus_t cusolverSpDestroyCsrqrInfo(csrqrInfo_t info);

#define WB_CUSOLVER(name, parameters, ...) cusolverStatus_t cusolver##name parameters;
#include "warpbeam/cusolver/sparse.inc"
#undef WB_CUSOLVER

#ifdef __cplusplus
}
#endif
#endif
