// A long timeline: 20,000 launches.
#include <cuda_runtime.h>

__global__ void nothing() {}

int main() {
  for (int k = 0; k < 20'000; ++k) nothing<<<1, 1>>>();
  return cudaDeviceSynchronize() != cudaSuccess;
}
