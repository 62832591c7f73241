// A static variable that the host may name is there, and one that is constant for all is its values.
// run: nvcc -ptx %s
// expect: ptx has .const .align 4 .b8 _ZL1x[16]
// expect: ptx has .global .align 4 .u32 _ZL1d
// expect: ptx has ld.const
// expect: ptx lacks table
static __constant__ float x[4];
static __device__ int d;
static __device__ const int table[3] = {1, 2, 3};
__global__ void k(float* o, int i) { o[0] = x[i] + d + table[1]; }
