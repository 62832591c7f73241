// What is mended in a source before clang reads it is mended for -ptx, -cubin and -fatbin as well.
// run: nvcc -ptx -arch=sm_90 %s -o out-ptx
// run: nvcc -cubin -arch=sm_90 %s -o out-cubin
// run: nvcc -fatbin -arch=sm_90 %s -o out-fatbin
// expect: out-ptx has .maxntid 128, 1, 1
// expect: out-ptx has .minnctapersm 2
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128, 2) k(int* p) {
#pragma unroll
  int a = *p;
  asm("{ .reg .pred %p; setp.eq.s32 %p, %0, 34; selp.s32 %0, 1, 0, %p; }" : "+r"(a));
  *p = a;
}
int main() { k << <2, 128 >> >(nullptr); }
