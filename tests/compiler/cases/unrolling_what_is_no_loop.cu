// As with nvcc, `#pragma unroll` before what is no loop, twice, or with numbers of no use is let be without a word.
// run: nvcc -ptx %s
// run: nvcc -c %s
// expect: err is empty
#include "unroll.h"
#pragma unroll
#pragma nounroll
__global__ void k(int* p, int n) {
  Sum sum = {0};
  add(sum, n);
#pragma unroll 4
#pragma unroll 2
  for (int i = 0; i < n; i++) p[i] = 7;
#pragma unroll -1
  for (int i = 0; i < n; i++) p[i] += sum.s;
}
//--- unroll.h
#define UNROLL _Pragma("unroll")
#define FLAT _Pragma("nounroll")
struct Sum { int s; };
#pragma unroll
inline __device__ void add(Sum& sum, int n) {
#pragma unroll
  Sum& same = sum;
  UNROLL FLAT
  for (int i = 0; i < n; i++) same.s += i;
  UNROLL sum.s += 0;
}
