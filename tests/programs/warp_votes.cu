// Votes, matches, reductions, active masks, lane masks and partial-warp shuffles, under divergence.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

struct Out {
  unsigned all, any, ballot, odd_ballot, active_even, match_any, match_all, match_pred, unique;
  unsigned add, mn, mx, andv, orv, xorv;
  int smin, smax, sum_even, prefix, leader_sum, half_sum, up_small, down_small;
  unsigned sync_count, sync_and, sync_or;
};

__global__ void k(Out* out) {
  unsigned lane = threadIdx.x & 31, tid = threadIdx.x;
  const unsigned full = 0xffffffffu;
  Out o = {};
  o.all = __all_sync(full, lane < 32);
  o.any = __any_sync(full, lane == 40);
  o.ballot = __ballot_sync(full, lane % 3 == 0);
  if (lane & 1)
    o.odd_ballot = __ballot_sync(0xAAAAAAAAu, lane > 15);
  else
    o.active_even = __activemask();
  __syncwarp();
  o.match_any = __match_any_sync(full, lane / 5);
  int pred = 0;
  o.match_all = __match_all_sync(full, 17, &pred);
  o.match_pred = pred;
  o.match_pred |= (__match_all_sync(full, lane / 31, &pred) == 0 && pred == 0) ? 2 : 0;
  o.unique = __popc(__match_any_sync(full, (unsigned long long)lane << 33));
  o.add = __reduce_add_sync(full, lane);
  o.mn = __reduce_min_sync(full, lane + 5);
  o.mx = __reduce_max_sync(full, lane ^ 3);
  o.andv = __reduce_and_sync(full, lane | 0x40);
  o.orv = __reduce_or_sync(full, 1u << lane);
  o.xorv = __reduce_xor_sync(full, lane);
  o.smin = __reduce_min_sync(full, (int)lane - 16);
  o.smax = __reduce_max_sync(full, -(int)lane);
  if (lane % 2 == 0) {  // a tree over the even lanes only
    int v = lane;
    for (int d = 16; d >= 2; d /= 2) v += __shfl_down_sync(0x55555555u, v, d);
    o.sum_even = __shfl_sync(0x55555555u, v, 0);
  }
  int v = lane + 1;  // inclusive prefix sum
  for (int d = 1; d < 32; d <<= 1) {
    int n = __shfl_up_sync(full, v, d);
    if (lane >= d) v += n;
  }
  o.prefix = v;
  if (lane >= 20) {  // aggregate by the first active lane
    unsigned mask = __activemask();
    int leader = __ffs(mask) - 1, count = __popc(mask);
    o.leader_sum = __shfl_sync(mask, lane == leader ? count * 100 : 0, leader) + __popc(mask & ((1u << lane) - 1));
  }
  int h = lane;
  for (int m = 8; m; m >>= 1) h += __shfl_xor_sync(full, h, m, 16);
  o.half_sum = h;
  o.up_small = __shfl_up_sync(full, (int)lane, 1, 4);
  o.down_small = __shfl_down_sync(full, (int)lane, 3, 8);
  o.sync_count = __syncthreads_count(tid % 3 == 0);
  o.sync_and = __syncthreads_and(tid < 64);
  o.sync_or = __syncthreads_or(tid == 63);
  out[tid] = o;
}

int main() {
  const int n = 64;
  static Out out[n];
  Out* d;
  CHECK(cudaMalloc(&d, sizeof out));
  k<<<1, n>>>(d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int t = 0; t < n; t++) {
    const Out& o = out[t];
    unsigned l = t % 32, match = 0;
    for (unsigned j = 0; j < 32; j++) match |= (j / 5 == l / 5 ? 1u : 0u) << j;
    bool ok = o.all == 1 && o.any == 0 && o.ballot == 0x49249249u && o.match_any == match && o.match_all == ~0u &&
              o.match_pred == 3;
    ok = ok && (l & 1 ? o.odd_ballot == 0xAAAA0000u : o.active_even == 0x55555555u) && o.unique == 1;
    ok = ok && o.add == 496 && o.mn == 5 && o.mx == 31 && o.andv == 0x40 && o.orv == ~0u && o.xorv == 0 &&
         o.smin == -16 && o.smax == 0;
    ok = ok && (l % 2 || o.sum_even == 240) && o.prefix == (int)((l + 1) * (l + 2) / 2);
    ok = ok && (l < 20 || o.leader_sum == 1200 + (int)(l - 20)) && o.half_sum == (l < 16 ? 120 : 376);
    ok = ok && o.up_small == (int)(l % 4 ? l - 1 : l) && o.down_small == (int)(l % 8 < 5 ? l + 3 : l);
    ok = ok && o.sync_count == 22 && o.sync_and && o.sync_or;
    if (!ok) bad++;
  }
  printf("warp_votes: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
