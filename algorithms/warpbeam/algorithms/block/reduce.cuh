// The reduction of one value per thread over a block, in thread order.
#pragma once

#include "../config.cuh"
#include "../warp/shuffle.cuh"

namespace warpbeam {

// The result is valid in thread 0. Only the first `count` threads hold values. `shared` has one slot per warp and may be
// reused after the block's next barrier.
template <int kThreads, class T, class Op>
__device__ T block_reduce(T value, Op op, T* shared, int count = kThreads) {
  constexpr int kWarps = kThreads / kWarpSize;
  int warp_first = warp_id() * kWarpSize;
  if (count == kThreads) {
    value = warp_reduce(value, op);
  } else {
    value = warp_reduce(value, op, min(kWarpSize, count - warp_first));
  }
  if constexpr (kWarps > 1) {
    if (lane_id() == 0) shared[warp_id()] = value;
    __syncthreads();
    if (warp_id() == 0) {
      int warps = ceil_div(count, kWarpSize);
      value = warp_reduce(shared[min(lane_id(), warps - 1)], op, warps);
    }
  }
  return value;
}

}  // namespace warpbeam
