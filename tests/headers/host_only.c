/* What a C source gets from the headers. */
#include <cuda_runtime_api.h>
#if !defined(INT_MAX) || !defined(NULL)
#error "the runtime's header brings <limits.h> and <stddef.h>"
#endif
#include <cuda.h>
#if !defined(EXIT_FAILURE) || !defined(UINT32_MAX)
#error "the driver's header brings <stdlib.h> and <stdint.h>"
#endif
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
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>
#include <nvtx3/nvToolsExtPayloadHelper.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsScope.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <nvtx3/nvToolsExtSync.h>

/* Contexts are made with three arguments, as before toolkit 13, or with four. */
CUresult (*make_context)(CUcontext*, unsigned int, CUdevice) = cuCtxCreate;
int contexts(void) {
  CUcontext context;
  return cuCtxCreate(&context, 0, 0) != CUDA_SUCCESS || cuCtxCreate(&context, NULL, 0, 0) != CUDA_SUCCESS;
}

/* Structures with their schemas, as NVTX's macros define them. */
NVTX_DEFINE_STRUCT_WITH_SCHEMA(Tile, "Tile", static const,
                               NVTX_PAYLOAD_ENTRIES((int, row, TYPE_INT, "row"), (char, (name, 8), TYPE_CSTRING, "name", NULL, 8)))
uint64_t schema(nvtxDomainHandle_t domain) { return nvtxPayloadSchemaRegister(domain, &TileAttr); }

int main(void) {
  struct dim3 block;
  float4 v = make_float4(1, 2, 3, 4);
  cuComplex z = cuCmulf(make_cuComplex(1, 2), make_cuComplex(3, 4));
  __half_raw bits;
  bits.x = 0x3c00;
  block.x = 1;
  return (int)(v.x + z.x) + (int)block.x + (int)sizeof(__half2) + bits.x + cudaDeviceSynchronize() + contexts();
}
