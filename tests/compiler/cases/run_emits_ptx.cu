// `warpbeam run --emit-ptx` prints the PTX that it would run, for the device asked for.
// run: warpbeam run --emit-ptx %s
// expect: out has .entry _Z1kPi
// run: warpbeam run --emit-ptx --device v100 %s
// expect: out has .target sm_70
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
