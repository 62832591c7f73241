// nvcc --run starts the program with -run-args.
// run: nvcc --run %s -o h -run-args a,b
// expect: status 3
// expect: out is [a][b]
// run: nvcc --run '"'$PWD/h'"' -run-args c
// expect: status 2
// expect: out is [c]
#include <cstdio>
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main(int n, char** v) {
  k<<<1, 32>>>(nullptr);
  for (int i = 1; i < n; ++i) std::printf("[%s]", v[i]);
  int c;
  while ((c = std::getchar()) != EOF) std::putchar(c);
  return n;
}
