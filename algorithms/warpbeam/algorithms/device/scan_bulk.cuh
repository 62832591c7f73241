// The scan kernel for Hopper: tiles travel between global and shared memory by the copy engine.
//
// A block owns a ring of tiles in shared memory. While its threads work on one, the copy engine fills the next ones and
// drains the last. So memory stays busy while a tile waits for its prefix, which is what an ordinary kernel cannot do:
// its registers are both the landing place of the loads and the workplace of the scan.
#pragma once

#include "../block/lookback.cuh"
#include "../block/scan.cuh"
#include "../thread/bulk.cuh"
#include "../thread/vector.cuh"

namespace warpbeam {

template <int kThreadsV, int kVectorsV, int kStagesV, int kBlocksV, int kWindowsV>
struct ScanTuning {
  static constexpr int kThreads = kThreadsV;
  static constexpr int kVectors = kVectorsV;  // 16-byte vectors per thread; odd, so that shared memory has no conflicts
  static constexpr int kStages = kStagesV;    // tiles in a block's ring
  static constexpr int kBlocks = kBlocksV;    // blocks per multiprocessor
  static constexpr int kWindows = kWindowsV;  // look-back states per lane and round trip
  static constexpr int kTileBytes = kThreads * kVectors * 16;
  static constexpr int kShared = kTileBytes * kStages;
};

namespace detail {

template <class Tuning, bool kInclusive, class T, class Op>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    scan_bulk(const T* in, T* out, long long count, TileStates<T> states, unsigned* ticket, T init, Op op) {
#if WB_BULK_COPY
  constexpr int kThreads = Tuning::kThreads;
  constexpr int kWarps = kThreads / kWarpSize;
  constexpr int kStages = Tuning::kStages;
  constexpr int kVec = kVectorItems<T>;
  constexpr int kItems = Tuning::kVectors * kVec;
  constexpr int kTile = kThreads * kItems;
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ __align__(8) uint64_t full[kStages];
  __shared__ int tile_in[kStages];
  __shared__ T warp_totals[kWarps];
  __shared__ T tile_prefix;

  const int tiles = static_cast<int>(ceil_div(count, static_cast<long long>(kTile)));
  const bool leader = threadIdx.x == 0;
  auto stage_of = [&](int stage) { return reinterpret_cast<T*>(ring + stage * Tuning::kTileBytes); };
  auto items_of = [&](int tile) {
    long long left = count - static_cast<long long>(tile) * kTile;
    return left < kTile ? static_cast<int>(left) : kTile;
  };
  auto fetch = [&](int stage, int tile) {
    tile_in[stage] = tile;
    if (tile >= tiles) return;
    uint32_t bytes = items_of(tile) / kVec * 16;
    bulk::expect(&full[stage], bytes);
    if (bytes) bulk::load(stage_of(stage), in + static_cast<long long>(tile) * kTile, bytes, &full[stage]);
  };

  if (leader) {
    for (int i = 0; i < kStages; ++i) bulk::init(&full[i], 1);
    bulk::fence_init();
    cudaGridDependencySynchronize();
    for (int i = 0; i < kStages; ++i) fetch(i, atomicAdd(ticket, 1));
  }
  __syncthreads();
  // Every thread reads states and writes results, so every thread has to be behind the clearing kernel.
  cudaGridDependencySynchronize();

  for (int round = 0;; ++round) {
    const int stage = round % kStages;
    const int tile = tile_in[stage];
    if (tile >= tiles) break;
    int next = 0;
    if (leader && round > 0) next = atomicAdd(ticket, 1);
    T* data = stage_of(stage);
    const int valid = items_of(tile);
    bulk::wait(&full[stage], (round / kStages) & 1);
    if (valid != kTile) {
      // The copy engine moves whole 16 bytes; the last few items are fetched by hand. What lies behind the end of the
      // input is scanned too, but nothing in front of it depends on it.
      int moved = valid / kVec * kVec;
      if (moved + static_cast<int>(threadIdx.x) < valid)
        data[moved + threadIdx.x] = in[static_cast<long long>(tile) * kTile + moved + threadIdx.x];
      __syncthreads();
    }

    T item[kItems];
    auto* vectors = reinterpret_cast<Vector<T, kVec>*>(data) + threadIdx.x * Tuning::kVectors;
#pragma unroll
    for (int i = 0; i < Tuning::kVectors; ++i) *reinterpret_cast<Vector<T, kVec>*>(&item[i * kVec]) = vectors[i];
#pragma unroll
    for (int i = 1; i < kItems; ++i) item[i] = op(item[i - 1], item[i]);

    ThreadPrefix<T> place = scan_in_warp(item[kItems - 1], op, warp_totals);
    __syncthreads();
    if (warp_id() == 0) {
      T total = fold_warps(warp_totals, kWarps, op);
      if (tile == 0) {
        if (!kInclusive) total = op(init, total);
        if (leader) {
          states.publish(0, TileStatus::inclusive, total);
          tile_prefix = init;
        }
      } else {
        if (leader) states.publish(tile, TileStatus::aggregate, total);
        T prefix = look_back<Tuning::kWindows>(states, tile, op);
        if (leader) {
          states.publish(tile, TileStatus::inclusive, op(prefix, total));
          tile_prefix = prefix;
        }
      }
    }
    T before = place.before;
    bool have = lane_id() > 0;
    if (warp_id() > 0) {
      T warps = fold_warps(warp_totals, warp_id(), op);
      before = have ? op(warps, before) : warps;
      have = true;
    }
    __syncthreads();
    if (!kInclusive || tile > 0) {
      before = have ? op(tile_prefix, before) : tile_prefix;
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
    for (int i = 0; i < Tuning::kVectors; ++i) vectors[i] = *reinterpret_cast<Vector<T, kVec>*>(&item[i * kVec]);
    bulk::fence_proxy();
    __syncthreads();
    T* to = out + static_cast<long long>(tile) * kTile;
    if (valid != kTile) {
      int moved = valid / kVec * kVec;
      if (moved + static_cast<int>(threadIdx.x) < valid) to[moved + threadIdx.x] = data[moved + threadIdx.x];
    }
    if (leader) {
      uint32_t bytes = valid / kVec * 16;
      if (bytes) bulk::store(to, data, bytes);
      bulk::commit();
      if (round > 0) {
        // The previous tile has left its stage, which now takes the tile furthest ahead.
        bulk::wait_read<1>();
        fetch((round - 1) % kStages, next);
      }
    }
  }
  if (leader) bulk::wait_read<0>();
#endif
}

}  // namespace detail
}  // namespace warpbeam
