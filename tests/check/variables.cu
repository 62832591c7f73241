// Variables that only the compiler sees: they live in registers. Every case of this file shows the same mistakes.
#include "cases.h"

__global__ void sum(const float* in, float* out, int n) {
  float total;
  for (int k = 0; k < n; ++k) total += in[k];  // expect register_variable uninitialized_variable
  *out = total;
}
__global__ void fine(const float* in, float* out, int n) {
  float total = 0;
  for (int k = 0; k < n; ++k) total += in[k];
  *out = total;
}
// What other lanes give to a shuffle nobody reads.
__global__ void from_leader(int* next, float* out) {
  int mine;
  if (threadIdx.x % 32 == 0) mine = atomicAdd(next, 1);
  mine = __shfl_sync(~0u, mine, 0);
  out[mine] = 0;
}
__global__ void not_from_leader(int* next, float* out) {
  int mine;
  if (threadIdx.x % 32 == 0) mine = atomicAdd(next, 1);  // warn register_variable uninitialized_variable
  out[mine & 31] = 0;
}

CASE(register_variable) {
  float* p;
  cudaMalloc(&p, 256);
  cudaMemset(p, 0, 256);
  sum<<<1, 1>>>(p, p + 32, 32);
  fine<<<1, 1>>>(p, p + 32, 32);
  cudaDeviceSynchronize();
  cudaFree(p);
}
