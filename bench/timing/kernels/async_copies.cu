// Copies into shared memory beside computing: cp.async in one to four stages, and cooperative copies.
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
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

__device__ float work(float v, int rounds) {
  for (int i = 0; i < rounds; ++i) v = v * 1.0001f + 0.5f;
  return v;
}

template <int Stages>
__global__ void staged(const float4* in, float4* out, int tiles, int rounds) {
  __shared__ float4 buffer[Stages][256];
  const int t = threadIdx.x;
  int fetch = 0;
  for (; fetch < Stages - 1 && fetch < tiles; ++fetch) {
    __pipeline_memcpy_async(&buffer[fetch][t], &in[(size_t(blockIdx.x) * tiles + fetch) * 256 + t], 16);
    __pipeline_commit();
  }
  for (int tile = 0; tile < tiles; ++tile) {
    if (fetch < tiles) __pipeline_memcpy_async(&buffer[fetch % Stages][t], &in[(size_t(blockIdx.x) * tiles + fetch) * 256 + t], 16);
    ++fetch;
    __pipeline_commit();
    __pipeline_wait_prior(Stages - 1);
    __syncthreads();
    float4 v = buffer[tile % Stages][(t + 1) % 256];
    v.x = work(v.x, rounds);
    v.y = work(v.y, rounds);
    out[(size_t(blockIdx.x) * tiles + tile) * 256 + t] = v;
    __syncthreads();
  }
}

__global__ void through_registers(const float4* in, float4* out, int tiles, int rounds) {
  __shared__ float4 buffer[256];
  const int t = threadIdx.x;
  for (int tile = 0; tile < tiles; ++tile) {
    buffer[t] = in[(size_t(blockIdx.x) * tiles + tile) * 256 + t];
    __syncthreads();
    float4 v = buffer[(t + 1) % 256];
    v.x = work(v.x, rounds);
    v.y = work(v.y, rounds);
    out[(size_t(blockIdx.x) * tiles + tile) * 256 + t] = v;
    __syncthreads();
  }
}

__global__ void group_copy(const float* in, float* out, int tiles) {
  __shared__ __align__(16) float buffer[1024];
  auto block = cg::this_thread_block();
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    cg::memcpy_async(block, buffer, in + (size_t(blockIdx.x) * tiles + tile) * 1024, sizeof buffer);
    cg::wait(block);
    sum += buffer[threadIdx.x] + buffer[1023 - threadIdx.x];
    block.sync();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  const int blocks = 264, tiles = 16;
  const size_t n = size_t(blocks) * tiles * 256;
  float4 *in, *out;
  CHECK(cudaMalloc(&in, n * 16));
  CHECK(cudaMalloc(&out, n * 16));
  CHECK(cudaMemset(in, 0, n * 16));
  THRICE through_registers<<<blocks, 256>>>(in, out, tiles, 8);
  THRICE staged<1><<<blocks, 256>>>(in, out, tiles, 8);
  THRICE staged<2><<<blocks, 256>>>(in, out, tiles, 8);
  THRICE staged<4><<<blocks, 256>>>(in, out, tiles, 8);
  THRICE staged<4><<<33, 256>>>(in, out, tiles, 40);
  THRICE group_copy<<<blocks, 256>>>((float*)in, (float*)out, tiles);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
