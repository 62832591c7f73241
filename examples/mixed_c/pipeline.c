/* A C program; it sees the runtime through its C header. */
#include "pipeline.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const int n = 5000;
  float* host = (float*)malloc(n * sizeof(float));
  void* device = NULL;
  int i, wrong = 0;
  enum cudaError status;
  struct cudaDeviceProp prop;
  for (i = 0; i < n; ++i) host[i] = (float)i;

  status = cudaGetDeviceProperties(&prop, 0);
  if (status == cudaSuccess) status = cudaMalloc(&device, n * sizeof(float));
  if (status == cudaSuccess) status = cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);
  if (status == cudaSuccess && launch_scale_and_shift((float*)device, n, 2.0f, 0.5f) != 0) wrong = -1;
  if (status == cudaSuccess) status = cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (status != cudaSuccess) {
    printf("mixed_c: %s\n", cudaGetErrorString(status));
    return 1;
  }
  for (i = 0; i < n; ++i) wrong += host[i] != 2.0f * (float)i + 0.5f;
  cudaFree(device);
  free(host);
  printf("mixed_c: C main, CUDA kernel, warps of %d, %d wrong\n", prop.warpSize, wrong);
  return wrong != 0;
}
