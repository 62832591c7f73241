// Warps: shuffles that read lanes which do not take part, votes, masks, groups. An argument picks the case.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "cases.h"
namespace cg = cooperative_groups;

__global__ void from_inactive(const int* in, int* out) {
  int t = threadIdx.x, v = in[t];
  if (t < 16) v = __shfl_sync(0x0000ffff, v, 20);  // expect broadcast_from_inactive shuffle_inactive_lane
  out[t] = v;
}
__global__ void twenty(const int* in, int* out) {
  int t = threadIdx.x, v = 0;
  unsigned mask = __ballot_sync(0xffffffff, t < 20);
  if (t < 20) {
    v = in[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(mask, v, d);  // expect sum_of_twenty shuffle_inactive_lane
    if (t == 0) out[0] = v;
  }
}
__global__ void twenty_guarded(const int* in, int* out) {
  int t = threadIdx.x, v = 0;
  unsigned mask = __ballot_sync(0xffffffff, t < 20);
  if (t < 20) {
    v = in[t];
    for (int d = 16; d > 0; d /= 2) {
      int other = __shfl_down_sync(mask, v, d);
      if (t + d < 20) v += other;
    }
    if (t == 0) out[0] = v;
  }
}
__global__ void butterfly_of_twenty(const int* in, int* out) {
  int t = threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffff, t < 20);
  if (t < 20) {
    int v = in[t];
    for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_xor_sync(mask, v, d));  // expect butterfly_of_twenty shuffle_inactive_lane
    out[t] = v;
  }
}
__global__ void shifted(const int* in, int* out) {  // no sum: the last lane has no neighbour
  int t = threadIdx.x, v = in[t];
  if (t < 20) {
    v -= __shfl_down_sync(0xfffff, v, 1);  // expect difference_past_the_end shuffle_inactive_lane
    out[t] = v;
  }
}
__global__ void shifted_guarded(const int* in, int* out) {
  int t = threadIdx.x, v = in[t];
  if (t < 20) {
    v -= __shfl_down_sync(0xfffff, v, 1);
    if (t < 19) out[t] = v;
  }
}
__global__ void half(const int* in, int* out) {
  int t = threadIdx.x, v = in[t];
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffff, v, d);
    if (t == 0) out[0] = v;
  }
}
__global__ void half_all_store(const int* in, int* out) {
  int t = threadIdx.x, v = in[t];
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffff, v, d);  // warn sum_stored_by_all shuffle_inactive_lane
    out[t] = v;
  }
}
__global__ void last_block_of_threads(const int* in, int* out, int n) {
  int t = threadIdx.x, v = t < n ? in[t] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (t % 32 == 0) out[t / 32] = v;
}
__global__ void width(const int* in, int* out) {
  int v = in[threadIdx.x];
  for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d, 8);
  out[threadIdx.x] = v;
}
__global__ void scan(const int* in, int* out) {
  int t = threadIdx.x, v = in[t];
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(0xffffffff, v, d);
    if (t % 32 >= d) v += other;
  }
  out[t] = v;
}
__global__ void left_early(const int* in, int* out, int n) {
  int t = threadIdx.x;
  if (t >= n) return;
  int v = in[t];
  v += __shfl_xor_sync(0xffffffff, v, 1);  // expect partner_has_left shuffle_inactive_lane
  out[t] = v;
}
__global__ void vote_in_branch(const int* in, int* out) {
  int t = threadIdx.x;
  if (in[t] & 1) out[t] = __any_sync(0xffffffff, t == 3);  // expect vote_in_branch lanes_never_arrive
  else out[t] = -1;
}
__global__ void match_in_branch(const int* in, int* out) {
  int t = threadIdx.x;
  if (t < 24) out[t] = __match_any_sync(0xffffffff, in[t]);  // expect match_in_branch lanes_never_arrive
  out[t + 32] = t;
}
__global__ void reduce_in_branch(const int* in, int* out) {
  int t = threadIdx.x;
  if (t > 3) out[t] = __reduce_add_sync(0xffffffff, in[t]);  // expect reduce_in_branch lanes_never_arrive
  out[t + 32] = t;
}
__global__ void two_calls(const int* in, int* out) {  // each half has its own mask
  int t = threadIdx.x;
  if (t < 16) out[t] = __shfl_sync(0x0000ffff, in[t], 3);
  else out[t] = __shfl_sync(0xffff0000, in[t], 19);
}
__global__ void tiles(const int* in, int* out) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = in[threadIdx.x];
  if (threadIdx.x < 16) v = cg::reduce(tile, v, cg::plus<int>());
  out[threadIdx.x] = v;
}
__global__ void tile_in_branch(const int* in, int* out) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int v = in[threadIdx.x];
  if (threadIdx.x < 10) v = tile.shfl(v, 0);  // expect tile_in_branch lanes_never_arrive
  out[threadIdx.x] = v;
}
__global__ void coalesced(const int* in, int* out, int* n) {
  int t = threadIdx.x;
  if (in[t] & 1) {
    auto g = cg::coalesced_threads();
    int base = 0;
    if (g.thread_rank() == 0) base = atomicAdd(n, g.size());
    base = g.shfl(base, 0);
    out[base + g.thread_rank()] = t;
  }
}
__global__ void aggregated(const int* in, int* out, int* n) {
  int t = threadIdx.x;
  if (in[t] & 2) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, rank = __popc(active & ((1u << t) - 1)), base = 0;
    if (t == leader) base = atomicAdd(n, __popc(active));
    base = __shfl_sync(active, base, leader);
    out[base + rank] = t;
  }
}
__global__ void wrong_leader(const int* in, int* out) {
  int t = threadIdx.x, v = 0;
  unsigned active = __ballot_sync(0xffffffff, t >= 8);
  if (t >= 8) {
    if (t == 8) v = in[t];
    v = __shfl_sync(active, v, 0);  // expect leader_is_not_there shuffle_inactive_lane
    out[t] = v;
  }
}
__global__ void rotate(const int* in, int* out) {
  out[threadIdx.x] = __shfl_sync(0xffffffff, in[threadIdx.x], threadIdx.x + 1);
}
__global__ void partial_warp(const int* in, int* out) {  // of 20 threads
  int v = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);  // expect block_of_twenty shuffle_inactive_lane
  if (threadIdx.x == 0) out[0] = v;
}

