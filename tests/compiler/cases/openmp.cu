// OpenMP on the host, with clang's library and where GNU's is asked for.
// needs: /usr/lib/llvm-19/lib/clang/19/include/omp.h
// run: warpbeam run -Xcompiler -fopenmp %s
// expect: out has 3
// run: warpbeam run -Xcompiler -fopenmp %s -lgomp
// expect: out has 3
#include <cstdio>
#include <omp.h>
__global__ void k() {}
int main() { int n = 0;
#pragma omp parallel num_threads(3) reduction(+ : n)
  n += 1;
  k<<<1, 1>>>(); std::printf("%d\n", n); }
