// Elements that a loop reads at constant distances have one address, also beside another array's; the halves of a half2 are read together.
// run: nvcc -ptx %s
// expect: ptx at most 5 of mul.wide
// expect: ptx lacks /ld.global.*u16/
#include <cuda_fp16.h>
__global__ void walk(const float* __restrict__ a, float* o, int n) {
  const int lane = threadIdx.x & 31;
  float s = 0;
#pragma unroll 4
  for (int t = 0; t < n; ++t) s += a[t * 32 + lane] * a[t];
  o[threadIdx.x] = s;
}
__global__ void halves(const __half2* a, float* o) {
  const float2 v = __half22float2(a[threadIdx.x]);
  o[threadIdx.x] = v.x * v.y;
}
