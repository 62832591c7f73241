/* What a C source gets from the headers. */
#include <cuComplex.h>
#include <cuda_runtime.h>

int main(void) {
  struct dim3 block;
  float4 v = make_float4(1, 2, 3, 4);
  cuComplex z = cuCmulf(make_cuComplex(1, 2), make_cuComplex(3, 4));
  block.x = 1;
  return (int)(v.x + z.x) + (int)block.x + cudaDeviceSynchronize();
}
