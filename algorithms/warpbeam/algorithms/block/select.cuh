// One tile of a stream compaction: rank the kept items, learn how many were kept before this tile, pack the tile in
// shared memory, and write it in full lines.
#pragma once

#include "../block/lookback.cuh"
#include "../config.cuh"

namespace warpbeam {

template <int kThreads, int kItems, int kWindows, bool kKeepRejected, class Offset>
struct BlockSelect {
  static constexpr int kWarps = kThreads / kWarpSize;
  static_assert(kItems <= 32, "a thread's selection is one word");

  struct Shared {
    int warp_totals[kWarps];
    Offset tile_prefix;
  };

  // `item` are contiguous items of the tile, bit i of `mask` says whether item[i] is kept, `valid` is how many items the
  // tile has. `packed` has room for the whole tile; nobody reads it any more once all threads have arrived here.
  template <class T, class Out, class Rejected>
  __device__ static void run(Shared& shared, T* packed, const T (&item)[kItems], unsigned mask, int tile,
                             long long start, int valid, bool last, const TileStates<Offset>& states, Out out,
                             Rejected rejected, long long* kept) {
    int mine = __popc(mask);
    int through = warp_inclusive_scan(mine, [](int a, int b) { return a + b; });
    if (lane_id() == kWarpSize - 1) shared.warp_totals[warp_id()] = through;
    __syncthreads();
    int total = 0, before = through - mine;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
      int count = shared.warp_totals[warp];
      if (warp < warp_id()) before += count;
      total += count;
    }
    // Tell the others first, pack while the answer travels.
    if (threadIdx.x == 0)
      states.publish(tile, tile == 0 ? TileStatus::inclusive : TileStatus::aggregate, static_cast<Offset>(total));
    int first = threadIdx.x * kItems;
    int kept_rank = before, rejected_rank = total + first - before;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (mask >> i & 1) {
        packed[kept_rank++] = item[i];
      } else if (kKeepRejected) {
        if (first + i < valid) packed[rejected_rank] = item[i];
        ++rejected_rank;
      }
    }
    if (warp_id() == 0) {
      Offset prefix = 0;
      if (tile > 0) {
        prefix = look_back<kWindows>(states, tile, [](Offset a, Offset b) { return a + b; });
        if (lane_id() == 0) states.publish(tile, TileStatus::inclusive, prefix + static_cast<Offset>(total));
      }
      if (lane_id() == 0) shared.tile_prefix = prefix;
    }
    __syncthreads();
    long long prefix = static_cast<long long>(shared.tile_prefix);
    for (int i = threadIdx.x; i < total; i += kThreads) out[prefix + i] = packed[i];
    if constexpr (kKeepRejected) {
      for (int i = threadIdx.x; i < valid - total; i += kThreads) rejected[start - prefix + i] = packed[total + i];
    }
    if (last && threadIdx.x == 0) *kept = prefix + total;
  }
};

}  // namespace warpbeam
