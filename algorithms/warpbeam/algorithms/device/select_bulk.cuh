// The compaction kernel for Hopper: the first squad decides what stays and counts it, the second packs the tile and
// writes it where the look-back says.
#pragma once

#include "../block/tile_ring.cuh"

namespace warpbeam::detail {

template <class T, int kItems, class Keep, class Before>
__device__ unsigned long long selection(const T (&item)[kItems], int first, int valid, bool tile_has_previous,
                                        Keep keep, Before before) {
  static_assert(kItems <= 64, "a thread's selection is one word");
  unsigned long long mask = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    auto previous = [&]() -> T { return i > 0 ? item[i > 0 ? i - 1 : 0] : before(); };
    if (first + i < valid && keep(item[i], tile_has_previous || first + i > 0, previous)) mask |= 1ull << i;
  }
  return mask;
}

// What the first squad leaves for the second: which items a thread keeps, and how many its warp kept before it.
template <class Tuning>
struct Choice {
  unsigned long long mask[Tuning::kThreads];
  int before[Tuning::kThreads];
};

#if WB_BULK_COPY

template <class Ring, class T>
__device__ void load_items(const Ring& ring, int stage, int squad_thread, T (&item)[Ring::kItems]) {
  const auto* vectors = reinterpret_cast<const Vector<T, Ring::kVec>*>(ring.stage(stage)) +
                        squad_thread * (Ring::kItems / Ring::kVec);
#pragma unroll
  for (int i = 0; i < Ring::kItems / Ring::kVec; ++i) {
    Vector<T, Ring::kVec> vector = vectors[i];
#pragma unroll
    for (int j = 0; j < Ring::kVec; ++j) item[i * Ring::kVec + j] = vector.item[j];
  }
}

template <class Tuning, class Ring, class T, class Offset, class Keep>
__device__ void choose_squad(Ring& ring, Choice<Tuning>* choices, const T* in, const TileStates<Offset>& states,
                             Keep keep) {
  for (int round = 0;; ++round) {
    int tile = ring.next_tile(round);
    if (tile < 0) return;
    int stage = round % Ring::kStages;
    T item[Ring::kItems];
    load_items(ring, stage, threadIdx.x, item);
    int first = threadIdx.x * Ring::kItems;
    long long start = static_cast<long long>(tile) * Ring::kTile;
    unsigned long long mask = selection(item, first, ring.valid(tile), tile > 0, keep, [&] {
      return first > 0 ? ring.stage(stage)[first > 0 ? first - 1 : 0] : in[start - 1];
    });
    int mine = __popcll(mask);
    int through = warp_inclusive_scan(mine, [](int a, int b) { return a + b; });
    choices[stage].mask[threadIdx.x] = mask;
    choices[stage].before[threadIdx.x] = through - mine;
    if (lane_id() == kWarpSize - 1) ring.shared.warp_totals[stage][warp_id()] = through;
    ring.publish_totals(round, tile, states, [](Offset a, Offset b) { return a + b; });
  }
}

template <class Tuning, bool kKeepRejected, class Ring, class T, class Out, class Rejected>
__device__ void pack_squad(Ring& ring, const Choice<Tuning>* choices, int squad_thread, Out out, Rejected rejected) {
  constexpr int kThreads = Tuning::kThreads;
  const int warp = squad_thread / kWarpSize;
  for (int round = 0;; ++round) {
    int tile = ring.next_tile(round);
    if (tile < 0) return;
    int stage = round % Ring::kStages;
    int valid = ring.valid(tile);
    T item[Ring::kItems];
    load_items(ring, stage, squad_thread, item);
    ring.wait(ring.shared.seen, round);
    ring.wait(ring.shared.totals, round);
    unsigned long long mask = choices[stage].mask[squad_thread];
    int kept_rank = choices[stage].before[squad_thread];
    int total = 0;
#pragma unroll
    for (int i = 0; i < Tuning::kWarps; ++i) {
      int count = static_cast<int>(ring.shared.warp_totals[stage][i]);
      if (i < warp) kept_rank += count;
      total += count;
    }
    // All items are in registers, and the first squad has seen them, before the first is written back, packed.
    bulk::squad_sync<kThreads>(2);
    T* packed = ring.stage(stage);
    int first = squad_thread * Ring::kItems;
    int rejected_rank = total + first - kept_rank;
#pragma unroll
    for (int i = 0; i < Ring::kItems; ++i) {
      if (mask >> i & 1) {
        packed[kept_rank++] = item[i];
      } else if (kKeepRejected) {
        if (first + i < valid) packed[rejected_rank] = item[i];
        ++rejected_rank;
      }
    }
    bulk::squad_sync<kThreads>(2);
    ring.wait(ring.shared.prefixed, round);
    long long prefix = static_cast<long long>(ring.shared.prefix[stage]);
#pragma unroll 4
    for (int i = squad_thread; i < total; i += kThreads) out[prefix + i] = packed[i];
    if constexpr (kKeepRejected) {
      long long base = static_cast<long long>(tile) * Ring::kTile - prefix;
      for (int i = squad_thread; i < valid - total; i += kThreads) rejected[base + i] = packed[total + i];
    }
    bulk::fence_proxy();
    bulk::arrive(&ring.shared.free[stage]);
  }
}

#endif

template <class Tuning, bool kKeepRejected, class Offset, class T, class Out, class Rejected, class Keep>
__global__ void __launch_bounds__(Tuning::kBlockThreads, Tuning::kBlocks)
    select_bulk(const T* in, long long count, Out out, Rejected rejected, long long* kept, TileStates<Offset> states,
                unsigned* ticket, Keep keep) {
#if WB_BULK_COPY
  using Ring = TileRing<Tuning, T, Offset>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ typename Ring::Shared shared;
  auto* choices = reinterpret_cast<Choice<Tuning>*>(memory + Tuning::kShared);
  Ring ring(shared, memory, count);
  ring.init(Tuning::kThreads);
  cudaGridDependencySynchronize();
  switch (Ring::role()) {
    case RingRole::first:
      choose_squad<Tuning>(ring, choices, in, states, keep);
      break;
    case RingRole::second:
      pack_squad<Tuning, kKeepRejected, Ring, T>(ring, choices, threadIdx.x - Tuning::kThreads, out, rejected);
      break;
    case RingRole::load:
      if (lane_id() == 0) ring.load_loop(in, ticket);
      break;
    case RingRole::look_back:
      ring.look_back_loop(states, Offset{0}, true, [](Offset a, Offset b) { return a + b; },
                          [=](Offset total) { *kept = static_cast<long long>(total); });
      break;
    case RingRole::store:
      break;
  }
#endif
}

}  // namespace warpbeam::detail
