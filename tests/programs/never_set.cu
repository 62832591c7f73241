// Variables that are used before they are set: what they hold is anybody's guess, but the program goes on.
#include <cstdio>

__global__ void decides(volatile int* in, int* out) {
  int lane = threadIdx.x % 32, never, n = 0;
  int i = __shfl_sync(~0u, never, 3) + lane;
  while (true) {
    if (!__any_sync(~0u, i < 7)) break;
    n += in[0];
    i += 32;
  }
  out[threadIdx.x] = n;
}

__global__ void breaks(float* out) {
  float never;
  const float s = __shfl_xor_sync(~0u, never, 16);
  for (int i = 0; i < 4; ++i) {
    if (s > i) break;
    out[i] = s;
  }
  if (__all_sync(~0u, s < 1.f)) out[8] = 1;
}

int main() {
  int* p;
  cudaMallocManaged(&p, 4096);
  cudaMemset(p, 0, 4096);
  decides<<<1, 64>>>(p, p + 512);
  breaks<<<1, 64>>>((float*)p + 600);
  cudaError_t e = cudaDeviceSynchronize();
  puts(cudaGetErrorString(e));
  return e != cudaSuccess;
}
