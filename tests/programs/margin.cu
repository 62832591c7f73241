// Reads and writes that miss an allocation by a little, as programs do that only a GPU with its large pages lets pass.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void shift(int* a, int* out) {
  const int i = static_cast<int>(threadIdx.x) - 40;
  const int v = a[i];
  if (i >= 24) a[i] = 1;
  out[threadIdx.x] = i < 0 ? 7 : i < 24 ? v : 8;
}

int main() {
  setenv("WARPBEAM_MARGIN", "64K", 1);
  int *a[2], *out, host[128], failures = 0;
  cudaMalloc(&a[0], 24 * sizeof(int));
  cudaMalloc(&a[1], 3 << 20);  // as large as those of large pages
  cudaMalloc(&out, sizeof host);
  for (int* each : a) {
    cudaMemset(each, 0, 24 * sizeof(int));
    shift<<<1, 128>>>(each, out);
    failures += cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess;
    for (int k = 0; k < 128; ++k) failures += host[k] != (k < 40 ? 7 : k < 64 ? 0 : 8);
  }
  // Copies know what was asked for, and further away is nothing.
  failures += cudaMemcpy(host, a[0], 25 * sizeof(int), cudaMemcpyDeviceToHost) != cudaErrorInvalidValue;
  failures += cudaFree(a[0]) != cudaSuccess;
  shift<<<1, 128>>>(a[1] - (1 << 16), out);
  failures += cudaDeviceSynchronize() != cudaErrorIllegalAddress;
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
