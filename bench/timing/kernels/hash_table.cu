// A hash table with compare-and-swap: insertion, lookup, counting of keys.
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

const unsigned kEmpty = 0xffffffffu;

__device__ unsigned mix(unsigned h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

__global__ void insert(const unsigned* keys, int n, unsigned long long* table, unsigned mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i], slot = mix(key) & mask;
  const unsigned long long entry = (unsigned long long)key << 32 | unsigned(i);
  while (true) {
    unsigned long long old = atomicCAS(&table[slot], ~0ull, entry);
    if (old == ~0ull || unsigned(old >> 32) == key) return;
    slot = (slot + 1) & mask;
  }
}

__global__ void lookup(const unsigned* keys, int n, const unsigned long long* table, unsigned mask, unsigned* values) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i] + (i % 4 == 0), slot = mix(key) & mask;
  while (true) {
    unsigned long long entry = table[slot];
    if (entry == ~0ull) {
      values[i] = kEmpty;
      return;
    }
    if (unsigned(entry >> 32) == key) {
      values[i] = unsigned(entry);
      return;
    }
    slot = (slot + 1) & mask;
  }
}

__global__ void count_keys(const unsigned* keys, int n, unsigned* table_keys, unsigned* counts, unsigned mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i] % 1000, slot = mix(key) & mask;
  while (true) {
    unsigned old = atomicCAS(&table_keys[slot], kEmpty, key);
    if (old == kEmpty || old == key) {
      atomicAdd(&counts[slot], 1u);
      return;
    }
    slot = (slot + 1) & mask;
  }
}

int main() {
  const int n = 1 << 19;
  const unsigned slots = 1 << 20;
  std::vector<unsigned> host(n);
  unsigned state = 1;
  for (auto& k : host) k = (state = state * 1664525u + 1013904223u) >> 4;
  unsigned *keys, *values, *small;
  unsigned long long* table;
  CHECK(cudaMalloc(&keys, n * 4));
  CHECK(cudaMalloc(&values, n * 4));
  CHECK(cudaMalloc(&small, 8192 * 4));
  CHECK(cudaMalloc(&table, slots * 8));
  CHECK(cudaMemcpy(keys, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE {
    CHECK(cudaMemset(table, 0xff, slots * 8));
    insert<<<n / 256, 256>>>(keys, n, table, slots - 1);
  }
  THRICE lookup<<<n / 256, 256>>>(keys, n, table, slots - 1, values);
  THRICE {
    CHECK(cudaMemset(small, 0xff, 4096 * 4));
    CHECK(cudaMemset(small + 4096, 0, 4096 * 4));
    count_keys<<<(1 << 17) / 256, 256>>>(keys, 1 << 17, small, small + 4096, 4095);
  }
  unsigned one;
  CHECK(cudaMemcpy(&one, values + 1, 4, cudaMemcpyDeviceToHost));
  std::printf("%u\n", one);
  return 0;
}
