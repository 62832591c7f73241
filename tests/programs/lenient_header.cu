// Headers of older toolkits and of older programs: macros that follow strings at once, operands of asm without
// commas, names that newer toolkits dropped.
// nvcc: no
#include "lenient_header.inc"

#include <cuda_gl_interop.h>
#include <sm_11_atomic_functions.h>
#include <sm_12_atomic_functions.h>
#include <sm_13_double_functions.h>

__global__ void count(int* n) { atomicAdd(n, 1); }

__global__ void twice(int* n) {
  int seen;
  asm volatile("ld.s32 %0, [%1]; // %2" : "=r"(seen) : "l"(n) "r"(0) : "memory");
  store(n, seen);
}

int main() {
  int* n;
  EXPECT(shows(18446744073709551615u, "<18446744073709551615>"));
  EXPECT(strcmp(WHERE, "in lenient_header.cu at ") == 0);
  EXPECT(cudaMallocManaged(&n, 4) == cudaSuccess);
  *n = 0;
  count<<<2, 48>>>(n);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*n == 96);
  twice<<<1, 1>>>(n);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*n == 192);
  cudaGraphicsResource* resource = nullptr;
  EXPECT(cudaGraphicsGLRegisterBuffer(&resource, 1, cudaGraphicsRegisterFlagsNone) == cudaErrorNotSupported);
  return 0;
}
