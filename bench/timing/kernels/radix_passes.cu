// A radix sort of a million keys, four bits a pass: counts, scan, scatter; and bitonic steps in global and in shared memory.
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

__global__ void digit_counts(const unsigned* keys, unsigned* table, int n, int shift) {
  __shared__ unsigned counts[16];
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  int base = blockIdx.x * 1024;
  for (int i = threadIdx.x; i < 1024; i += blockDim.x)
    if (base + i < n) atomicAdd(&counts[(keys[base + i] >> shift) & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) table[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

__global__ void scan_table(unsigned* table, int size) {
  __shared__ unsigned warp_totals[32];
  unsigned carry = 0;
  for (int base = 0; base < size; base += 1024) {
    unsigned v = base + threadIdx.x < size ? table[base + threadIdx.x] : 0, sum = v;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int o = 1; o < 32; o <<= 1) {
      unsigned t = __shfl_up_sync(0xffffffff, sum, o);
      if (lane >= o) sum += t;
    }
    if (lane == 31) warp_totals[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      unsigned total = warp_totals[lane];
      for (int o = 1; o < 32; o <<= 1) {
        unsigned t = __shfl_up_sync(0xffffffff, total, o);
        if (lane >= o) total += t;
      }
      warp_totals[lane] = total;
    }
    __syncthreads();
    unsigned before = warp ? warp_totals[warp - 1] : 0;
    if (base + threadIdx.x < size) table[base + threadIdx.x] = carry + before + sum - v;
    carry += warp_totals[31];
    __syncthreads();
  }
}

__global__ void scatter(const unsigned* keys, unsigned* out, const unsigned* table, int n, int shift) {
  __shared__ unsigned offsets[16], warp_counts[8][16];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, base = blockIdx.x * 1024;
  if (threadIdx.x < 16) offsets[threadIdx.x] = table[threadIdx.x * gridDim.x + blockIdx.x];
  for (int i = 0; i < 1024; i += 256) {
    unsigned key = keys[base + i + threadIdx.x], digit = (key >> shift) & 15;
    if (threadIdx.x < 128) (&warp_counts[0][0])[threadIdx.x] = 0;
    __syncthreads();
    unsigned peers = __match_any_sync(0xffffffff, digit), rank = __popc(peers & ((1u << lane) - 1));
    if (rank == 0) warp_counts[warp][digit] = __popc(peers);
    __syncthreads();
    unsigned before = offsets[digit];
    for (int w = 0; w < warp; w++) before += warp_counts[w][digit];
    out[before + rank] = key;
    __syncthreads();
    if (threadIdx.x < 16)
      for (int w = 0; w < 8; w++) offsets[threadIdx.x] += warp_counts[w][threadIdx.x];
    __syncthreads();
  }
}

__global__ void bitonic_step(unsigned* keys, int j, int k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
  if (other > i) {
    unsigned a = keys[i], b = keys[other];
    if ((a > b) == ((i & k) == 0)) {
      keys[i] = b;
      keys[other] = a;
    }
  }
}

__global__ void bitonic_shared(unsigned* keys) {
  __shared__ unsigned s[1024];
  unsigned base = blockIdx.x * 1024, t = threadIdx.x;
  s[t] = keys[base + t];
  s[t + 512] = keys[base + t + 512];
  for (unsigned size = 2; size <= 1024; size <<= 1) {
    unsigned up = ((t & (size / 2)) != 0);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * t - (t & (stride - 1)), a = s[pos], b = s[pos + stride];
      if ((a > b) == (up == 0)) {
        s[pos] = b;
        s[pos + stride] = a;
      }
    }
  }
  __syncthreads();
  keys[base + t] = s[t];
  keys[base + t + 512] = s[t + 512];
}

int main() {
  const int n = 1 << 20, blocks = n / 1024;
  std::vector<unsigned> host(n);
  unsigned s = 1;
  for (unsigned& k : host) k = (s = s * 1664525u + 1013904223u) ^ (s >> 15);
  unsigned *keys, *other, *table;
  CHECK(cudaMalloc(&keys, n * 4));
  CHECK(cudaMalloc(&other, n * 4));
  CHECK(cudaMalloc(&table, 16 * blocks * 4));
  CHECK(cudaMemcpy(keys, host.data(), n * 4, cudaMemcpyHostToDevice));
  for (int shift = 0; shift < 12; shift += 4) {
    digit_counts<<<blocks, 256>>>(keys, table, n, shift);
    scan_table<<<1, 1024>>>(table, 16 * blocks);
    scatter<<<blocks, 256>>>(keys, other, table, n, shift);
    std::swap(keys, other);
  }
  THRICE bitonic_shared<<<blocks, 512>>>(keys);
  for (int j = 1 << 19; j > 1 << 16; j >>= 1) bitonic_step<<<n / 256, 256>>>(keys, j, 1 << 20);
  CHECK(cudaMemcpy(host.data(), keys, 4096, cudaMemcpyDeviceToHost));
  std::printf("%u\n", host[77]);
  return 0;
}
