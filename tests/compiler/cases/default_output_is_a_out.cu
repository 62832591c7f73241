// A program without a name is a.out.
// run: nvcc %s
// expect: a.out is there
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
