// Large tables: a hash table of millions, sparse rows over 64 MB, searches in long lists, chains through DRAM.
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

__device__ unsigned mix(unsigned h) {
  h ^= h >> 16;
  h *= 0x7feb352du;
  h ^= h >> 15;
  h *= 0x846ca68bu;
  return h ^ h >> 16;
}

__global__ void insert(unsigned* table, unsigned mask, int n) {
  unsigned key = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (key > n) return;
  unsigned slot = mix(key) & mask;
  while (true) {
    unsigned old = atomicCAS(&table[slot], 0u, key);
    if (old == 0 || old == key) return;
    slot = (slot + 1) & mask;
  }
}

__global__ void find(const unsigned* table, unsigned mask, unsigned* hits, int n) {
  unsigned key = (blockIdx.x * blockDim.x + threadIdx.x) * 3 + 1, slot = mix(key) & mask, v;
  while ((v = table[slot]) != 0 && v != key) slot = (slot + 1) & mask;
  unsigned found = __ballot_sync(~0u, v == key);
  if (threadIdx.x % 32 == 0) atomicAdd(hits, __popc(found));
}

__global__ void sparse_rows(const float* x, float* y, unsigned mask, int per_row) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
  float sum = 0;
  for (int k = lane; k < per_row; k += 8) sum += 0.5f * x[mix(row * per_row + k) & mask];
  for (int d = 4; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void chains(const unsigned* next, unsigned* out, int steps, unsigned mask) {
  unsigned at = mix(blockIdx.x * blockDim.x + threadIdx.x) & mask;
  for (int i = 0; i < steps; ++i) at = (mix(at) + next[at]) & mask;
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

__global__ void lower_bounds(const unsigned* sorted, unsigned* out, int n) {
  unsigned key = mix(blockIdx.x * blockDim.x + threadIdx.x);
  int low = 0, length = n;
  while (length > 0) {
    int half = length / 2;
    bool right = sorted[low + half] < key;
    low = right ? low + half + 1 : low;
    length = right ? length - half - 1 : half;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = low;
}

__global__ void ramp(unsigned* p, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = i * 256u;
}

int main() {
  const unsigned slots = 1 << 24;
  unsigned *table, *out;
  CHECK(cudaMalloc(&table, slots * 4));
  CHECK(cudaMalloc(&out, 1 << 23));
  CHECK(cudaMemset(out, 0, 4));
  const int n = 1 << 21;
  THRICE {
    CHECK(cudaMemset(table, 0, slots * 4));
    insert<<<n / 256, 256>>>(table, slots / 4 - 1, n);
  }
  THRICE find<<<n / 2 / 256, 256>>>(table, slots / 4 - 1, out, n);
  THRICE sparse_rows<<<(1 << 17) * 8 / 256, 256>>>((float*)table, (float*)out, slots - 1, 24);
  THRICE chains<<<4, 64>>>(table, out, 1000, slots - 1);
  THRICE chains<<<264, 512>>>(table, out, 30, slots - 1);
  ramp<<<528, 256>>>(table, slots);
  THRICE lower_bounds<<<(1 << 19) / 128, 128>>>(table, out, slots);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
