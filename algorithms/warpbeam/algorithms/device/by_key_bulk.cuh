// The scan by key for Hopper: a tile's keys and values travel by the copy engine into the ring of the ordinary scan.
// Keys are looked at once, by the first squad, which leaves a bit for each item that starts a segment.
#pragma once

#include "../block/tile_ring.cuh"
#include "scan_bulk.cuh"

namespace warpbeam::detail {

template <class T>
struct Segmented {
  T value;
  int starts;  // whether a segment starts somewhere in the combined range
};

template <class Op>
struct SegmentedOp {
  Op op;
  template <class T>
  __host__ __device__ Segmented<T> operator()(const Segmented<T>& a, const Segmented<T>& b) const {
    if (b.starts) return b;
    return {op(a.value, b.value), a.starts};
  }
};

// Besides the ring of values: a ring of keys, and a word of each thread for every stage.
template <class Tuning, class Key>
struct KeyRing {
  static constexpr size_t kBytes = 2 * Tuning::kShared + sizeof(unsigned) * Tuning::kThreads * Tuning::kStages;
  unsigned char* memory;
  __device__ Key* stage(int index) const {
    return reinterpret_cast<Key*>(memory + Tuning::kShared + index * Tuning::kTileBytes);
  }
  __device__ unsigned* starts(int index) const {
    return reinterpret_cast<unsigned*>(memory + 2 * Tuning::kShared) + index * Tuning::kThreads;
  }
};

#if WB_BULK_COPY

// One thread; as the ring's own, for two inputs.
template <class Ring, class Keys, class Key, class T>
__device__ void load_keyed_tiles(Ring& ring, const Keys& keys, const Key* key_in, const T* in, unsigned* ticket) {
  for (int round = 0;; ++round) {
    const int index = round % Ring::kStages;
    if (round >= Ring::kStages) bulk::wait(&ring.shared.free[index], (round / Ring::kStages - 1) & 1);
    const int tile = static_cast<int>(atomicAdd(ticket, 1));
    ring.shared.tile[index] = tile;
    if (tile >= ring.tiles) {
      bulk::arrive(&ring.shared.full[index]);
      return;
    }
    const long long start = static_cast<long long>(tile) * Ring::kTile;
    const int items = ring.valid(tile);
    const int moved = items / Ring::kVec * Ring::kVec;
    for (int i = moved; i < items; ++i) {
      ring.stage(index)[i] = in[start + i];
      keys.stage(index)[i] = key_in[start + i];
    }
    bulk::expect(&ring.shared.full[index], moved * (sizeof(T) + sizeof(Key)));
    if (moved) {
      bulk::load(keys.stage(index), key_in + start, moved * sizeof(Key), &ring.shared.full[index]);
      bulk::load(ring.stage(index), in + start, moved * sizeof(T), &ring.shared.full[index]);
    }
  }
}

template <int kItems, class T>
__device__ void load_contiguous(const T* stage, int squad_thread, T (&item)[kItems]) {
  constexpr int kVec = kVectorItems<T>;
  const auto* vectors = reinterpret_cast<const Vector<T, kVec>*>(stage) + squad_thread * (kItems / kVec);
#pragma unroll
  for (int i = 0; i < kItems / kVec; ++i) {
    const Vector<T, kVec> vector = vectors[i];
#pragma unroll
    for (int j = 0; j < kVec; ++j) item[i * kVec + j] = vector.item[j];
  }
}

// What item i of an exclusive scan adds: its segment starts with `init`.
template <bool kInclusive, class T, class Op>
__device__ T lifted(T item, bool starts, T init, Op op) {
  return !kInclusive && starts ? op(init, item) : item;
}

template <bool kInclusive, class Ring, class Keys, class Key, class T, class Op, class Equal>
__device__ void keyed_totals_squad(Ring& ring, const Keys& keys, const Key* key_in,
                                   const TileStates<Segmented<T>>& states, T init, Op op, Equal equal) {
  constexpr int kItems = Ring::kItems;
  static_assert(kItems <= 32, "a thread's starts are one word");
  for (int round = 0;; ++round) {
    const int tile = ring.next_tile(round);
    if (tile < 0) return;
    const int stage = round % Ring::kStages;
    const int first = threadIdx.x * kItems;
    Key key[kItems];
    load_contiguous(keys.stage(stage), threadIdx.x, key);
    bool starts = first == 0 && tile == 0;
    if (!starts) {
      const Key before = first > 0 ? keys.stage(stage)[first > 0 ? first - 1 : 0]
                                   : key_in[static_cast<long long>(tile) * Ring::kTile - 1];
      starts = !equal(before, key[0]);
    }
    unsigned mask = starts;
#pragma unroll
    for (int i = 1; i < kItems; ++i) mask |= static_cast<unsigned>(!equal(key[i - 1], key[i])) << i;
    keys.starts(stage)[threadIdx.x] = mask;
    T item[kItems];
    load_contiguous(ring.stage(stage), threadIdx.x, item);
    T sum = lifted<kInclusive>(item[0], mask & 1, init, op);
#pragma unroll
    for (int i = 1; i < kItems; ++i)
      sum = mask >> i & 1 ? lifted<kInclusive>(item[i], true, init, op) : op(sum, item[i]);
    const Segmented<T> total = warp_reduce(Segmented<T>{sum, mask != 0}, SegmentedOp<Op>{op});
    if (lane_id() == 0) ring.shared.warp_totals[stage][warp_id()] = total;
    ring.publish_totals(round, tile, states, SegmentedOp<Op>{op});
  }
}

template <bool kInclusive, class Ring, class Keys, class T, class Op>
__device__ void keyed_items_squad(Ring& ring, const Keys& keys, int squad_thread, T init, Op op) {
  constexpr int kItems = Ring::kItems;
  constexpr int kVec = Ring::kVec;
  const SegmentedOp<Op> segmented{op};
  const int warp = squad_thread / kWarpSize;
  for (int round = 0;; ++round) {
    const int tile = ring.next_tile(round);
    if (tile < 0) return;
    const int stage = round % Ring::kStages;
    T item[kItems];
    load_contiguous(ring.stage(stage), squad_thread, item);
    ring.wait(ring.shared.seen, round);
    const unsigned mask = keys.starts(stage)[squad_thread];
    T sum = lifted<kInclusive>(item[0], mask & 1, init, op);
#pragma unroll
    for (int i = 1; i < kItems; ++i)
      sum = mask >> i & 1 ? lifted<kInclusive>(item[i], true, init, op) : op(sum, item[i]);
    Segmented<T> before = shuffle_up(warp_inclusive_scan(Segmented<T>{sum, mask != 0}, segmented), 1);
    ring.wait(ring.shared.totals, round);
    Segmented<T> outer{};
    bool have = false;
    if (warp > 0) {
      outer = ring.shared.warp_totals[stage][0];
      for (int i = 1; i < warp; ++i) outer = segmented(outer, ring.shared.warp_totals[stage][i]);
      have = true;
    }
    ring.wait(ring.shared.prefixed, round);
    if (tile > 0) {
      outer = have ? segmented(ring.shared.prefix[stage], outer) : ring.shared.prefix[stage];
      have = true;
    }
    if (lane_id() > 0) {
      before = have ? segmented(outer, before) : before;
    } else {
      before = outer;  // nothing, for the very first item, which starts a segment
    }
    T carry = before.value;
    auto* vectors = reinterpret_cast<Vector<T, kVec>*>(ring.stage(stage)) + squad_thread * (kItems / kVec);
#pragma unroll
    for (int i = 0; i < kItems / kVec; ++i) {
      Vector<T, kVec> vector;
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
        const int at = i * kVec + j;
        const bool starts = mask >> at & 1;
        const T through = starts ? lifted<kInclusive>(item[at], true, init, op) : op(carry, item[at]);
        vector.item[j] = kInclusive ? through : starts ? init : carry;
        carry = through;
      }
      vectors[i] = vector;
    }
    bulk::fence_proxy();
    bulk::arrive(&ring.shared.done[stage]);
  }
}

