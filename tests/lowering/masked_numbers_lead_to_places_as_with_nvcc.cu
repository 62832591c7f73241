// Places by part of a number: what is masked is a distance in bytes, as in ptx of nvcc, where times are asked for. A mask that is not known stays where it is.
// run: nvcc -ptx %s
// expect: ptx lacks , 124;
// run: warpbeam run --clock device --emit-ptx -o timed.ptx %s
// expect: timed.ptx in low has , 124;
// expect: timed.ptx in byte has , 2040;
// expect: timed.ptx in field has , 252;
// expect: timed.ptx in any has and.b32
// expect: timed.ptx in any has mul.wide.u32
__global__ void low(const float* t, const unsigned* x, float* y) { y[threadIdx.x] = t[x[threadIdx.x] & 31]; }
__global__ void byte(const double* t, const unsigned* x, double* y) { y[threadIdx.x] = t[(unsigned char)x[threadIdx.x]]; }
__global__ void field(const float* t, const unsigned* x, float* y) { y[threadIdx.x] = t[x[threadIdx.x] >> 7 & 63]; }
__global__ void any(const float* t, unsigned x, unsigned mask, float* y) { *y = t[x * 3 & mask]; }
