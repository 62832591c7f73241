// One kernel launched again and again, whose loop turns as often as memory says: it says on stderr which launch comes, beside what
// WARPBEAM_JIT_SHOW says, so that one can see which launch it was compiled for.
#include <cstdio>

__global__ void turns(int* p) {
  int x = p[0], turn = 0;
  while (turn != p[1]) x = x * 3 + ++turn;
  p[0] = x;
}

int main() {
  int* p;
  const int begin[2] = {1, 150000};
  cudaMalloc(&p, sizeof begin);
  cudaMemcpy(p, begin, sizeof begin, cudaMemcpyHostToDevice);
  for (int launch = 1; launch <= 30; ++launch) {
    fprintf(stderr, "launch %d\n", launch);
    turns<<<1, 1>>>(p);
    cudaDeviceSynchronize();
  }
  return cudaGetLastError() != cudaSuccess;
}
