// What a C++ source that no CUDA compiler sees gets from the headers.
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

int main() {
  const dim3 block(16, 16);
  const float4 v = make_float4(1, 2, 3, 4);
  half h = 1.5f;
  h = h * h + __float2half(1.0f);
  const __nv_bfloat16 b = __float2bfloat16(3.0f);
  const cuComplex z = cuCmulf(make_cuComplex(1, 2), make_cuComplex(3, 4));
  return (int)((float)h + (float)b + v.x + z.x) + (int)block.x + cudaDeviceSynchronize();
}
