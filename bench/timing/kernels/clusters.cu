// Clusters of blocks: a histogram and a reduction over the shared memory of several, a halo from the neighbour. needs 9.0
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) histogram(const unsigned* data, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned bin = data[i] % 1024;
    atomicAdd(cluster.map_shared_rank(&local[bin % 256], bin / 256), 1u);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[cluster.block_rank() * 256 + i], local[i]);
}

template <int Size>
__device__ void sum_body(const float* data, int n, float* out) {
  __shared__ float part[8], total;
  cg::cluster_group cluster = cg::this_cluster();
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += data[i];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    total = 0;
    for (int w = 0; w < 8; ++w) total += part[w];
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    float all = 0;
    for (int b = 0; b < Size; ++b) all += *cluster.map_shared_rank(&total, b);
    atomicAdd(out, all);
  }
  cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) sum_of_two(const float* data, int n, float* out) { sum_body<2>(data, n, out); }
__global__ void __cluster_dims__(8, 1, 1) sum_of_eight(const float* data, int n, float* out) { sum_body<8>(data, n, out); }

__global__ void __cluster_dims__(2, 1, 1) halo(const float* in, float* out, int steps) {
  __shared__ float line[2][258];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x + 1, i = blockIdx.x * 256 + threadIdx.x;
  line[0][t] = in[i];
  if (threadIdx.x == 0) line[0][0] = line[0][257] = line[1][0] = line[1][257] = 0;
  cluster.sync();
  for (int s = 0; s < steps; ++s) {
    const float* from = line[s % 2];
    float v = 0.25f * from[t - 1] + 0.5f * from[t] + 0.25f * from[t + 1];
    line[1 - s % 2][t] = v;
    float* other = cluster.map_shared_rank(line[1 - s % 2], cluster.block_rank() ^ 1);
    if (cluster.block_rank() == 0 && t == 256) other[0] = v;
    if (cluster.block_rank() == 1 && t == 1) other[257] = v;
    cluster.sync();
  }
  out[i] = line[steps % 2][t];
}

int main() {
  const int n = 1 << 20;
  std::vector<unsigned> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 2654435761u >> 12;
  unsigned *data, *bins;
  CHECK(cudaMalloc(&data, n * 4));
  CHECK(cudaMalloc(&bins, n * 4));
  CHECK(cudaMemcpy(data, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(bins, 0, n * 4));
  THRICE histogram<<<128, 256>>>(data, n, bins);
  THRICE sum_of_two<<<264, 256>>>((float*)data, n, (float*)bins);
  THRICE sum_of_eight<<<128, 256>>>((float*)data, n, (float*)bins);
  THRICE halo<<<256, 256>>>((float*)data, (float*)bins, 20);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
