// The seven reductions of M. Harris' lecture "Optimizing parallel reduction in CUDA", timed as there: passes over what the pass before left
// until one sum is left, for 2^22 ints and blocks of 128 threads; the seventh for 2^25 too.
#include <cstdio>
#include <vector>

#include "ladder.h"

constexpr unsigned kBlock = 128, kMostBlocks = 64;

__global__ void divergent(const int* in, int* out) {
  extern __shared__ int data[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  data[t] = in[i];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) data[t] += data[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void conflicts(const int* in, int* out) {
  extern __shared__ int data[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  data[t] = in[i];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned index = 2 * s * t;
    if (index < blockDim.x) data[index] += data[index + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void sequential(const int* in, int* out) {
  extern __shared__ int data[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  data[t] = in[i];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) data[t] += data[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void adds_while_loading(const int* in, int* out) {
  extern __shared__ int data[];
  const unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  data[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) data[t] += data[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__device__ void last_warp(volatile int* data, unsigned t) {
  data[t] += data[t + 32];
  data[t] += data[t + 16];
  data[t] += data[t + 8];
  data[t] += data[t + 4];
  data[t] += data[t + 2];
  data[t] += data[t + 1];
}

__global__ void last_warp_unrolled(const int* in, int* out) {
  extern __shared__ int data[];
  const unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  data[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) data[t] += data[t + s];
    __syncthreads();
  }
  if (t < 32) last_warp(data, t);
  if (t == 0) out[blockIdx.x] = data[0];
}

template <unsigned block_size>
__device__ void last_warp_of(volatile int* data, unsigned t) {
  if (block_size >= 64) data[t] += data[t + 32];
  if (block_size >= 32) data[t] += data[t + 16];
  if (block_size >= 16) data[t] += data[t + 8];
  if (block_size >= 8) data[t] += data[t + 4];
  if (block_size >= 4) data[t] += data[t + 2];
  if (block_size >= 2) data[t] += data[t + 1];
}

template <unsigned block_size>
__device__ void reduce_block(int* data, unsigned t) {
  if (block_size >= 512) {
    if (t < 256) data[t] += data[t + 256];
    __syncthreads();
  }
  if (block_size >= 256) {
    if (t < 128) data[t] += data[t + 128];
    __syncthreads();
  }
  if (block_size >= 128) {
    if (t < 64) data[t] += data[t + 64];
    __syncthreads();
  }
  if (t < 32) last_warp_of<block_size>(data, t);
}

template <unsigned block_size>
__global__ void unrolled(const int* in, int* out) {
  extern __shared__ int data[];
  const unsigned t = threadIdx.x, i = blockIdx.x * (block_size * 2) + threadIdx.x;
  data[t] = in[i] + in[i + block_size];
  __syncthreads();
  reduce_block<block_size>(data, t);
  if (t == 0) out[blockIdx.x] = data[0];
}

template <unsigned block_size>
__global__ void several_each(const int* in, int* out, unsigned n) {
  extern __shared__ int data[];
  const unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * (block_size * 2) + t;
  const unsigned grid_size = block_size * 2 * gridDim.x;
  data[t] = 0;
  while (i < n) {
    data[t] += in[i] + in[i + block_size];
    i += grid_size;
  }
  __syncthreads();
  reduce_block<block_size>(data, t);
  if (t == 0) out[blockIdx.x] = data[0];
}

// One pass: how many sums it leaves. Small ones have blocks of as many threads as there is work for.
unsigned pass(int step, unsigned n, const int* in, int* out) {
  const unsigned each = step < 4 ? 1 : 2;
  unsigned threads = 1;
  while (threads < kBlock && threads * each < n) threads *= 2;
  unsigned blocks = (n + threads * each - 1) / (threads * each);
  if (step == 7 && blocks > kMostBlocks) blocks = kMostBlocks;
  const unsigned shared = (threads < 64 ? 64 + threads : threads) * sizeof(int);
#define OF_SIZE(kernel, ...)                                                    \
  switch (threads) {                                                        \
    case 128: kernel<128><<<blocks, threads, shared>>>(__VA_ARGS__); break;  \
    case 64: kernel<64><<<blocks, threads, shared>>>(__VA_ARGS__); break;    \
    case 32: kernel<32><<<blocks, threads, shared>>>(__VA_ARGS__); break;    \
    case 16: kernel<16><<<blocks, threads, shared>>>(__VA_ARGS__); break;    \
    case 8: kernel<8><<<blocks, threads, shared>>>(__VA_ARGS__); break;      \
    case 4: kernel<4><<<blocks, threads, shared>>>(__VA_ARGS__); break;      \
    case 2: kernel<2><<<blocks, threads, shared>>>(__VA_ARGS__); break;      \
    default: kernel<1><<<blocks, threads, shared>>>(__VA_ARGS__); break;     \
  }
  switch (step) {
    case 1: divergent<<<blocks, threads, shared>>>(in, out); break;
    case 2: conflicts<<<blocks, threads, shared>>>(in, out); break;
    case 3: sequential<<<blocks, threads, shared>>>(in, out); break;
    case 4: adds_while_loading<<<blocks, threads, shared>>>(in, out); break;
    case 5: last_warp_unrolled<<<blocks, threads, shared>>>(in, out); break;
    case 6: OF_SIZE(unrolled, in, out) break;
    case 7: OF_SIZE(several_each, in, out, n) break;
  }
  return blocks;
}

int main() {
  const unsigned most = 1u << 25;
  int *in, *sums;
  CHECK(cudaMalloc(&in, most * sizeof(int)));
  CHECK(cudaMalloc(&sums, most / kBlock * 2 * sizeof(int)));
  CHECK(cudaMemset(in, 0, most * sizeof(int)));
  const auto reduce = [&](int step, unsigned n) {
    const int* from = in;
    int* to = sums;
    do {
      n = pass(step, n, from, to);
      from = to;
      to = to == sums ? sums + most / kBlock : sums;
    } while (n > 1);
  };
  for (int step = 1; step <= 7; ++step) {
    char name[32];
    std::snprintf(name, sizeof name, "step_%d", step);
    report(name, [&] { reduce(step, 1u << 22); });
  }
  report("step_7_of_2^25", [&] { reduce(7, most); });
  return 0;
}
