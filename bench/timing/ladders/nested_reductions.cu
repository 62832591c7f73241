// The nested reductions of J. Cheng, M. Grossman and T. McKercher ("Professional CUDA C Programming", chapter 3): 2048 blocks of 512 ints, whose
// threads launch the next, smaller step.
#include <cstdio>

#include "ladder.h"

__global__ void neighbored(int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  int* const mine = in + blockIdx.x * blockDim.x;
  if (i >= n) return;
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    if (t % (2 * stride) == 0) mine[t] += mine[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = mine[0];
}

__global__ void nested(int* in, int* out, unsigned size) {
  const unsigned t = threadIdx.x;
  int *const mine = in + blockIdx.x * blockDim.x, *const sum = &out[blockIdx.x];
  if (size == 2 && t == 0) {
    out[blockIdx.x] = mine[0] + mine[1];
    return;
  }
  const int stride = size >> 1;
  if (stride > 1 && t < stride) mine[t] += mine[t + stride];
  __syncthreads();
  if (t == 0) {
    nested<<<1, stride>>>(mine, sum, stride);
    cudaDeviceSynchronize();
  }
  __syncthreads();
}

__global__ void without_waiting(int* in, int* out, unsigned size) {
  const unsigned t = threadIdx.x;
  int *const mine = in + blockIdx.x * blockDim.x, *const sum = &out[blockIdx.x];
  if (size == 2 && t == 0) {
    sum[0] = mine[0] + mine[1];
    return;
  }
  const int stride = size >> 1;
  if (stride > 1 && t < stride) {
    mine[t] += mine[t + stride];
    if (t == 0) without_waiting<<<1, stride>>>(mine, sum, stride);
  }
}

__global__ void all_by_one(int* in, int* out, int stride, int row) {
  int* const mine = in + blockIdx.x * row;
  if (stride == 1 && threadIdx.x == 0) {
    out[blockIdx.x] = mine[0] + mine[1];
    return;
  }
  mine[threadIdx.x] += mine[threadIdx.x + stride];
  if (threadIdx.x == 0 && blockIdx.x == 0) all_by_one<<<gridDim.x, stride / 2>>>(in, out, stride / 2, row);
}

int main() {
  const unsigned blocks = 2048, block = 512, n = blocks * block;
  int *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, blocks * sizeof(int)));
  CHECK(cudaMemset(in, 0, n * sizeof(int)));
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 10));
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, blocks * 10));
  report("neighbored", [&] { neighbored<<<blocks, block>>>(in, out, n); });
  report("nested", [&] { nested<<<blocks, block>>>(in, out, block); });
  report("without_waiting", [&] { without_waiting<<<blocks, block>>>(in, out, block); });
  report("all_by_one", [&] { all_by_one<<<blocks, block / 2>>>(in, out, block / 2, block); });
  return 0;
}
