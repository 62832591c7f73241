// Barriers that textbooks place otherwise than the fast form does.
#include <cuda/barrier>

#include "pattern.h"

constexpr int kThreads = 256, kBlocks = 256;
constexpr double kAll = double(kThreads) * kBlocks;

__global__ void tree(const float* in, float* out) {
  __shared__ float r[kThreads];
  const int t = threadIdx.x;
  r[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (int s = kThreads / 2; s > 0; s /= 2) {
    if (t < s) r[t] += r[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = r[0];
}

__global__ void tree_barrier_first(const float* in, float* out) {
  __shared__ float r[kThreads];
  const int t = threadIdx.x;
  r[t] = in[blockIdx.x * kThreads + t];
  for (int s = kThreads / 2; s > 0; s /= 2) {
    __syncthreads();
    if (t < s) r[t] += r[t + s];
  }
  if (t == 0) out[blockIdx.x] = r[0];
}

__global__ void tree_rising(const float* in, float* out) {
  __shared__ float r[kThreads];
  const int t = threadIdx.x;
  r[t] = in[blockIdx.x * kThreads + t];
  for (int s = 1; s < blockDim.x; s *= 2) {
    __syncthreads();
    if (t % (2 * s) == 0) r[t] += r[t + s];
  }
  if (t == 0) out[blockIdx.x] = r[0];
}

__global__ void tree_last_step(const float* in, float* out) {
  __shared__ float r[kThreads];
  const int t = threadIdx.x;
  r[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  if (t < 128) r[t] += r[t + 128];
  __syncthreads();
  if (t < 64) r[t] += r[t + 64];
  __syncthreads();
  if (t < 32) r[t] += r[t + 32];
  __syncthreads();
  if (t < 16) r[t] += r[t + 16];
  __syncthreads();
  if (t < 8) r[t] += r[t + 8];
  __syncthreads();
  if (t < 4) r[t] += r[t + 4];
  __syncthreads();
  if (t < 2) r[t] += r[t + 2];
  __syncthreads();
  if (t < 1) r[t] += r[t + 1];
  if (t == 0) out[blockIdx.x] = r[0];
}

__global__ void neighbours(const float* in, float* out, int n) {
  __shared__ float r[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  r[t] = in[i];
  __syncthreads();
  if (i < n) out[i] = r[t] + r[t ^ 33];
}

__global__ void neighbours_early_return(const float* in, float* out, int n) {
  __shared__ float r[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  r[t] = 0;
  if (i % kThreads >= n) return;
  r[t] = in[i];
  __syncthreads();
  out[i] = r[t] + r[t ^ 33];
}

__global__ void tiles(const float* a, const float* b, float* c, int n, int rounds) {
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < rounds; ++k) {
    left[y][x] = a[(blockIdx.x * rounds + k) % 64 * 256 + y * 16 + x];
    right[y][x] = b[k * 256 + y * 16 + x];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += left[y][j] * right[j][x];
    __syncthreads();
  }
  if (y * 16 + x < n) c[blockIdx.x * 256 + y * 16 + x] = sum;
}

__global__ void tiles_early_return(const float* a, const float* b, float* c, int n, int rounds) {
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  left[y][x] = right[y][x] = 0;
  if (y * 16 + x >= n) return;
  float sum = 0;
  for (int k = 0; k < rounds; ++k) {
    left[y][x] = a[(blockIdx.x * rounds + k) % 64 * 256 + y * 16 + x];
    right[y][x] = b[k * 256 + y * 16 + x];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += left[y][j] * right[j][x];
    __syncthreads();
  }
  c[blockIdx.x * 256 + y * 16 + x] = sum;
}

__global__ void parts(const float* in, float* out, int rounds) {
  __shared__ float r[kThreads];
  const int t = threadIdx.x;
  float v = in[blockIdx.x * kThreads + t];
  for (int k = 0; k < rounds; ++k) {
    if (t < kThreads / 2) r[t] = v * 2;
    else r[t] = v + 1;
    __syncthreads();
    v = r[(t + kThreads / 2) % kThreads];
    __syncthreads();
  }
  out[blockIdx.x * kThreads + t] = v;
}

__global__ void parts_at_places(const float* in, float* out, int rounds) {
  __shared__ float r[kThreads];
  const int t = threadIdx.x;
  float v = in[blockIdx.x * kThreads + t];
  for (int k = 0; k < rounds; ++k) {
    if (t < kThreads / 2) {
      r[t] = v * 2;
      __syncthreads();
      v = r[t + kThreads / 2];
      __syncthreads();
    } else {
      r[t] = v + 1;
      __syncthreads();
      v = r[t - kThreads / 2];
      __syncthreads();
    }
  }
  out[blockIdx.x * kThreads + t] = v;
}

__global__ void barrier_object_early_return(const float* in, float* out, int n) {
  __shared__ float r[kThreads];
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (t == 0) init(&all, kThreads);
  r[t] = 0;
  __syncthreads();
  if (t >= n) {
    all.arrive_and_drop();
    return;
  }
  r[t] = in[i];
  all.arrive_and_wait();
  out[i] = r[t] + r[t ^ 33];
}

void rows() {
  const float* in = array<float>(1 << 20, 1, 0.25f);
  float* out = array<float>(1 << 20);
  const auto form = [=](auto kernel) { return pattern::Form{kAll, [=] { kernel<<<kBlocks, kThreads>>>(in, out); }}; };
  const auto some = [=](auto kernel, int n) { return pattern::Form{kAll, [=] { kernel<<<kBlocks, kThreads>>>(in, out, n); }}; };
  const auto product = [=](auto kernel, int n) { return pattern::Form{kAll, [=] { kernel<<<kBlocks, dim3(16, 16)>>>(in, in, out, n, 8); }}; };
  row("tree: barrier before the step", "thread", form(tree_barrier_first), "behind it", form(tree));
  row("tree: rising strides, barrier before the step", "thread", form(tree_rising), "falling, behind it", form(tree));
  row("tree: last step without a barrier", "thread", form(tree_last_step), "a loop", form(tree));
  row("early return: one thread of a block", "thread", some(neighbours_early_return, 255), "a condition", some(neighbours, kThreads * kBlocks - 1));
  row("early return: some warps and a part of one", "thread", some(neighbours_early_return, 100), "a condition", some(neighbours, kThreads * kBlocks - 1));
  row("early return: tiles of a product", "thread", product(tiles_early_return, 250), "a condition", product(tiles, 250));
  row("barriers at different places", "thread", some(parts_at_places, 8), "at one place", some(parts, 8));
  row("early return: barrier object", "thread", some(barrier_object_early_return, 250), "__syncthreads", some(neighbours, kThreads * kBlocks - 1));
}
