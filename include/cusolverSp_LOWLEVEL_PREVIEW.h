// cuSOLVER's sparse part, step by step. The functions are listed in warpbeam/cusolver/sparse_steps.inc.
#ifndef WARPBEAM_CUSOLVERSP_LOWLEVEL_PREVIEW_H
#define WARPBEAM_CUSOLVERSP_LOWLEVEL_PREVIEW_H
#define CUSOLVERSP_LOWLEVEL_PREVIEW_H_

#include "cusolverSp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csrluInfoHost* csrluInfoHost_t;
typedef struct csrqrInfoHost* csrqrInfoHost_t;
typedef struct csrcholInfoHost* csrcholInfoHost_t;
typedef struct csrcholInfo* csrcholInfo_t;

#define WB_INFO(Name, type)                                              \
  cusolverStatus_t cusolverSpCreate##Name(type##_t* info);               \
  cusolverStatus_t cusolverSpDestroy##Name(type##_t info);
WB_INFO(CsrluInfoHost, csrluInfoHost)
WB_INFO(CsrqrInfoHost, csrqrInfoHost)
WB_INFO(CsrcholInfoHost, csrcholInfoHost)
WB_INFO(CsrcholInfo, csrcholInfo)
#undef WB_INFO

#define WB_CUSOLVER(name, parameters, ...) cusolverStatus_t cusolver##name parameters;
#include "warpbeam/cusolver/sparse_steps.inc"
#undef WB_CUSOLVER

#ifdef __cplusplus
}
#endif
#endif
