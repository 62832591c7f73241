// Libraries of the toolkit are found, and those that are not there are told of.
// run: nvcc %s -lcudart -lcudadevrt -lcuda -lcudart_static -lnvToolsExt -lpthread -lm -o h
// run: nvcc %s -lcudnn -o h
// expect: status 1
// expect: err has no cudnn library
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
