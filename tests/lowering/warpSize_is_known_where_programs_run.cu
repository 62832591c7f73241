// warpSize is no constant; programs run as if it were one, and what is to be timed has nvcc's code.
// run: nvcc -ptx %s
// expect: ptx has 5 of shfl
// expect: ptx lacks WARP_SZ
// run: warpbeam run --clock device --emit-ptx -o timed.ptx %s
// expect: timed.ptx has 1 of shfl
// expect: timed.ptx has WARP_SZ
// run: nvcc -ptx array.cu
// expect: status 1
__global__ void sum(float* x) {
  float v = x[threadIdx.x];
  for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
  x[threadIdx.x / warpSize] = v;
}
//--- array.cu
__global__ void k(float* x) { __shared__ float s[warpSize]; s[threadIdx.x] = x[1]; x[0] = s[3]; }
