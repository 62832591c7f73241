// -v behind -Xptxas is not `warpbeam run`'s own.
// run: warpbeam run -Xptxas -v %s
// expect: status 1
// expect: err has Compiling entry function
// expect: err lacks clang
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
