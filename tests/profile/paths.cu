// Single warp instructions that go other ways to memory than plain loads and stores: atomic operations of 8 bytes on shared
// memory, cp.async, rows of tiles, other blocks of a cluster, generic addresses. Places come from tables that no compiler
// knows. An H100's counters for these launches, in this order, are in h100/paths.csv; a cell without a number is one that
// the profiler does not say.
// args: check
#include <cooperative_groups.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;
using Word = unsigned long long;

__global__ void cas64(Word* out, const int* at, unsigned mask) {
  __shared__ Word s[256];
  const int t = threadIdx.x;
  if (mask >> t & 1) out[t] = atomicCAS(&s[at[t]], Word(77), Word(1));
}
__global__ void cas32(unsigned* out, const int* at, unsigned mask) {
  __shared__ unsigned s[512];
  const int t = threadIdx.x;
  if (mask >> t & 1) out[t] = atomicCAS(&s[at[t]], 77u, 1u);
}
__global__ void exch64(Word* out, const int* at, unsigned mask) {
  __shared__ Word s[256];
  const int t = threadIdx.x;
  if (mask >> t & 1) out[t] = atomicExch(&s[at[t]], Word(1));
}

template <int bytes, bool past_l1>
__global__ void copy(const char* from, const int* to_at, const int* from_at, unsigned mask) {
  __shared__ __align__(128) char s[16384];
  const int t = threadIdx.x;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(s)) + to_at[t] * bytes;
  const char* p = from + from_at[t] * bytes;
  if (mask >> t & 1) {
    if constexpr (past_l1) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(p) : "memory");
    else if constexpr (bytes == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(p) : "memory");
    else if constexpr (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(p) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(p) : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
}

template <int tiles>
__global__ void load_tiles(unsigned* out, const int* at) {
  __shared__ uint4 s[512];
  const auto p = static_cast<unsigned>(__cvta_generic_to_shared(&s[at[threadIdx.x]]));
  unsigned r[4] = {};
  if constexpr (tiles == 1) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(p));
  if constexpr (tiles == 2) asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(p));
  if constexpr (tiles == 4) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p));
  if (r[0] + r[1] + r[2] + r[3] == 12345) out[threadIdx.x] = 1;
}
template <int tiles>
__global__ void store_tiles(const int* at) {
  __shared__ uint4 s[512];
  const auto p = static_cast<unsigned>(__cvta_generic_to_shared(&s[at[threadIdx.x]]));
  const unsigned v = threadIdx.x;
  if constexpr (tiles == 1) asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(p), "r"(v) : "memory");
  if constexpr (tiles == 2) asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%1};" ::"r"(p), "r"(v) : "memory");
  if constexpr (tiles == 4) asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(p), "r"(v) : "memory");
}

// The block's own shared memory by its name in the cluster, or the other block's.
template <class F>
__device__ void in_cluster(int other, F access) {
  __shared__ int s[512];
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = 1;
  cluster.sync();
  access(cluster.map_shared_rank(s, cluster.block_rank() ^ other));
  cluster.sync();
}
__global__ void __cluster_dims__(2) cluster_load(int* out, const int* at, int other) {
  in_cluster(other, [&](int* s) { out[threadIdx.x] = s[at[threadIdx.x]]; });
}
__global__ void __cluster_dims__(2) cluster_store(const int* at, int other) {
  in_cluster(other, [&](int* s) { s[at[threadIdx.x]] = 3; });
}
__global__ void __cluster_dims__(2) cluster_add(const int* at, int other) {
  in_cluster(other, [&](int* s) { atomicAdd(&s[at[threadIdx.x]], 3); });
}
__global__ void __cluster_dims__(2) cluster_add_used(int* out, const int* at, int other) {
  in_cluster(other, [&](int* s) { out[threadIdx.x] = atomicAdd(&s[at[threadIdx.x]], 3); });
}

