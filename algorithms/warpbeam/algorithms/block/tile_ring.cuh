// A ring of tiles in shared memory that several squads of one block work on at once (Hopper only).
//
//   loader    takes a ticket, lets the copy engine fill the next free stage
//   first squad    looks at every arrived tile and publishes its aggregate
//   look-back warp combines the aggregates between this block's previous tile and this one
//   second squad   finishes the tile once its prefix is known, and frees the stage
//
// Aggregates are published as soon as a tile has arrived, never behind another tile's wait, so a prefix is one round
// trip away: the block knows the prefix of its own previous tile and only adds what lies between.
#pragma once

#include "../config.cuh"
#include "../thread/bulk.cuh"
#include "../thread/vector.cuh"
#include "lookback.cuh"

namespace warpbeam {

// kThreads is the size of each squad, kVectors the 16-byte vectors per squad thread: odd, so that threads reading their
// contiguous items do not meet in shared-memory banks.
template <int kThreadsV, int kVectorsV, int kStagesV, int kBlocksV = 1>
struct RingTuning {
  static constexpr int kThreads = kThreadsV;
  static constexpr int kVectors = kVectorsV;
  static constexpr int kStages = kStagesV;
  static constexpr int kBlocks = kBlocksV;  // blocks per multiprocessor
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kTileBytes = kThreads * kVectors * 16;
  static constexpr int kShared = kTileBytes * kStages;
  // Two squads, and one warp each for loading, look-back and storing.
  static constexpr int kBlockThreads = 2 * kThreads + 3 * kWarpSize;
};

#if WB_BULK_COPY

enum class RingRole { first, second, load, look_back, store };

template <class Tuning, class T, class Total>
struct TileRing {
  static constexpr int kStages = Tuning::kStages;
  static constexpr int kVec = kVectorItems<T>;
  static constexpr int kItems = Tuning::kVectors * kVec;
  static constexpr int kTile = Tuning::kThreads * kItems;

  struct Shared {
    uint64_t full[kStages];      // the tile has arrived
    uint64_t totals[kStages];    // the first squad has left its totals
    uint64_t seen[kStages];      // every thread of the first squad has read its items
    uint64_t prefixed[kStages];  // the tile's prefix is known
    uint64_t done[kStages];      // the second squad has finished
    uint64_t free[kStages];      // the stage may be filled again
    int tile[kStages];
    Total warp_totals[kStages][Tuning::kWarps];
    Total prefix[kStages];
  };

  Shared& shared;
  unsigned char* memory;
  long long count;
  int tiles;

  __device__ TileRing(Shared& shared_in, unsigned char* memory_in, long long count_in)
      : shared(shared_in), memory(memory_in), count(count_in) {
    tiles = static_cast<int>(ceil_div(count, static_cast<long long>(kTile)));
  }

