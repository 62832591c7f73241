// As nvcc does: numbers of a row's elements are added before an address is made of them, and arithmetic in assembly keeps no loop from being unrolled.
// run: nvcc -arch=sm_90 -ptx %s
// expect: ptx in rows in /:.*Inner Loop/ to /bra/ has 1 of shl.b64
// expect: ptx in chain at least 5 of /add.u32 .*, 7;/
__global__ void rows(float* p, int n) {
  float* row = p + blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] *= 2;
}
__global__ void chain(unsigned* p, int n) {
  unsigned x = p[0];
  for (int i = 0; i < n; ++i) asm("{ add.u32 %0, %1, 7; }" : "=r"(x) : "r"(x));
  p[0] = x;
}
