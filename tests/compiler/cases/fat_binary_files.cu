// -fatbin and -cubin write containers.
// run: nvcc -fatbin %s
// run: od -An -tx4 -N4 %n.fatbin
// expect: out has ba55ed50
// run: nvcc -cubin %s
// expect: %n.cubin has .entry _Z1kPi
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