  // Called by all threads before the roles part. `frees` says how many arrivals free a stage. Where threads hand over what
  // they wrote or read themselves, each arrives for itself.
  __device__ void init(int frees) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < kStages; ++i) {
        bulk::init(&shared.full[i], 1);
        bulk::init(&shared.totals[i], 1);
        bulk::init(&shared.seen[i], Tuning::kThreads);
        bulk::init(&shared.prefixed[i], 1);
        bulk::init(&shared.done[i], Tuning::kThreads);
        bulk::init(&shared.free[i], frees);
      }
      bulk::fence_init();
    }
    __syncthreads();
  }

  __device__ static RingRole role() {
    int warp = warp_id() - 2 * Tuning::kWarps;
    if (warp < 0) return warp_id() < Tuning::kWarps ? RingRole::first : RingRole::second;
    return warp == 0 ? RingRole::load : warp == 1 ? RingRole::look_back : RingRole::store;
  }

  __device__ T* stage(int index) const { return reinterpret_cast<T*>(memory + index * Tuning::kTileBytes); }
  __device__ int valid(int tile) const {
    long long left = count - static_cast<long long>(tile) * kTile;
    return left < kTile ? static_cast<int>(left) : kTile;
  }

  // Waits for the next tile of this block; -1 when there is none.
  __device__ int next_tile(int round) const {
    int index = round % kStages;
    bulk::wait(&shared.full[index], (round / kStages) & 1);
    int tile = shared.tile[index];
    return tile < tiles ? tile : -1;
  }
  __device__ void wait(uint64_t (&barriers)[kStages], int round) const {
    bulk::wait(&barriers[round % kStages], (round / kStages) & 1);
  }

  // One thread. The copy engine moves whole 16 bytes; the last items of the input are moved by hand.
  __device__ void load_loop(const T* in, unsigned* ticket) {
    for (int round = 0;; ++round) {
      int index = round % kStages;
      if (round >= kStages) bulk::wait(&shared.free[index], (round / kStages - 1) & 1);
      // Not before the stage is free: a tile that is taken but not loaded would hold up everybody behind it.
      int tile = static_cast<int>(atomicAdd(ticket, 1));
      shared.tile[index] = tile;
      if (tile >= tiles) {
        bulk::arrive(&shared.full[index]);
        return;
      }
      const T* from = in + static_cast<long long>(tile) * kTile;
      int items = valid(tile);
      int moved = items / kVec * kVec;
      for (int i = moved; i < items; ++i) stage(index)[i] = from[i];
      bulk::expect(&shared.full[index], moved * sizeof(T));
      if (moved) bulk::load(stage(index), from, moved * sizeof(T), &shared.full[index]);
    }
  }

  // The first squad, after lane 0 of each warp has written shared.warp_totals: publishes the tile's aggregate, then tells
  // the other roles. From here on the squad does not look at the tile any more.
  template <class Op>
  __device__ void publish_totals(int round, int tile, const TileStates<Total>& states, Op op) {
    int index = round % kStages;
    bulk::arrive(&shared.seen[index]);
    bulk::squad_sync<Tuning::kThreads>(1);
    if (threadIdx.x == 0) {
      Total total = shared.warp_totals[index][0];
#pragma unroll
      for (int warp = 1; warp < Tuning::kWarps; ++warp) total = op(total, shared.warp_totals[index][warp]);
      states.publish(tile, TileStatus::aggregate, total);
      bulk::arrive(&shared.totals[index]);
    }
  }

  // One warp. `carry` is what precedes the whole input and may be absent; `finish` sees the total after the last tile.
  template <class Op, class Finish>
  __device__ void look_back_loop(const TileStates<Total>& states, Total carry, bool have, Op op, Finish finish) {
    int previous = -1;  // `carry` combines all tiles through this one
    for (int round = 0;; ++round) {
      int tile = next_tile(round);
      if (tile < 0) return;
      int index = round % kStages;
      // Read before the prefix is announced: after that the stage may already be on its way to the next tile.
      wait(shared.totals, round);
      Total own = shared.warp_totals[index][0];
#pragma unroll
      for (int warp = 1; warp < Tuning::kWarps; ++warp) own = op(own, shared.warp_totals[index][warp]);
      for (int first = previous + 1; first < tile; first += kGather * kWarpSize) {
        // All states are requested before the first is looked at.
        TileState<Total> state[kGather];
#pragma unroll
        for (int i = 0; i < kGather; ++i) {
          int from = first + i * kWarpSize + lane_id();
          state[i].status = TileStatus::empty;
          if (from < tile) state[i] = states.read(from);
        }
#pragma unroll
        for (int i = 0; i < kGather; ++i) {
          int from = first + i * kWarpSize + lane_id();
          int members = min(kWarpSize, tile - first - i * kWarpSize);
          if (members <= 0) break;
          while (from < tile && state[i].status == TileStatus::empty) state[i] = states.read(from);
          __syncwarp();
          Total part = warp_reduce(state[i].value, op, members);
          carry = have ? op(carry, part) : part;  // right in lane 0
          have = true;
        }
      }
      if (lane_id() == 0) {
        shared.prefix[index] = carry;
        bulk::arrive(&shared.prefixed[index]);
        carry = have ? op(carry, own) : own;
        if (tile == tiles - 1) finish(carry);
      }
      have = true;
      previous = tile;
    }
  }

 private:
  static constexpr int kGather = 5;  // 160 states: about one round of all blocks
};

#endif

}  // namespace warpbeam
