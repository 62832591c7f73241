// A histogram with more bins than one block's shared memory should hold: the bins are spread over the blocks of a
// cluster, and every thread counts in whichever block has the bin (distributed shared memory). What to see: the same
// counts for clusters of 1, 2, 4 and 8 blocks, each block holding only its part.
#include <cooperative_groups.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kBins = 4096, kThreads = 128;

__global__ void histogram(const int* values, int n, int bins_per_block, unsigned int* counts) {
  extern __shared__ unsigned int mine[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) mine[i] = 0;
  cluster.sync();  // nobody counts in a block that has not cleared its bins
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = values[i];
    unsigned int* theirs = cluster.map_shared_rank(mine, bin / bins_per_block);
    atomicAdd(theirs + bin % bins_per_block, 1u);
  }
  cluster.sync();  // nobody leaves while others still count in its memory
  const int first = cluster.block_rank() * bins_per_block;
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) atomicAdd(counts + first + i, mine[i]);
}

int main() {
  std::vector<int> values(20000);
  std::vector<unsigned int> expected(kBins), counts(kBins);
  unsigned int state = 5;
  for (int& v : values) {
    state = state * 1664525u + 1013904223u;
    v = (state >> 16) % kBins * (state >> 30) / 3 % kBins;
    expected[v]++;
  }
  int* dvalues;
  unsigned int* dcounts;
  cudaMalloc(&dvalues, values.size() * sizeof(int));
  cudaMalloc(&dcounts, kBins * sizeof(unsigned int));
  cudaMemcpy(dvalues, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  bool good = true;
  for (int size = 1; size <= 8; size *= 2) {
    const int n = (int)values.size();
    cudaMemset(dcounts, 0, kBins * sizeof(unsigned int));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(16);
    config.blockDim = dim3(kThreads);
    config.dynamicSmemBytes = kBins / size * sizeof(unsigned int);
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    cudaOccupancyMaxActiveClusters(&clusters, histogram, &config);
    const cudaError_t status = cudaLaunchKernelEx(&config, histogram, (const int*)dvalues, n, kBins / size, dcounts);
    cudaMemcpy(counts.data(), dcounts, kBins * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    const bool same = status == cudaSuccess && counts == expected;
    std::printf("clusters of %d blocks, %5zu bytes of bins a block, up to %d clusters at once: %s\n", size,
                kBins / size * sizeof(unsigned int), clusters, same ? "right" : "wrong");
    good = good && same;
  }
  std::printf("%s\n", good ? "PASS" : "FAIL");
  return !good;
}
