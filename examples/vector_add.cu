// vector_add: one thread per element, and a host that checks every answer.
// Look at the guard `if (i < n)`: the grid is rounded up, so the last block has threads with nothing to do.
// Events around the kernel say how long it took: on this machine, or with `--clock device` on the GPU that it stands for.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000003;
  const size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), c(n, -1.0f);
  for (int i = 0; i < n; ++i) {
    a[i] = 0.5f * (i % 1000);
    b[i] = 2.0f * (i % 77);
  }

  float *d_a, *d_b, *d_c;
  cudaMalloc(&d_a, bytes);
  cudaMalloc(&d_b, bytes);
  cudaMalloc(&d_c, bytes);
  cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice);

  const int block = 256;
  const int grid = (n + block - 1) / block;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  vector_add<<<grid, block>>>(d_a, d_b, d_c, n);  // a kernel's first launch loads it, which takes longer than the kernel
  cudaEventRecord(begin);
  vector_add<<<grid, block>>>(d_a, d_b, d_c, n);
  cudaEventRecord(end);
  cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost);

  float ms = 0;
  cudaEventElapsedTime(&ms, begin, end);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);

  cudaError_t status = cudaGetLastError();
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_c);

  if (status != cudaSuccess || wrong != 0) {
    std::printf("vector_add: FAILED, %d of %d elements are wrong (%s)\n", wrong, n, cudaGetErrorString(status));
    return 1;
  }
  std::printf("vector_add: %d elements on %d blocks of %d threads, all correct\n", n, grid, block);
  std::printf("vector_add: %.3f ms, %.1f GB/s\n", ms, ms > 0 ? 3e-6 * bytes / ms : 0);
  return 0;
}
