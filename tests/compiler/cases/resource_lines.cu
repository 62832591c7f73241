// -Xptxas -v tells a kernel's registers and memory, without a ptxas too.
// run: PATH=/usr/bin:/bin nvcc -c --ptxas-options=-v %s
// expect: err has Compiling entry function '_Z1kPi' for 'sm_90'
// expect: err has 256 bytes smem
// run: PATH=/usr/bin:/bin nvcc -c -Xptxas -v -arch=sm_30 %s
// expect: err has for 'sm_30'
// expect: err lacks TOP=
__global__ void k(int* p) { __shared__ int s[64]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[0] = s[63 - threadIdx.x]; }
