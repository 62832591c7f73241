// -gencode in both forms: the container has a text for each.
// run: nvcc -gencode arch=compute_70,code=sm_70 '-gencode=arch=compute_80,code=[sm_80,compute_80]' %s -o hello
// run: RECORD=1 ./hello
// expect: status 1
// expect: err has ptx70 ptx80
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