__device__ __noinline__ int load(const int* p) { return *(volatile const int*)p; }
__device__ __noinline__ void store(int* p, int v) { *(volatile int*)p = v; }
__device__ __noinline__ int add(int* p, int v) { return atomicAdd(p, v); }
__device__ __noinline__ void add_unused(int* p, int v) { atomicAdd(p, v); }
__global__ void generic_shared(int* out, const int* at) {
  __shared__ int s[512];
  const int t = threadIdx.x;
  store(&s[at[t]], t);
  __syncwarp();
  out[t] = load(&s[at[t]]);
}
__global__ void generic_global(int* out, const int* at) {
  const int t = threadIdx.x;
  store(&out[at[t]], t);
  __syncwarp();
  out[t] = load(&out[at[t]]);
}
__global__ void generic_add_shared(int* out, const int* at) {
  __shared__ int s[512];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncwarp();
  out[t] = add(&s[at[t]], t);
  add_unused(&s[at[t]], t);
}
__global__ void generic_add_global(int* out, const int* at) {
  const int t = threadIdx.x;
  out[t + 512] = add(&out[at[t]], t);
  add_unused(&out[at[t]], t);
}
__global__ void generic_both(int* out, const int* at) {
  __shared__ int s[512];
  const int t = threadIdx.x;
  s[t] = 1;
  __syncwarp();
  int* p = t & 1 ? &s[at[t]] : &out[at[t]];
  out[t + 512] = load(p);
  store(p, 1);
}
__global__ void exchange(int* out, const int* at) { atomicExch(&out[at[threadIdx.x]], 1); }

template <class F>
const int* table(F at) {
  std::vector<int> all(32);
  for (int l = 0; l < 32; ++l) all[l] = at(l);
  int* out;
  cudaMalloc(&out, 384);
  cudaMemcpy(out, all.data(), 128, cudaMemcpyHostToDevice);
  return out;
}
template <class T>
T* zeros(size_t count) {
  T* out;
  cudaMalloc(&out, count * sizeof(T) + 256);
  cudaMemset(out, 0, count * sizeof(T));
  return out;
}

int main() {
  auto* d = zeros<int>(4096);
  auto* out = zeros<int>(4096);
  auto* a = zeros<char>(1 << 16);
  std::vector<const int*> places;
  for (int stride : {1, 2, 4, 8}) places.push_back(table([&](int l) { return l * stride; }));
  places.push_back(table([](int) { return 5; }));
  for (int each : {2, 8}) places.push_back(table([&](int l) { return l / each; }));
  places.push_back(table([](int l) { return l % 8; }));
  places.push_back(table([](int l) { return 31 - l; }));
  places.push_back(table([](int l) { return l * 3; }));
  unsigned state = 5;
  for (int range : {8, 8, 8, 64, 64, 64, 256, 256})
    places.push_back(table([&](int) { return static_cast<int>(((state = state * 1664525u + 1013904223u) >> 8) % range); }));
  places.push_back(table([](int l) { return l % 16 * 16; }));
  places.push_back(table([](int l) { return (l & 1) * 16 + l / 2; }));
  const unsigned half = 0x0000ffff, some = 0x00f0f00f;
  for (const int* p : places)
    for (unsigned mask : {~0u, half, some}) {
      cas64<<<1, 32>>>((Word*)out, p, mask);
      cas32<<<1, 32>>>((unsigned*)out, p, mask);
      exch64<<<1, 32>>>((Word*)out, p, mask);
    }
  const auto copies = [&](const int* to, const int* from, unsigned mask) {
    copy<4, false><<<1, 32>>>(a, to, from, mask);
    copy<8, false><<<1, 32>>>(a, to, from, mask);
    copy<16, false><<<1, 32>>>(a, to, from, mask);
    copy<16, true><<<1, 32>>>(a, to, from, mask);
  };
  for (const int* p : places)
    for (unsigned mask : {~0u, some}) copies(p, places[0], mask);
  for (const int* p : places) copies(places[0], p, ~0u);
  for (const int* p : places) {
    load_tiles<1><<<1, 32>>>((unsigned*)out, p);
    load_tiles<2><<<1, 32>>>((unsigned*)out, p);
    load_tiles<4><<<1, 32>>>((unsigned*)out, p);
    store_tiles<1><<<1, 32>>>(p);
    store_tiles<2><<<1, 32>>>(p);
    store_tiles<4><<<1, 32>>>(p);
  }
  for (int k : {0, 1, 4, 11})
    for (int other : {0, 1}) {
      cluster_load<<<2, 32>>>(out, places[k], other);
      cluster_store<<<2, 32>>>(places[k], other);
      cluster_add<<<2, 32>>>(places[k], other);
      cluster_add_used<<<2, 32>>>(out, places[k], other);
    }
  for (int k : {0, 1, 4, 11}) {
    generic_shared<<<1, 32>>>(out, places[k]);
    generic_global<<<1, 32>>>(out, places[k]);
    generic_add_shared<<<1, 32>>>(out, places[k]);
    generic_add_global<<<1, 32>>>(out, places[k]);
    generic_both<<<1, 32>>>(out, places[k]);
    exchange<<<1, 32>>>(out, places[k]);
  }
  const cudaError_t result = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(result));
  cudaFree(d);
  return result != cudaSuccess;
}
