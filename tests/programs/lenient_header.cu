// Headers of older toolkits and of older programs: macros that follow strings at once, names that newer toolkits dropped.
// nvcc: no
#include "lenient_header.inc"

#include <cuda_gl_interop.h>
#include <sm_11_atomic_functions.h>
#include <sm_12_atomic_functions.h>
#include <sm_13_double_functions.h>

__global__ void count(int* n) { atomicAdd(n, 1); }

int main() {
  int* n;
  EXPECT(shows(18446744073709551615u, "<18446744073709551615>"));
  EXPECT(strcmp(WHERE, "in lenient_header.cu at ") == 0);
  EXPECT(cudaMallocManaged(&n, 4) == cudaSuccess);
  *n = 0;
  count<<<2, 48>>>(n);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*n == 96);
  cudaGraphicsResource* resource = nullptr;
  EXPECT(cudaGraphicsGLRegisterBuffer(&resource, 1, cudaGraphicsRegisterFlagsNone) == cudaErrorNotSupported);
  return 0;
}
