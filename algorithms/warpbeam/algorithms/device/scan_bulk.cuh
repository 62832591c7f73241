// The scan kernel for Hopper: tiles travel between global and shared memory by the copy engine while squads of the
// block reduce, look back and scan. Memory stays busy during every wait, which an ordinary kernel cannot achieve: its
// registers are both the landing place of the loads and the workplace of the scan.
#pragma once

#include "../block/tile_ring.cuh"

namespace warpbeam::detail {

#if WB_BULK_COPY

template <class Ring, class T, class Op>
__device__ void scan_totals_squad(Ring& ring, const TileStates<T>& states, Op op) {
  for (int round = 0;; ++round) {
    int tile = ring.next_tile(round);
    if (tile < 0) return;
    int stage = round % Ring::kStages;
    const auto* vectors = reinterpret_cast<const Vector<T, Ring::kVec>*>(ring.stage(stage)) +
                          threadIdx.x * (Ring::kItems / Ring::kVec);
    T sum;
#pragma unroll
    for (int i = 0; i < Ring::kItems / Ring::kVec; ++i) {
      Vector<T, Ring::kVec> vector = vectors[i];
#pragma unroll
      for (int j = 0; j < Ring::kVec; ++j) sum = i + j == 0 ? vector.item[0] : op(sum, vector.item[j]);
    }
    sum = warp_reduce(sum, op);
    if (lane_id() == 0) ring.shared.warp_totals[stage][warp_id()] = sum;
    ring.publish_totals(round, tile, states, op);
  }
}

template <bool kInclusive, class Ring, class T, class Op>
__device__ void scan_items_squad(Ring& ring, int squad_thread, Op op) {
  constexpr int kItems = Ring::kItems;
  constexpr int kVec = Ring::kVec;
  const int warp = squad_thread / kWarpSize;
  for (int round = 0;; ++round) {
    int tile = ring.next_tile(round);
    if (tile < 0) return;
    int stage = round % Ring::kStages;
    auto* vectors = reinterpret_cast<Vector<T, kVec>*>(ring.stage(stage)) + squad_thread * (kItems / kVec);
    T item[kItems];
#pragma unroll
    for (int i = 0; i < kItems / kVec; ++i) {
      Vector<T, kVec> vector = vectors[i];
#pragma unroll
      for (int j = 0; j < kVec; ++j) item[i * kVec + j] = vector.item[j];
    }
#pragma unroll
    for (int i = 1; i < kItems; ++i) item[i] = op(item[i - 1], item[i]);
    T before = shuffle_up(warp_inclusive_scan(item[kItems - 1], op), 1);
    bool have = lane_id() > 0;

    ring.wait(ring.shared.totals, round);
    T warps{};
    if (warp > 0) {
      warps = ring.shared.warp_totals[stage][0];
      for (int i = 1; i < warp; ++i) warps = op(warps, ring.shared.warp_totals[stage][i]);
    }
    ring.wait(ring.shared.prefixed, round);
    T outer = ring.shared.prefix[stage];
    bool have_outer = !kInclusive || tile > 0;
    if (warp > 0) {
      outer = have_outer ? op(outer, warps) : warps;
      have_outer = true;
    }
    if (have_outer) {
      before = have ? op(outer, before) : outer;
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
    ring.wait(ring.shared.seen, round);
#pragma unroll
    for (int i = 0; i < kItems / kVec; ++i) {
      Vector<T, kVec> vector;
#pragma unroll
      for (int j = 0; j < kVec; ++j) vector.item[j] = item[i * kVec + j];
      vectors[i] = vector;
    }
    bulk::fence_proxy();
    bulk::arrive(&ring.shared.done[stage]);
  }
}

template <class Ring, class T>
__device__ void scan_store_loop(Ring& ring, T* out) {
  for (int round = 0;; ++round) {
    int tile = ring.next_tile(round);
    if (tile < 0) return;
    int stage = round % Ring::kStages;
    ring.wait(ring.shared.done, round);
    T* to = out + static_cast<long long>(tile) * Ring::kTile;
    int valid = ring.valid(tile);
    int moved = valid / Ring::kVec * Ring::kVec;
    if (moved) bulk::store(to, ring.stage(stage), moved * sizeof(T));
    bulk::commit();
    for (int i = moved; i < valid; ++i) to[i] = ring.stage(stage)[i];
    bulk::wait_read<0>();
    bulk::arrive(&ring.shared.free[stage]);
  }
}

#endif

template <class Tuning, bool kInclusive, class T, class Op>
__global__ void __launch_bounds__(Tuning::kBlockThreads, Tuning::kBlocks)
    scan_bulk(const T* in, T* out, long long count, TileStates<T> states, unsigned* ticket, T init, Op op) {
#if WB_BULK_COPY
  using Ring = TileRing<Tuning, T, T>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ typename Ring::Shared shared;
  Ring ring(shared, memory, count);
  ring.init(1);
  // The states and the ticket are cleared by the kernel before this one.
  cudaGridDependencySynchronize();
  switch (Ring::role()) {
    case RingRole::first:
      scan_totals_squad(ring, states, op);
      break;
    case RingRole::second:
      scan_items_squad<kInclusive, Ring, T>(ring, threadIdx.x - Tuning::kThreads, op);
      break;
    case RingRole::load:
      if (lane_id() == 0) ring.load_loop(in, ticket);
      break;
    case RingRole::look_back:
      ring.look_back_loop(states, init, !kInclusive, op, [](T) {});
      break;
    case RingRole::store:
      if (lane_id() == 0) scan_store_loop(ring, out);
      break;
  }
#endif
}

}  // namespace warpbeam::detail
