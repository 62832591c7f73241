// Options for the linker are let be where nothing is linked.
// run: nvcc --ptx -rdc=true -lcudadevrt %s
// expect: ptx has .entry _Z1kPi
// run: nvcc -cubin -arch=sm_90 -lfoo %s
// run: nvcc -c -lfoo %s
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
