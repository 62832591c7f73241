// Where a loop doubles the divisor nobody asks whether it is a power of two; where it is one for certain nobody divides.
// run: nvcc -ptx %s
// expect: ptx in tree has rem.u32
// expect: ptx lacks __warpbeam
// expect: ptx in known lacks /rem.u32|div\./
// expect: ptx in power lacks /rem.u32|div\./
// expect: ptx lacks div.
__global__ void tree(int* s) {
  for (unsigned k = 1; k < blockDim.x; k *= 2) {
    if (threadIdx.x % (2 * k) == 0) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
}
__device__ int width(int i, int w) { return i / w + i % w; }
__global__ void known(int* s) { s[threadIdx.x] = width(threadIdx.x, 32); }
__global__ void power(unsigned* s, int k) { s[threadIdx.x] %= 1u << k; }
