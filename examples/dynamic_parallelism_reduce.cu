// build: -rdc=true -lcudadevrt
// dynamic_parallelism_reduce: a sum in which every step is a launch. Two ways: each block launches its own child and waits
// for it, or the first block launches one child for all blocks and nobody waits.
// Look at the counts: the second way launches a few large grids instead of thousands of tiny ones.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kBlock = 256;
__device__ int launches;

__global__ void reduce_each(int* data, int* out, int size) {
  int* mine = data + blockIdx.x * blockDim.x;
  if (size == 2) {
    if (threadIdx.x == 0) out[blockIdx.x] = mine[0] + mine[1];
    return;
  }
  int half = size / 2;
  if (threadIdx.x < half) mine[threadIdx.x] += mine[threadIdx.x + half];
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&launches, 1);
    reduce_each<<<1, half>>>(mine, out + blockIdx.x, half);
  }
}

__global__ void reduce_all(int* data, int* out, int half, int width) {
  int* mine = data + blockIdx.x * width;
  if (half == 1) {
    if (threadIdx.x == 0) out[blockIdx.x] = mine[0] + mine[1];
    return;
  }
  mine[threadIdx.x] += mine[threadIdx.x + half];
  // The tail stream begins when every block of this grid has ended.
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    atomicAdd(&launches, 1);
    reduce_all<<<gridDim.x, half / 2, 0, cudaStreamTailLaunch>>>(data, out, half / 2, width);
  }
}

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 64, n = blocks * kBlock;
  std::vector<int> values(n), sums(blocks);
  for (int i = 0; i < n; ++i) values[i] = i % 101;
  const int expected = std::accumulate(values.begin(), values.end(), 0);
  int *data, *out;
  CHECK(cudaMalloc(&data, n * sizeof(int)));
  CHECK(cudaMalloc(&out, blocks * sizeof(int)));
  bool right = true;
  for (int way = 0; way < 2; ++way) {
    int zero = 0, count = 0;
    CHECK(cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(launches, &zero, sizeof zero));
    if (way == 0) reduce_each<<<blocks, kBlock>>>(data, out, kBlock);
    else reduce_all<<<blocks, kBlock / 2>>>(data, out, kBlock / 2, kBlock);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(sums.data(), out, blocks * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&count, launches, sizeof count));
    const int sum = std::accumulate(sums.begin(), sums.end(), 0);
    std::printf("%s: sum %d (%s), %d launches from the device\n", way == 0 ? "a child per block  " : "a child for them all",
                sum, sum == expected ? "right" : "WRONG", count);
    right = right && sum == expected;
  }
  CHECK(cudaFree(data));
  CHECK(cudaFree(out));
  return right ? 0 : 1;
}
