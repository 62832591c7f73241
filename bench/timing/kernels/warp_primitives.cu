// Votes, matches, ballots and reductions of warps; bits counted and packed; a warp's sort and its median.
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

__global__ void pack_bits(const float* in, unsigned* out, float limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned bits = __ballot_sync(~0u, in[i] > limit);
  if (threadIdx.x % 32 == 0) out[i / 32] = bits;
}

__global__ void groups_by_key(const int* keys, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned peers = __match_any_sync(~0u, keys[i] & 7);
  out[i] = __popc(peers) * 100 + __ffs(peers);
}

__global__ void until_all(const int* in, int* out, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i] & 1023, steps = 0;
  while (!__all_sync(~0u, v >= limit)) {
    if (v < limit) v += 1 + (v & 15);
    ++steps;
  }
  out[i] = steps;
}

__global__ void reductions(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  int sum = __reduce_add_sync(~0u, v), low = __reduce_min_sync(~0u, v), high = __reduce_max_sync(~0u, v);
  unsigned all = __reduce_or_sync(~0u, unsigned(v));
  out[i] = sum ^ low ^ high ^ int(all);
}

__global__ void sort_warp(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, v = in[i];
  for (int k = 2; k <= 32; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = __shfl_xor_sync(~0u, v, j);
      bool keep_low = ((lane & k) == 0) == ((lane & j) == 0);
      v = keep_low ? min(v, other) : max(v, other);
    }
  out[i] = v;
}

__global__ void population(const uint4* in, unsigned* out, int n) {
  unsigned count = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint4 v = in[i];
    count += __popc(v.x) + __popc(v.y) + __popc(v.z) + __popc(v.w);
  }
  count = __reduce_add_sync(~0u, count);
  if (threadIdx.x % 32 == 0) atomicAdd(out, count);
}

int main() {
  const int n = 1 << 20;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = int(i * 2654435761u >> 3);
  int *in, *out;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE pack_bits<<<n / 256, 256>>>((float*)in, (unsigned*)out, 1.0f);
  THRICE groups_by_key<<<n / 2 / 256, 256>>>(in, out);
  THRICE until_all<<<n / 8 / 128, 128>>>(in, out, 900);
  THRICE reductions<<<n / 2 / 512, 512>>>(in, out);
  THRICE sort_warp<<<n / 4 / 256, 256>>>(in, out);
  THRICE population<<<264, 256>>>((uint4*)in, (unsigned*)out, n / 4);
  CHECK(cudaMemcpy(host.data(), out, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", host[0]);
  return 0;
}
