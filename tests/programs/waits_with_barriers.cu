// Blocks that wait for later blocks in loops with a barrier in them, as tree codes pass sums and places from parent to child:
// every block has to get its turn although the waiting ones never stop arriving at their barriers.
#include <cstdio>

// Cell k of a binary heap gets its depth from its parent (k - 1) / 2. The last block has the first cells.
__global__ void depths(int cells, volatile int* depth) {
  const int step = blockDim.x * gridDim.x;
  int k = step - 1 - (threadIdx.x + blockIdx.x * blockDim.x);
  while (k < cells) {
    const int parent = k == 0 ? 0 : depth[(k - 1) / 2];
    if (parent >= 0) {
      depth[k] = k == 0 ? 0 : parent + 1;
      k += step;
    }
    __syncthreads();
  }
}

// The same with a store to shared memory each time round: memory changes, but not for the others.
__global__ void depths_with_scratch(int cells, volatile int* depth) {
  __shared__ int scratch[64];
  const int step = blockDim.x * gridDim.x;
  int rounds = 0;
  for (int k = step - 1 - (threadIdx.x + blockIdx.x * blockDim.x); k < cells;) {
    scratch[threadIdx.x] = ++rounds;
    const int parent = k == 0 ? 0 : depth[(k - 1) / 2];
    if (parent >= 0) {
      depth[k] = k == 0 ? 0 : parent + (scratch[threadIdx.x] > 0);
      k += step;
    }
    __syncthreads();
  }
}

// One warp to a block.
__global__ void depths_by_warps(int cells, volatile int* depth) {
  const int step = 32 * 48;
  if (threadIdx.x >= 32) return;
  for (int k = step - 1 - (threadIdx.x + blockIdx.x * 32); k < cells;) {
    const int parent = k == 0 ? 0 : depth[(k - 1) / 2];
    if (parent >= 0) {
      depth[k] = k == 0 ? 0 : parent + 1;
      k += step;
    }
    __syncthreads();
  }
}

int main() {
  constexpr int kCells = 5000;
  int* depth;
  cudaMalloc(&depth, kCells * sizeof(int));
  static int result[kCells];
  int wrong = 0;
  for (auto kernel : {depths, depths_with_scratch, depths_by_warps}) {
    cudaMemset(depth, 0xff, kCells * sizeof(int));
    kernel<<<kernel == depths_by_warps ? 48 : 24, 64>>>(kCells, depth);
    if (cudaMemcpy(result, depth, sizeof result, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    for (int k = 0; k < kCells; ++k) {
      int expected = 0;
      for (int at = k; at > 0; at = (at - 1) / 2) ++expected;
      wrong += result[k] != expected;
    }
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
