// `warpbeam occupancy` tells it of a program's kernels.
// run: warpbeam occupancy --device h200 --block 256 --grid 1057 --kernel tile %s
// expect: out has tile(float*):
// expect: out has 4096 bytes of static shared memory
// expect: out has 8 blocks of 256 threads
// expect: out has the last one has 1
// expect: out lacks other(int
// run: warpbeam occupancy --kernel nothing %s
// expect: status 1
// run: warpbeam occupancy missing.cu
// expect: status 1
__global__ void __launch_bounds__(256) tile(float* p) {
  __shared__ float s[1024];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void other(int* p) { *p = 1; }
int main() {}
