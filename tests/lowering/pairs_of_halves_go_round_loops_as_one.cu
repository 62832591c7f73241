// A sum of pairs goes round its loop as one word, also where a half of it is looked at behind.
// run: nvcc -ptx %s
// expect: ptx in /^\$L__BB0_.*Loop/ to /bra/ has bra
// expect: ptx in /^\$L__BB0_.*Loop/ to /bra/ lacks shl.b32
#include <cuda_fp16.h>
__global__ void sum(const __half2* x, float* y, int n) {
  __half2 s = __float2half2_rn(1.f);
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) s = __hfma2(s, x[i], s);
  y[threadIdx.x] = __low2float(s);
}
