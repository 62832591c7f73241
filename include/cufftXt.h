// cuFFT's functions whose types are named at run time, transforms over several GPUs, and callbacks.
#ifndef WARPBEAM_CUFFTXT_H
#define WARPBEAM_CUFFTXT_H
#define _CUFFTXT_H_

#include "cudalibxt.h"
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

typedef enum cufftXtSubFormat_t {
  CUFFT_XT_FORMAT_INPUT = 0x00, CUFFT_XT_FORMAT_OUTPUT = 0x01, CUFFT_XT_FORMAT_INPLACE = 0x02,
  CUFFT_XT_FORMAT_INPLACE_SHUFFLED = 0x03, CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED = 0x04, CUFFT_XT_FORMAT_DISTRIBUTED_INPUT = 0x05,
  CUFFT_XT_FORMAT_DISTRIBUTED_OUTPUT = 0x06, CUFFT_FORMAT_UNDEFINED = 0x07
} cufftXtSubFormat;
typedef enum cufftXtCopyType_t {
  CUFFT_COPY_HOST_TO_DEVICE = 0x00, CUFFT_COPY_DEVICE_TO_HOST = 0x01, CUFFT_COPY_DEVICE_TO_DEVICE = 0x02,
  CUFFT_COPY_UNDEFINED = 0x03
} cufftXtCopyType;
cufftResult cufftXtSetGPUs(cufftHandle handle, int nGPUs, int* whichGPUs);
cufftResult cufftXtMalloc(cufftHandle plan, cudaLibXtDesc** descriptor, cufftXtSubFormat format);
cufftResult cufftXtMemcpy(cufftHandle plan, void* dstPointer, void* srcPointer, cufftXtCopyType type);
cufftResult cufftXtFree(cudaLibXtDesc* descriptor);
cufftResult cufftXtSetWorkArea(cufftHandle plan, void** workArea);
cufftResult cufftXtExecDescriptor(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output, int direction);
cufftResult cufftXtExecDescriptorC2C(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output, int direction);
cufftResult cufftXtExecDescriptorZ2Z(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output, int direction);
cufftResult cufftXtExecDescriptorR2C(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output);
cufftResult cufftXtExecDescriptorC2R(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output);
cufftResult cufftXtExecDescriptorD2Z(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output);
cufftResult cufftXtExecDescriptorZ2D(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output);
cufftResult cufftXtSetWorkAreaPolicy(cufftHandle plan, cufftXtWorkAreaPolicy policy, size_t* workSize);

typedef enum cufftXtCallbackType_t {
  CUFFT_CB_LD_COMPLEX = 0x0,
  CUFFT_CB_LD_COMPLEX_DOUBLE = 0x1,
  CUFFT_CB_LD_REAL = 0x2,
  CUFFT_CB_LD_REAL_DOUBLE = 0x3,
  CUFFT_CB_ST_COMPLEX = 0x4,
  CUFFT_CB_ST_COMPLEX_DOUBLE = 0x5,
  CUFFT_CB_ST_REAL = 0x6,
  CUFFT_CB_ST_REAL_DOUBLE = 0x7,
  CUFFT_CB_UNDEFINED = 0x8
} cufftXtCallbackType;
typedef cufftComplex (*cufftCallbackLoadC)(void* dataIn, size_t offset, void* callerInfo, void* sharedPointer);
typedef cufftDoubleComplex (*cufftCallbackLoadZ)(void* dataIn, size_t offset, void* callerInfo, void* sharedPointer);
typedef cufftReal (*cufftCallbackLoadR)(void* dataIn, size_t offset, void* callerInfo, void* sharedPointer);
typedef cufftDoubleReal (*cufftCallbackLoadD)(void* dataIn, size_t offset, void* callerInfo, void* sharedPointer);
typedef void (*cufftCallbackStoreC)(void* dataOut, size_t offset, cufftComplex element, void* callerInfo,
                                    void* sharedPointer);
typedef void (*cufftCallbackStoreZ)(void* dataOut, size_t offset, cufftDoubleComplex element, void* callerInfo,
                                    void* sharedPointer);
typedef void (*cufftCallbackStoreR)(void* dataOut, size_t offset, cufftReal element, void* callerInfo,
                                    void* sharedPointer);
typedef void (*cufftCallbackStoreD)(void* dataOut, size_t offset, cufftDoubleReal element, void* callerInfo,
                                    void* sharedPointer);
cufftResult cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType cbType);
cufftResult cufftXtSetCallbackSharedSize(cufftHandle plan, cufftXtCallbackType cbType, size_t sharedSize);
#ifdef __CUDACC__
// `kernel` calls the routine for every element.
cufftResult warpbeam_cufftXtSetCallback(cufftHandle plan, void** callback_routine, cufftXtCallbackType cbType,
                                        void** caller_info, const void* kernel);
#else
// Refused: it takes a kernel of the module that the routine is in, which the version for kernels' sources has.
cufftResult cufftXtSetCallback(cufftHandle plan, void** callback_routine, cufftXtCallbackType cbType, void** caller_info);
#endif

#ifdef __cplusplus
}
#endif

#if defined(__CUDACC__) && defined(__cplusplus)
// A pointer to a device function means something only in its own module. So the kernels that call it are the source's
// own, and a source that sets no callback has none of them.
namespace warpbeam_cufft {
template <class T>
static __global__ void load_all(T (*routine)(void*, size_t, void*, void*), void* in, T* to, size_t count, void* info) {
  extern __shared__ unsigned char warpbeam_cufft_shared[];
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < count) to[i] = routine(in, i, info, warpbeam_cufft_shared);
}
template <class T>
static __global__ void store_all(void (*routine)(void*, size_t, T, void*, void*), void* out, const T* from, size_t count,
                                 void* info) {
  extern __shared__ unsigned char warpbeam_cufft_shared[];
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < count) routine(out, i, from[i], info, warpbeam_cufft_shared);
}
}  // namespace warpbeam_cufft

template <class Handle>
static cufftResult cufftXtSetCallback(Handle plan, void** callback_routine, cufftXtCallbackType cbType,
                                      void** caller_info) {
  using namespace warpbeam_cufft;
  const void* const kernels[] = {(const void*)load_all<cufftComplex>,  (const void*)load_all<cufftDoubleComplex>,
                                 (const void*)load_all<cufftReal>,     (const void*)load_all<cufftDoubleReal>,
                                 (const void*)store_all<cufftComplex>, (const void*)store_all<cufftDoubleComplex>,
                                 (const void*)store_all<cufftReal>,    (const void*)store_all<cufftDoubleReal>};
  if ((unsigned)cbType >= CUFFT_CB_UNDEFINED) return CUFFT_INVALID_TYPE;
  return warpbeam_cufftXtSetCallback(plan, callback_routine, cbType, caller_info, kernels[cbType]);
}
#endif
#endif
