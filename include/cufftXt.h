// cuFFT's functions whose types are named at run time. Transforms over several GPUs and callbacks are not there.
#ifndef WARPBEAM_CUFFTXT_H
#define WARPBEAM_CUFFTXT_H
#define _CUFFTXT_H_

#include "cufft.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cufftXtWorkAreaPolicy_t {
  CUFFT_WORKAREA_MINIMAL = 0, CUFFT_WORKAREA_USER = 1, CUFFT_WORKAREA_PERFORMANCE = 2
} cufftXtWorkAreaPolicy;

#define WB_MANY                                                                                                     \
  int rank, long long int *n, long long int *inembed, long long int istride, long long int idist,                   \
      cudaDataType inputtype, long long int *onembed, long long int ostride, long long int odist,                   \
      cudaDataType outputtype, long long int batch, size_t *workSize, cudaDataType executiontype
cufftResult cufftXtMakePlanMany(cufftHandle plan, WB_MANY);
cufftResult cufftXtGetSizeMany(cufftHandle plan, WB_MANY);
#undef WB_MANY
cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction);
cufftResult cufftXtSetWorkAreaPolicy(cufftHandle plan, cufftXtWorkAreaPolicy policy, size_t* workSize);

#ifdef __cplusplus
}
#endif
#endif
