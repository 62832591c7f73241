// Places by an unsigned counter: as with nvcc in each turn where times are asked for, else by pointers that move along.
// run: nvcc -ptx %s
// expect: ptx has 2 of mul.wide.u32
// run: warpbeam run --clock device --emit-ptx -o timed.ptx %s
// expect: timed.ptx at least 3 of mul.wide.u32
__global__ void rows(const unsigned* begin, const float* x, float* y) {
  float s = 0;
  for (unsigned e = begin[threadIdx.x]; e < begin[threadIdx.x + 1]; e++) s += x[e];
  y[threadIdx.x] = s;
}
