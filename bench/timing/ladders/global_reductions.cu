// The reductions of J. Cheng, M. Grossman and T. McKercher, "Professional CUDA C Programming" (2014), chapter 3: sums of blocks in place, in
// global memory, of 2^24 ints by blocks of 512 threads; each step takes what the one before it left undone.
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

__global__ void less_divergent(int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  int* const mine = in + blockIdx.x * blockDim.x;
  if (i >= n) return;
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    const int index = 2 * stride * t;
    if (index < blockDim.x) mine[index] += mine[index + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = mine[0];
}

__global__ void interleaved(int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  int* const mine = in + blockIdx.x * blockDim.x;
  if (i >= n) return;
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (t < stride) mine[t] += mine[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = mine[0];
}

__global__ void unrolled_2(int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  int* const mine = in + blockIdx.x * blockDim.x * 2;
  if (i + blockDim.x < n) in[i] += in[i + blockDim.x];
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (t < stride) mine[t] += mine[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = mine[0];
}

__global__ void unrolled_4(int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  int* const mine = in + blockIdx.x * blockDim.x * 4;
  if (i + 3 * blockDim.x < n) {
    const int a1 = in[i], a2 = in[i + blockDim.x], a3 = in[i + 2 * blockDim.x], a4 = in[i + 3 * blockDim.x];
    in[i] = a1 + a2 + a3 + a4;
  }
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (t < stride) mine[t] += mine[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = mine[0];
}

__device__ void add_8(int* in, unsigned i, unsigned n) {
  if (i + 7 * blockDim.x < n) {
    const int a1 = in[i], a2 = in[i + blockDim.x], a3 = in[i + 2 * blockDim.x], a4 = in[i + 3 * blockDim.x];
    const int b1 = in[i + 4 * blockDim.x], b2 = in[i + 5 * blockDim.x], b3 = in[i + 6 * blockDim.x], b4 = in[i + 7 * blockDim.x];
    in[i] = a1 + a2 + a3 + a4 + b1 + b2 + b3 + b4;
  }
  __syncthreads();
}

__device__ void last_warp(int* mine, unsigned t) {
  if (t >= 32) return;
  volatile int* const data = mine;
  data[t] += data[t + 32];
  data[t] += data[t + 16];
  data[t] += data[t + 8];
  data[t] += data[t + 4];
  data[t] += data[t + 2];
  data[t] += data[t + 1];
}

__global__ void unrolled_8(int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
  int* const mine = in + blockIdx.x * blockDim.x * 8;
  add_8(in, i, n);
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (t < stride) mine[t] += mine[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = mine[0];
}

__global__ void last_warp_unrolled(int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
  int* const mine = in + blockIdx.x * blockDim.x * 8;
  add_8(in, i, n);
  for (int stride = blockDim.x / 2; stride > 32; stride >>= 1) {
    if (t < stride) mine[t] += mine[t + stride];
    __syncthreads();
  }
  last_warp(mine, t);
  if (t == 0) out[blockIdx.x] = mine[0];
}

__global__ void unrolled(int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
  int* const mine = in + blockIdx.x * blockDim.x * 8;
  add_8(in, i, n);
  if (blockDim.x >= 1024 && t < 512) mine[t] += mine[t + 512];
  __syncthreads();
  if (blockDim.x >= 512 && t < 256) mine[t] += mine[t + 256];
  __syncthreads();
  if (blockDim.x >= 256 && t < 128) mine[t] += mine[t + 128];
  __syncthreads();
  if (blockDim.x >= 128 && t < 64) mine[t] += mine[t + 64];
  __syncthreads();
  last_warp(mine, t);
  if (t == 0) out[blockIdx.x] = mine[0];
}

template <unsigned block_size>
__global__ void of_known_size(int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
  int* const mine = in + blockIdx.x * blockDim.x * 8;
  add_8(in, i, n);
  if (block_size >= 1024 && t < 512) mine[t] += mine[t + 512];
  __syncthreads();
  if (block_size >= 512 && t < 256) mine[t] += mine[t + 256];
  __syncthreads();
  if (block_size >= 256 && t < 128) mine[t] += mine[t + 128];
  __syncthreads();
  if (block_size >= 128 && t < 64) mine[t] += mine[t + 64];
  __syncthreads();
  last_warp(mine, t);
  if (t == 0) out[blockIdx.x] = mine[0];
}

int main() {
  const unsigned n = 1u << 24, block = 512, blocks = n / block;
  int *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, blocks * sizeof(int)));
  CHECK(cudaMemset(in, 0, n * sizeof(int)));
  report("neighbored", [&] { neighbored<<<blocks, block>>>(in, out, n); });
  report("less_divergent", [&] { less_divergent<<<blocks, block>>>(in, out, n); });
  report("interleaved", [&] { interleaved<<<blocks, block>>>(in, out, n); });
  report("unrolled_2", [&] { unrolled_2<<<blocks / 2, block>>>(in, out, n); });
  report("unrolled_4", [&] { unrolled_4<<<blocks / 4, block>>>(in, out, n); });
  report("unrolled_8", [&] { unrolled_8<<<blocks / 8, block>>>(in, out, n); });
  report("last_warp_unrolled", [&] { last_warp_unrolled<<<blocks / 8, block>>>(in, out, n); });
  report("unrolled", [&] { unrolled<<<blocks / 8, block>>>(in, out, n); });
  report("of_known_size", [&] { of_known_size<512><<<blocks / 8, block>>>(in, out, n); });
  return 0;
}
