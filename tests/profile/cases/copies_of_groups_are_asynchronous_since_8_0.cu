// Pieces are as wide as the elements, or as the size is said to be a multiple of; 16 bytes go past L1.
// The third has two bytes left over.
// run: profile %s
// expect: k smsp__inst_executed_op_ldgsts.sum 4 4 5 1
// expect: k l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum 16 20 17 0
// expect: quads smsp__inst_executed_op_ldgsts.sum 1
// expect: quads l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum 0
// expect: k gld_transactions 16 20 18 16
// expect: quads gld_transactions 16
// expect: k gld_requested_bytes 0 0 2 0
// run: profile --device v100 %s
// expect: k smsp__inst_executed_op_ldgsts.sum 0 0 0 0
// expect: k gld_transactions 16 20 17 16
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
template <class Size>
__global__ void k(const float* a, float* o, Size bytes) {
  __shared__ __align__(16) float s[132];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, a, bytes);
  cg::wait(block);
  o[threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void quads(const float4* a, float4* o) {
  __shared__ float4 s[32];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, a, 512);
  cg::wait(block);
  if (threadIdx.x < 32) o[threadIdx.x] = s[31 - threadIdx.x];
}
int main() {
  float *a, *o;
  cudaMalloc(&a, 1024);
  cudaMalloc(&o, 512);
  cudaMemset(a, 0, 1024);
  k<<<1, 128>>>(a, o, 512);
  k<<<1, 128>>>(a + 2, o, 512);
  k<<<1, 128>>>(a, o, 518);
  k<<<1, 128>>>(a, o, cuda::aligned_size_t<16>(512));
  quads<<<1, 128>>>((float4*)a, (float4*)o);
  return cudaDeviceSynchronize();
}
