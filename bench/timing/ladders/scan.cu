// The work-efficient scan of M. Harris, S. Sengupta and J. Owens (GPU Gems 3, chapter 39), of arrays of any length: blocks of 256 threads scan
// 512 elements each, without conflicts in banks, their sums are scanned the same way, and each block adds its own.
#include <cstdio>

#include "ladder.h"

constexpr int kBlock = 256, kEach = 2 * kBlock, kBanks = 16;
// One word more for each row of banks, and for each row of these.
__device__ int padding(int index) { return (index >> 4) + (index >> 8); }

template <bool store_sums>
__global__ void scan_blocks(float* out, const float* in, float* sums) {
  extern __shared__ float row[];
  const int t = threadIdx.x, first = blockIdx.x * kEach + t;
  const int ai = t, bi = t + kBlock;
  const int a = ai + padding(ai), b = bi + padding(bi);
  row[a] = in[first];
  row[b] = in[first + kBlock];
  int offset = 1;
  for (int d = kBlock; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      left += padding(left);
      right += padding(right);
      row[right] += row[left];
    }
    offset *= 2;
  }
  if (t == 0) {
    const int last = kEach - 1 + padding(kEach - 1);
    if (store_sums) sums[blockIdx.x] = row[last];
    row[last] = 0;
  }
  for (int d = 1; d < kEach; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      left += padding(left);
      right += padding(right);
      const float from_left = row[left];
      row[left] = row[right];
      row[right] += from_left;
    }
  }
  __syncthreads();
  out[first] = row[a];
  out[first + kBlock] = row[b];
}

__global__ void add_sums(float* out, const float* sums) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = sums[blockIdx.x];
  const unsigned first = blockIdx.x * kEach + threadIdx.x;
  __syncthreads();
  out[first] += sum;
  out[first + kBlock] += sum;
}

constexpr int kMost = 1 << 24;
float* sums_of_level[4];

void scan(float* out, const float* in, int n, int level) {
  const int blocks = (n + kEach - 1) / kEach;
  const size_t shared = (kEach + kEach / kBanks + kEach / kBanks / kBanks + 1) * sizeof(float);
  float* const sums = sums_of_level[level];
  if (blocks == 1) {
    scan_blocks<false><<<1, kBlock, shared>>>(out, in, nullptr);
    return;
  }
  scan_blocks<true><<<blocks, kBlock, shared>>>(out, in, sums);
  scan(sums, sums, blocks, level + 1);
  add_sums<<<blocks, kBlock>>>(out, sums);
}

int main() {
  float *in, *out;
  CHECK(cudaMalloc(&in, kMost * sizeof(float)));
  CHECK(cudaMalloc(&out, kMost * sizeof(float)));
  CHECK(cudaMemset(in, 0, kMost * sizeof(float)));
  for (int level = 0, n = kMost; level < 4; ++level) {
    n = (n + kEach - 1) / kEach;
    CHECK(cudaMalloc(&sums_of_level[level], (n + kEach) * sizeof(float)));
  }
  for (int n : {1 << 10, 1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 24}) {
    char name[32];
    std::snprintf(name, sizeof name, "scan_%d", n);
    report(name, [&] { scan(out, in, n, 0); });
  }
  return 0;
}
