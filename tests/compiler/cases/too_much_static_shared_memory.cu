// As ptxas says it; PTX alone may have more.
// run: nvcc -DN=12289 %s -o s
// expect: status 255
// expect: err has ptxas error   : Entry function '_Z1kPi' uses too much shared data (0xc004 bytes, 0xc000 max)
// expect: s is missing
// run: nvcc -DN=12289 -ptx %s
// run: nvcc -DN=12288 %s -o s
__global__ void k(int* p) { __shared__ int a[N]; a[threadIdx.x] = 1; __syncthreads(); p[threadIdx.x] = a[threadIdx.x * 3]; }
int main() { k<<<1, 1>>>(nullptr); }