// The result takes the place of the mask.
__global__ void narrows(int* out) {
  unsigned lanes = ~0u;
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 100; vote.sync.ballot.b32 %0, p, %0; }" : "+r"(lanes) : "r"((int)threadIdx.x));
  out[threadIdx.x] = lanes;
}

struct Data {
  int *in, *out, *n;
  Data() {
    int host[256];
    for (int k = 0; k < 256; ++k) host[k] = k * 13 % 64;
    cudaMalloc(&in, 1024);
    cudaMalloc(&out, 1024);
    cudaMalloc(&n, 4);
    cudaMemcpy(in, host, 1024, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 1024);
    cudaMemset(n, 0, 4);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(n);
  }
};
CASE(broadcast_from_inactive) { Data d; from_inactive<<<1, 32>>>(d.in, d.out); }
CASE(sum_of_twenty) { Data d; twenty<<<1, 32>>>(d.in, d.out); }
CASE(sum_of_twenty_guarded) { Data d; twenty_guarded<<<1, 32>>>(d.in, d.out); }
CASE(butterfly_of_twenty) { Data d; butterfly_of_twenty<<<1, 32>>>(d.in, d.out); }
CASE(difference_past_the_end) { Data d; shifted<<<1, 32>>>(d.in, d.out); }
CASE(difference_guarded) { Data d; shifted_guarded<<<1, 32>>>(d.in, d.out); }
CASE(sum_stored_by_all) { Data d; half_all_store<<<1, 32>>>(d.in, d.out); }
CASE(sum_of_sixteen) { Data d; half<<<1, 32>>>(d.in, d.out); }
CASE(sum_padded) { Data d; last_block_of_threads<<<1, 64>>>(d.in, d.out, 50); }
CASE(width_of_eight) { Data d; width<<<1, 64>>>(d.in, d.out); }
CASE(scan_up) { Data d; scan<<<1, 64>>>(d.in, d.out); }
CASE(partner_has_left) { Data d; left_early<<<1, 32>>>(d.in, d.out, 21); }
CASE(partner_is_there) { Data d; left_early<<<1, 32>>>(d.in, d.out, 32); }
CASE(vote_in_branch) { Data d; vote_in_branch<<<1, 32>>>(d.in, d.out); }
CASE(match_in_branch) { Data d; match_in_branch<<<1, 32>>>(d.in, d.out); }
CASE(reduce_in_branch) { Data d; reduce_in_branch<<<1, 32>>>(d.in, d.out); }
CASE(two_calls) { Data d; two_calls<<<1, 32>>>(d.in, d.out); }
CASE(tiles) { Data d; tiles<<<1, 32>>>(d.in, d.out); }
CASE(tile_in_branch) { Data d; tile_in_branch<<<1, 32>>>(d.in, d.out); }
CASE(coalesced_group) { Data d; coalesced<<<1, 32>>>(d.in, d.out, d.n); }
CASE(aggregated_atomics) { Data d; aggregated<<<1, 32>>>(d.in, d.out, d.n); }
CASE(leader_is_not_there) { Data d; wrong_leader<<<1, 32>>>(d.in, d.out); }
CASE(rotation) { Data d; rotate<<<1, 32>>>(d.in, d.out); }
CASE(block_of_twenty) { Data d; partial_warp<<<1, 20>>>(d.in, d.out); }
CASE(block_of_sixteen) { Data d; half<<<1, 16>>>(d.in, d.out); }
CASE(result_over_mask) { Data d; narrows<<<1, 32>>>(d.out); }

// Lanes of one value add up together; the first lane is wanted everywhere, and adds up with others.
__global__ void adds_by_value(const int* in, int* out, unsigned wanted) {
  int t = threadIdx.x;
  unsigned equal = __match_any_sync(0xffffffff, in[t] % 5);
  out[t] = __reduce_add_sync(equal | wanted, 1);  // expect first_lane_everywhere masks_differ
}
CASE(first_lane_everywhere) { Data d; adds_by_value<<<1, 32>>>(d.in, d.out, 1); }
CASE(first_lane_with_its_own) { Data d; adds_by_value<<<1, 32>>>(d.in, d.out, 0); }
