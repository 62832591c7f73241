// A program registers its container and its kernel when it starts, and launches.
// run: nvcc %s -o hello
// run: RECORD=1 ./hello
// expect: status 1
// expect: err has module ba55ed50: ptx90
// expect: err has kernel _Z1kPi
// expect: err has launch
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