#endif

template <class Tuning, bool kInclusive, class Key, class T, class Op, class Equal>
__global__ void __launch_bounds__(Tuning::kBlockThreads, Tuning::kBlocks)
    scan_by_key_bulk(const Key* key_in, const T* in, T* out, long long count, TileStates<Segmented<T>> states,
                     unsigned* ticket, T init, Op op, Equal equal) {
#if WB_BULK_COPY
  using Ring = TileRing<Tuning, T, Segmented<T>>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ typename Ring::Shared shared;
  Ring ring(shared, memory, count);
  const KeyRing<Tuning, Key> keys{memory};
  ring.init(1);
  cudaGridDependencySynchronize();
  switch (Ring::role()) {
    case RingRole::first:
      keyed_totals_squad<kInclusive>(ring, keys, key_in, states, init, op, equal);
      break;
    case RingRole::second:
      keyed_items_squad<kInclusive>(ring, keys, threadIdx.x - Tuning::kThreads, init, op);
      break;
    case RingRole::load:
      if (lane_id() == 0) load_keyed_tiles(ring, keys, key_in, in, ticket);
      break;
    case RingRole::look_back:
      ring.look_back_loop(states, Segmented<T>{}, false, SegmentedOp<Op>{op}, [](const Segmented<T>&) {});
      break;
    case RingRole::store:
      if (lane_id() == 0) scan_store_loop(ring, out);
      break;
  }
#endif
}

}  // namespace warpbeam::detail
