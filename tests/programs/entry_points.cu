// Driver functions found by name and called through the types of cudaTypedefs.h.
#include <cudaTypedefs.h>
#include <cuda_stdint.h>

#include <cstdio>
int main() {
  cudaFree(0);
  void* f = nullptr;
  cudaDriverEntryPointQueryResult q;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &q);
  PFN_cuTensorMapEncodeTiled_v12000 e = (PFN_cuTensorMapEncodeTiled_v12000)f;
  PFN_cuTensorMapEncodeTiled e2 = e;
  CUtensorMap m;
  CUresult r = e2(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 0, nullptr, nullptr, nullptr, nullptr, nullptr,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  PFN_cuMemAlloc_v3020 a = nullptr;
  cudaGetDriverEntryPoint("cuMemAlloc", (void**)&a, cudaEnableDefault);
  CUdeviceptr p;
  int ok = a(&p, 64) == CUDA_SUCCESS;
  printf("%d %d\n", (int)r, ok);
  return !(r == CUDA_ERROR_INVALID_VALUE && ok);
}
