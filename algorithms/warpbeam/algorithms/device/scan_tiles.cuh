// The portable scan kernels: any iterators, any type, one tile per block.
#pragma once

#include "../block/lookback.cuh"
#include "../block/scan.cuh"
#include "../config.cuh"

namespace warpbeam {

template <class T>
struct TileScanTuning {
  static constexpr int kThreads = 128;
  // About 64 bytes of items per thread; odd, so that a thread's neighbours fall into other banks.
  static constexpr int kItems = sizeof(T) <= 4 ? 15 : sizeof(T) <= 8 ? 9 : sizeof(T) <= 16 ? 5 : 1;
  static constexpr int kTile = kThreads * kItems;
};

namespace detail {

// Where a tile's prefix comes from: look-back, or an array computed beforehand (the reproducible form).
template <class T>
struct GivenPrefixes {
  const T* exclusive;
};

template <class T, int kCount>
struct SharedArray {
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes[sizeof(T) * kCount];
  __device__ T* data() { return reinterpret_cast<T*>(bytes); }
};

template <class T, bool kInclusive, class In, class Out, class Prefixes, class Op>
__global__ void __launch_bounds__(TileScanTuning<T>::kThreads)
    scan_tiles(In in, Out out, long long count, Prefixes prefixes, unsigned* ticket, T init, Op op) {
  using Tuning = TileScanTuning<T>;
  constexpr int kThreads = Tuning::kThreads;
  constexpr int kItems = Tuning::kItems;
  constexpr int kWarps = kThreads / kWarpSize;
  constexpr bool kLookBack = std::is_same_v<Prefixes, TileStates<T>>;
  __shared__ SharedArray<T, Tuning::kTile> items_memory;
  __shared__ SharedArray<T, kWarps + 1> totals_memory;
  __shared__ int tile_shared;
  T* items = items_memory.data();
  T* warp_totals = totals_memory.data();
  T* tile_prefix = warp_totals + kWarps;

#if WB_BULK_COPY
  cudaGridDependencySynchronize();
#endif
  if (threadIdx.x == 0) tile_shared = kLookBack ? atomicAdd(ticket, 1) : blockIdx.x;
  __syncthreads();
  const int tile = tile_shared;
  const long long start = static_cast<long long>(tile) * Tuning::kTile;
  const int valid = count - start < Tuning::kTile ? static_cast<int>(count - start) : Tuning::kTile;

  // Neighbouring threads load neighbouring items; shared memory turns that into contiguous items per thread.
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    int index = i * kThreads + threadIdx.x;
    // Behind the end any valid value will do, since nothing in front of it depends on it.
    items[index] = in[start + min(index, valid - 1)];
  }
  __syncthreads();
  T item[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) item[i] = items[threadIdx.x * kItems + i];
#pragma unroll
  for (int i = 1; i < kItems; ++i) item[i] = op(item[i - 1], item[i]);

  ThreadPrefix<T> place = scan_in_warp(item[kItems - 1], op, warp_totals);
  __syncthreads();
  if constexpr (kLookBack) {
    if (warp_id() == 0) {
      T total = fold_warps(warp_totals, kWarps, op);
      if (tile == 0) {
        if (!kInclusive) total = op(init, total);
        if (lane_id() == 0) {
          prefixes.publish(0, TileStatus::inclusive, total);
          *tile_prefix = init;
        }
      } else {
        if (lane_id() == 0) prefixes.publish(tile, TileStatus::aggregate, total);
        T prefix = look_back<1>(prefixes, tile, op);
        if (lane_id() == 0) {
          prefixes.publish(tile, TileStatus::inclusive, op(prefix, total));
          *tile_prefix = prefix;
        }
      }
    }
  } else if (threadIdx.x == 0) {
    *tile_prefix = prefixes.exclusive[tile];
  }
  __syncthreads();

  bool have = !kInclusive || tile > 0;
  T before = *tile_prefix;
  if (warp_id() > 0) {
    T warps = fold_warps(warp_totals, warp_id(), op);
    before = have ? op(before, warps) : warps;
    have = true;
  }
  if (lane_id() > 0) {
    before = have ? op(before, place.before) : place.before;
    have = true;
  }
  if (have) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) item[i] = op(before, item[i]);
  }
  if constexpr (!kInclusive) {
#pragma unroll
    for (int i = kItems - 1; i > 0; --i) item[i] = item[i - 1];
    item[0] = before;
  }
#pragma unroll
  for (int i = 0; i < kItems; ++i) items[threadIdx.x * kItems + i] = item[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    int index = i * kThreads + threadIdx.x;
    if (index < valid) out[start + index] = items[index];
  }
}

// The reproducible form's first step: one total per tile, combined in a fixed order.
template <class T, class In, class Op>
__global__ void __launch_bounds__(TileScanTuning<T>::kThreads) tile_totals(In in, T* totals, Op op) {
  using Tuning = TileScanTuning<T>;
  constexpr int kWarps = Tuning::kThreads / kWarpSize;
  __shared__ SharedArray<T, Tuning::kTile> items_memory;
  __shared__ SharedArray<T, kWarps> totals_memory;
  T* items = items_memory.data();
  const long long start = static_cast<long long>(blockIdx.x) * Tuning::kTile;
#pragma unroll
  for (int i = 0; i < Tuning::kItems; ++i) {
    int index = i * Tuning::kThreads + threadIdx.x;
    items[index] = in[start + index];
  }
  __syncthreads();
  T sum = items[threadIdx.x * Tuning::kItems];
  for (int i = 1; i < Tuning::kItems; ++i) sum = op(sum, items[threadIdx.x * Tuning::kItems + i]);
  scan_in_warp(sum, op, totals_memory.data());
  __syncthreads();
  if (threadIdx.x == 0) totals[blockIdx.x] = fold_warps(totals_memory.data(), kWarps, op);
}

// The second step: one warp turns totals into exclusive prefixes. With has_init, prefix[0] is init; without, it is
// nothing, and the first tile does not look at it.
template <class T, class Op>
__global__ void scan_totals(const T* totals, T* prefixes, long long tiles, bool has_init, T init, Op op) {
  T carry = init;
  bool have = has_init;
  for (long long base = 0; base < tiles; base += kWarpSize) {
    long long index = base + lane_id();
    // The last tile's total may not exist; it is not needed either.
    T value = tiles > 1 ? totals[min(index, tiles - 2)] : init;
    T through = warp_inclusive_scan(value, op);
    T before = shuffle_up(through, 1);
    if (lane_id() == 0) {
      before = carry;
    } else if (have) {
      before = op(carry, before);
    }
    if (index < tiles) prefixes[index] = before;
    T last = shuffle_from(through, kWarpSize - 1);
    carry = have ? op(carry, last) : last;
    have = true;
  }
}

}  // namespace detail
}  // namespace warpbeam
