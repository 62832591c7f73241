/* What a C source gets from the headers. */
#include <cuComplex.h>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cufftXt.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <cusparse.h>
#include <nvJitLink.h>
#include <nccl.h>
#include <nvml.h>
#include <nvrtc.h>

/* Contexts are made with three arguments, as before toolkit 13, or with four. */
CUresult (*make_context)(CUcontext*, unsigned int, CUdevice) = cuCtxCreate;
int contexts(void) {
  CUcontext context;
  return cuCtxCreate(&context, 0, 0) != CUDA_SUCCESS || cuCtxCreate(&context, NULL, 0, 0) != CUDA_SUCCESS;
}

int main(void) {
  struct dim3 block;
  float4 v = make_float4(1, 2, 3, 4);
  cuComplex z = cuCmulf(make_cuComplex(1, 2), make_cuComplex(3, 4));
  __half_raw bits;
  bits.x = 0x3c00;
  block.x = 1;
  return (int)(v.x + z.x) + (int)block.x + (int)sizeof(__half2) + bits.x + cudaDeviceSynchronize() + contexts();
}
