// The scan inside one tile, split where the tile has to wait for the tiles before it.
#pragma once

#include "../config.cuh"
#include "../warp/shuffle.cuh"

namespace warpbeam {

// What a thread knows about its place in the tile after the first half of the scan.
template <class T>
struct ThreadPrefix {
  T before;         // combination of the earlier threads of this warp; nothing in lane 0
  T through;        // combination of the warp's threads up to and including this one
};

// First half: each thread gives the combination of its own items. Leaves one total per warp in `warp_totals`; the caller
// synchronises the block before it reads them.
template <class T, class Op>
__device__ ThreadPrefix<T> scan_in_warp(const T& thread_total, Op op, T* warp_totals) {
  ThreadPrefix<T> place;
  place.through = warp_inclusive_scan(thread_total, op);
  place.before = shuffle_up(place.through, 1);
  if (lane_id() == kWarpSize - 1) warp_totals[warp_id()] = place.through;
  return place;
}

// Combination of the first `count` warps, count > 0.
template <class T, class Op>
__device__ T fold_warps(const T* warp_totals, int count, Op op) {
  T sum = warp_totals[0];
  for (int warp = 1; warp < count; ++warp) sum = op(sum, warp_totals[warp]);
  return sum;
}

}  // namespace warpbeam
