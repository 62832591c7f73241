// What kind of memory an address names, and addresses of a cluster's shared memory: a block's own has but one.
#include <cooperative_groups.h>

#include <cstdio>
namespace cg = cooperative_groups;

__device__ int in_global[4];

__device__ unsigned kinds(const void* p) {
  unsigned k = __isGlobal(p) | __isShared(p) << 1 | __isConstant(p) << 2 | __isLocal(p) << 3;
#if __CUDA_ARCH__ >= 900
  k |= __isCtaShared(p) << 4 | __isClusterShared(p) << 5;
#endif
  return k;
}

// The functions ask of what is behind a pointer that nobody can foresee.
__global__ void everywhere(unsigned* out, int* nothing, int which) {
  __shared__ int in_shared[4];
  extern __shared__ int in_dynamic[];
  int in_local[4] = {which, which, which, which};
  const void* places[] = {in_global, in_shared, in_dynamic, &in_local[which], out, nothing};
  for (int k = 0; k < 6; ++k) {
    const void* volatile p = places[k];
    out[k] = kinds(p);
  }
}

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
__global__ void __cluster_dims__(2, 1, 1) cluster(unsigned* out) {
  __shared__ int s[4];
  auto c = cg::this_cluster();
  const unsigned rank = c.block_rank();
  int *mine = c.map_shared_rank(s, rank), *other = c.map_shared_rank(s, rank ^ 1);
  s[1] = 40 + rank;
  c.sync();
  out += 8 * rank;
  out[0] = mine == s, out[1] = kinds(mine), out[2] = kinds(other), out[3] = c.query_shared_rank(s), out[4] = c.query_shared_rank(mine);
  out[5] = c.query_shared_rank(other), out[6] = other[1];
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(s)), mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(at), "r"(rank));
  out[7] = mapped == at;
  c.sync();
}
#endif

int main() {
  unsigned *device, host[24];
  cudaMalloc(&device, sizeof host);
  cudaMemset(device, 0, sizeof host);
  everywhere<<<1, 1, 16>>>(device, nullptr, 1);
  cudaDeviceProp props;
  cudaGetDeviceProperties(&props, 0);
  const bool clusters = props.major >= 9;
  if (clusters) cluster<<<2, 1>>>(device + 8);
  if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  const unsigned shared = clusters ? 0x32 : 2;
  const unsigned want[] = {1, shared, shared, 8, 1, 1, 0, 0, 1, 0x32, 0x20, 0, 0, 1, 41, 1, 1, 0x32, 0x20, 1, 1, 0, 40, 1};
  int wrong = 0;
  for (int k = 0; k < (clusters ? 24 : 6); ++k)
    if (k != 6 && k != 7 && host[k] != want[k]) printf("%d: %#x, not %#x\n", k, host[k], want[k]), ++wrong;
  printf("address_spaces: %s\n", wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
