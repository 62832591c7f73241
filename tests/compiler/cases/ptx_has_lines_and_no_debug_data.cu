// -ptx has the lines of the source, and -o - prints it.
// run: nvcc -ptx %s
// expect: ptx has .loc
// expect: ptx has %s
// expect: ptx lacks .debug_info
// run: nvcc -ptx %s -o -
// expect: out has .entry _Z1kPi
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
