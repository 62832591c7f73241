// A PTX file becomes a container, and no program.
// run: nvcc -ptx %s
// run: nvcc -cubin %n.ptx -o h.cubin
// expect: h.cubin has .entry _Z1kPi
// run: nvcc %n.ptx -o h
// expect: status 1
// expect: err has cuModuleLoad
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
