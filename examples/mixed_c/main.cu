// build: pipeline.c
// mixed_c: a C program that uses the device through a C function, and the CUDA file that provides it.
// Look at extern "C": the wrapper keeps its plain name, so that the C compiler's object file can link against it.
// pipeline.c owns main() and calls the runtime's C interface itself; this file has the kernel and its launch.
#include <cuda_runtime.h>

#include "pipeline.h"

__global__ void scale_and_shift(float* data, int n, float scale, float shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = scale * data[i] + shift;
}

extern "C" int launch_scale_and_shift(float* device_data, int n, float scale, float shift) {
  scale_and_shift<<<(n + 127) / 128, 128>>>(device_data, n, scale, shift);
  return cudaGetLastError() == cudaSuccess ? 0 : -1;
}
