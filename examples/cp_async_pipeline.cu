// Copies that run ahead: while a block works on one tile, the next ones are on their way from global to shared memory.
// The same moving average three times: with the primitives of cuda_pipeline.h, with cuda::pipeline, and with
// cuda::barrier. What to see: three equal results.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

constexpr int kTile = 128, kStages = 3;

__device__ float work(const float* tile, int i) {
  return (tile[i] + tile[(i + 1) % kTile] + tile[(i + 2) % kTile]) / 3;
}

__global__ void with_primitives(const float* in, float* out, int tiles) {
  __shared__ float stage[kStages][kTile];
  const int t = threadIdx.x;
  const auto fetch = [&](int k) {
    if (k < tiles) __pipeline_memcpy_async(&stage[k % kStages][t], &in[k * kTile + t], sizeof(float));
    __pipeline_commit();
  };
  for (int k = 0; k < kStages - 1; k++) fetch(k);
  for (int k = 0; k < tiles; k++) {
    fetch(k + kStages - 1);
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    out[k * kTile + t] = work(stage[k % kStages], t);
    __syncthreads();
  }
}

__global__ void with_pipeline(const float* in, float* out, int tiles) {
  __shared__ float stage[kStages][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int ahead = 0;
  for (int k = 0; k < tiles; k++) {
    for (; ahead < tiles && ahead < k + kStages; ahead++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[ahead % kStages], in + ahead * kTile, sizeof(float) * kTile, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[k * kTile + threadIdx.x] = work(stage[k % kStages], threadIdx.x);
    pipe.consumer_release();
  }
}

__global__ void with_barrier(const float* in, float* out, int tiles) {
  __shared__ float tile[kTile];
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) init(&ready, blockDim.x);
  __syncthreads();
  for (int k = 0; k < tiles; k++) {
    cuda::memcpy_async(block, tile, in + k * kTile, sizeof(float) * kTile, ready);
    ready.arrive_and_wait();
    out[k * kTile + threadIdx.x] = work(tile, threadIdx.x);
    __syncthreads();
  }
}

int main() {
  const int tiles = 10;
  std::vector<float> in(tiles * kTile), out[3];
  for (size_t i = 0; i < in.size(); i++) in[i] = (float)(i * 7 % 101);
  float *din, *dout;
  cudaMalloc(&din, in.size() * sizeof(float));
  cudaMalloc(&dout, in.size() * sizeof(float));
  cudaMemcpy(din, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
  int wrong = 0;
  for (int way = 0; way < 3; way++) {
    cudaMemset(dout, 0, in.size() * sizeof(float));
    if (way == 0) with_primitives<<<1, kTile>>>(din, dout, tiles);
    if (way == 1) with_pipeline<<<1, kTile>>>(din, dout, tiles);
    if (way == 2) with_barrier<<<1, kTile>>>(din, dout, tiles);
    out[way].resize(in.size());
    cudaMemcpy(out[way].data(), dout, in.size() * sizeof(float), cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) wrong++;
    for (size_t i = 0; i < in.size(); i++) {
      const size_t first = i / kTile * kTile, j = i % kTile;
      const float expected = (in[i] + in[first + (j + 1) % kTile] + in[first + (j + 2) % kTile]) / 3;
      wrong += out[way][i] != expected;
    }
  }
  std::printf("%d tiles, three ways: %d wrong\n%s\n", tiles, wrong, wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
