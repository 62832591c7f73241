// `warpbeam assembly` prints an estimate of the machine code, for people and as a table.
// run: warpbeam assembly -arch=sm_90 -k scale %s
// expect: out has scale(float*, int) for sm_90, an estimate:
// expect: out has no spills
// expect: out has @P0 EXIT
// expect: out has LDG
// expect: out has STG
// expect: out has p[i] *= 2
// expect: out lacks other(int
// run: warpbeam assembly --csv -arch=sm_80 %s
// expect: out has function,registers,block
// expect: out has ,load_global,LDG
// run: warpbeam assembly -k nothing %s
// expect: status 1
// run: warpbeam assembly
// expect: status 1
// run: warpbeam assembly -arch=sm_1000 %s
// expect: status 1
__global__ void scale(float* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}
__global__ void other(int* p) { *p = 1; }
int main() {}
