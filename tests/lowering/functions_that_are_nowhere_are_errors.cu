// As by nvcc: in a whole program a function has to be in the same file, in relocatable code in one of them.
// run: nvcc %s
// expect: status 1
// expect: err has %s:14:34: error:
// expect: err has nowhere(int)
// expect: err has defined nowhere
// run: nvcc -ptx %s -o %n.ptx
// run: nvcc -rdc=true %s
// expect: status 1
// expect: err has nowhere(int)
// expect: err has none of the files
// run: nvcc -rdc=true %s here.cu
extern __device__ int nowhere(int);
__global__ void k(int* p) { *p = nowhere(*p); }
int main() { k<<<1, 1>>>(nullptr); }
//--- here.cu
__device__ int nowhere(int i) { return i; }
