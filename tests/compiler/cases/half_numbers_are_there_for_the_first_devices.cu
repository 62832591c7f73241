// Headers with half and bfloat16 compile for the first devices too.
// run: nvcc -arch=sm_20 -c %s
// run: nvcc -arch=sm_13 -c %s
#include <cublas_v2.h>
#include <cuda_bf16.h>
__global__ void k() {}
