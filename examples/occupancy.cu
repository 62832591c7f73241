// occupancy: how many blocks fit on a multiprocessor, and which block size the runtime would choose.
// Look at what limits a kernel: threads, shared memory, or the bounds it declares for itself.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void light(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1.0f;
}

__global__ void heavy_shared(float* data, int n) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? data[i] : 0.0f;
  __syncthreads();
  if (i < n) data[i] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void __launch_bounds__(256, 2) bounded(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2.0f;
}

int main() {
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  int failures = 0;

  for (int block : {32, 128, 256, 1024}) {
    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, block, 0));
    float occupancy = (float)blocks * block / prop.maxThreadsPerMultiProcessor;
    std::printf("light, blocks of %4d: %2d per multiprocessor, occupancy %3.0f%%\n", block, blocks, 100 * occupancy);
    failures += blocks < 1 || occupancy > 1.0f;
  }
  int few = 0, many = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&many, heavy_shared, 128, 1024));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, heavy_shared, 128, 40 * 1024));
  std::printf("heavy_shared: %s blocks with 40 KiB each than with 1 KiB\n", few < many ? "fewer" : "NOT FEWER");
  failures += few >= many || few < 1 || (size_t)few * 40 * 1024 > prop.sharedMemPerMultiprocessor;

  int min_grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, light, 0, 0));
  std::printf("suggested for light: blocks of %d, at least %d of them\n", block, min_grid);
  failures += block < 32 || block % 32 != 0 || block > prop.maxThreadsPerBlock || min_grid < prop.multiProcessorCount;

  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, bounded));
  failures += attributes.maxThreadsPerBlock != 256 || attributes.numRegs < 1;
  CHECK(cudaFuncGetAttributes(&attributes, light));
  failures += attributes.maxThreadsPerBlock != 1024 || attributes.sharedSizeBytes != 0;

  const int n = 10000, grid = (n + block - 1) / block;
  float *d_data, first = 0;
  CHECK(cudaMalloc(&d_data, n * sizeof(float)));
  CHECK(cudaMemset(d_data, 0, n * sizeof(float)));
  light<<<grid, block>>>(d_data, n);
  bounded<<<(n + 255) / 256, 256>>>(d_data, n);
  CHECK(cudaGetLastError());
  bounded<<<1, 512>>>(d_data, n);  // more than it promised to be launched with
  cudaError_t refused = cudaGetLastError();
  failures += refused == cudaSuccess;
  CHECK(cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost));
  failures += first != 2.0f;
  CHECK(cudaFree(d_data));
  std::printf("occupancy: %s\n", failures ? "FAILED" : "the limits are consistent");
  return failures != 0;
}
