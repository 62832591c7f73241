// -G leaves variables in memory, and -dopt on optimises all the same.
// run: nvcc -G -ptx %s
// expect: ptx has __local_depot
// run: nvcc -G -dopt on -ptx %s
// expect: ptx lacks __local_depot
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
