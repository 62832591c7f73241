// The kernels that merge and sort tiles in shared memory.
#pragma once

#include "../block/merge.cuh"
#include "../config.cuh"
#include "../thread/bulk.cuh"
#include "../thread/vector.cuh"
#include "merge_runs.cuh"

namespace warpbeam::detail {

template <class Tuning, class Key, class Value>
struct MergeShared {
  static constexpr bool kPairs = !std::is_same_v<Value, NoValue>;
  // The copy engine moves whole 16 bytes, so each run of a tile may bring a little more than asked for at both ends.
  static constexpr bool kBulk = !kPairs && 16 % sizeof(Key) == 0 && Tuning::kTile * sizeof(Key) % 16 == 0;
  static constexpr int kVec = kBulk ? static_cast<int>(16 / sizeof(Key)) : 1;
  static constexpr size_t kKeys = Tuning::kTile + (kBulk ? 4 * 2 * kVec : 0);
  static constexpr size_t kValueBytes = kPairs ? sizeof(Value) * Tuning::kTile : 0;
  static constexpr size_t kBytes = kKeys * sizeof(Key) > kValueBytes ? kKeys * sizeof(Key) : kValueBytes;
};

// Writes a tile's keys, and its values by the places they came from, through shared memory. kBulk: the copy engine
// takes whole tiles of keys away.
template <class Tuning, bool kBulk, int kThreads, class Key, class Value, class ValueAt>
__device__ void write_merged(unsigned char* memory, const Key (&item)[Tuning::kItems],
                             const int (&from)[Tuning::kItems], long long start, int valid, Key* keys_out,
                             Value* values_out, ValueAt value_at) {
  constexpr int kItems = Tuning::kItems;
  Key* keys = reinterpret_cast<Key*>(memory);
  const int first = static_cast<int>(threadIdx.x) * kItems;
  const bool mine = kThreads == Tuning::kTileThreads || threadIdx.x < Tuning::kTileThreads;
  __syncthreads();
  if (mine) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) keys[first + i] = item[i];
  }
#if WB_BULK_STORE
  if constexpr (kBulk) {
    if (valid == Tuning::kTile && is_aligned(keys_out, 16)) {
      bulk::fence_proxy();
      __syncthreads();
      if (threadIdx.x == 0) {
        bulk::store(keys_out + start, keys, Tuning::kTile * sizeof(Key));
        bulk::commit();
        bulk::wait_read<0>();
      }
      return;
    }
  }
#endif
  __syncthreads();
  for (int index = threadIdx.x; index < valid; index += kThreads) keys_out[start + index] = keys[index];
  if constexpr (!std::is_same_v<Value, NoValue>) {
    Value* values = reinterpret_cast<Value*>(memory);
    __syncthreads();
    for (int index = threadIdx.x; index < valid; index += kThreads) values[index] = value_at(index);
    __syncthreads();
    Value moved[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i)
      if (first + i < valid) moved[i] = values[from[i]];
    __syncthreads();
    if (mine) {
#pragma unroll
      for (int i = 0; i < kItems; ++i) values[first + i] = moved[i];
    }
    __syncthreads();
    for (int index = threadIdx.x; index < valid; index += kThreads) values_out[start + index] = values[index];
  }
}

// The part of a run that goes into one tile.
struct RunPart {
  long long first;
  int items;
  int at;  // in shared memory
};

// Brings the parts into shared memory and waits for them; says where each lies. kBulk: by the copy engine, if every run
// starts on 16 bytes.
template <int kThreads, bool kBulk, class Key, class Runs>
__device__ void load_parts(Key* keys, const Runs& runs, long long group, RunPart (&part)[Runs::kRuns]) {
  constexpr int kRuns = Runs::kRuns;
#if WB_BULK_COPY
  if constexpr (kBulk) {
    bool aligned = true;
#pragma unroll
    for (int r = 0; r < kRuns; ++r) aligned = aligned && is_aligned(runs.keys(group, r), 16);
    if (aligned) {
      constexpr int kVec = 16 / static_cast<int>(sizeof(Key));
      __shared__ __align__(8) uint64_t arrived;
      if (threadIdx.x == 0) {
        bulk::init(&arrived, 1);
        bulk::fence_init();
      }
      __syncthreads();
      int end = 0;
      unsigned bytes = 0;
#pragma unroll
      for (int r = 0; r < kRuns; ++r) {
        if (part[r].items == 0) {
          part[r].at = end;
          continue;
        }
        const int phase = static_cast<int>(part[r].first % kVec);
        const int whole = static_cast<int>(ceil_div(phase + part[r].items, kVec)) * kVec;
        // The array may end inside the last 16 bytes; what is there is then read item by item.
        const long long room = runs.readable(group, r) - (part[r].first - phase);
        const int moved = whole <= room ? whole : static_cast<int>(room) / kVec * kVec;
        part[r].at = end + phase;
        if (threadIdx.x == 0 && moved) {
          bytes += moved * sizeof(Key);
          bulk::load(keys + end, runs.keys(group, r) + part[r].first - phase, moved * sizeof(Key), &arrived);
        }
        const int left = phase + part[r].items - moved;
        if (static_cast<int>(threadIdx.x) < left)
          keys[end + moved + threadIdx.x] = runs.keys(group, r)[part[r].first - phase + moved + threadIdx.x];
        end += whole;
      }
      if (threadIdx.x == 0) bulk::expect(&arrived, bytes);
      bulk::wait(&arrived, 0);
      __syncthreads();
      return;
    }
  }
#endif
  int end = 0;
#pragma unroll
  for (int r = 0; r < kRuns; ++r) {
    const Key* from = runs.keys(group, r) + part[r].first;
    part[r].at = end;
#pragma unroll 4
    for (int i = threadIdx.x; i < part[r].items; i += kThreads) keys[end + i] = from[i];
    end += part[r].items;
  }
  __syncthreads();
}

// `cuts` is not used where blocks find their own.
template <class Tuning, class Runs, class Compare>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    merge_runs(Runs runs, typename Runs::Key* keys_out, typename Runs::Value* values_out, const long long* cuts,
               Compare less) {
  using Key = typename Runs::Key;
  using Value = typename Runs::Value;
  using Shared = MergeShared<Tuning, Key, Value>;
  constexpr int kRuns = Runs::kRuns;
  constexpr int kThreads = Tuning::kThreads;
  constexpr int kItems = Tuning::kItems;
  constexpr bool kPairs = Shared::kPairs;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ unsigned short places[kPairs && kRuns > 2 ? Tuning::kTile : 1];
  Key* keys = reinterpret_cast<Key*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const long long start = static_cast<long long>(blockIdx.x) * Tuning::kTile;
  const long long group = runs.group(start);
  const long long group_end = runs.group_end(group);
  const bool last = group_end - start <= Tuning::kTile;
  const int valid = last ? static_cast<int>(group_end - start) : Tuning::kTile;
#if WB_BULK_COPY
  cudaGridDependencySynchronize();
#endif
  RunPart part[kRuns];
  if constexpr (Tuning::kBy == MergeBy::own_cuts) {
    __shared__ int found[2][kRuns];
    if (warp_id() < 2) {
      int cut[kRuns];
      cut_in_warp(runs, group, start + warp_id() * valid, cut, less);
#pragma unroll
      for (int r = 0; r < kRuns; ++r)
        if (lane_id() == 0) found[warp_id()][r] = cut[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      part[r].first = found[0][r];
      part[r].items = found[1][r] - found[0][r];
    }
  } else {
    cuts += static_cast<long long>(blockIdx.x) * kRuns;
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      part[r].first = cuts[r];
      part[r].items = static_cast<int>((last ? runs.length(group, r) : cuts[kRuns + r]) - cuts[r]);
    }
  }
  load_parts<kThreads, Shared::kBulk>(keys, runs, group, part);

  Key item[kItems];
  int from[kItems];
  int a_at = part[0].at, a_items = part[0].items, b_at = part[1].at, b_items = part[1].items;
  if constexpr (kRuns == 4) {
    // Two pairs at once: the first threads merge one pair, the others the other.
    const int first_pair = part[0].items + part[1].items;
    const int first_threads = ceil_div(first_pair, kItems);
    const bool other = thread >= first_threads;
    if (other) a_at = part[2].at, a_items = part[2].items, b_at = part[3].at, b_items = part[3].items;
    const int diagonal = (thread - (other ? first_threads : 0)) * kItems;
    const int mine = min(kItems, a_items + b_items - diagonal);
    if (mine > 0) {
      const int a = merge_path(keys + a_at, a_items, keys + b_at, b_items, diagonal, less);
      merge_serial(keys, a_at + a, a_at + a_items, b_at + diagonal - a, b_at + b_items, item, from, less);
    }
    __syncthreads();
    const int to = (other ? first_pair : 0) + diagonal;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (i < mine) {
        keys[to + i] = item[i];
        if constexpr (kPairs) places[to + i] = static_cast<unsigned short>(from[i]);
      }
    }
    __syncthreads();
    a_at = 0, a_items = first_pair, b_at = first_pair, b_items = valid - first_pair;
  }
  const int diagonal = min(thread * kItems, valid);
  const int a = merge_path(keys + a_at, a_items, keys + b_at, b_items, diagonal, less);
  merge_serial(keys, a_at + a, a_at + a_items, b_at + diagonal - a, b_at + b_items, item, from, less);
  if constexpr (kPairs && kRuns > 2) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) from[i] = diagonal + i < valid ? places[from[i]] : 0;
  }
  write_merged<Tuning, Shared::kBulk, kThreads>(
      memory, item, from, start, valid, keys_out, values_out, [&](int index) -> Value {
        if constexpr (kPairs) {
          const Value* values = runs.values(group, 0) + part[0].first - part[0].at;
#pragma unroll
          for (int r = 1; r < kRuns; ++r)
            if (index >= part[r].at) values = runs.values(group, r) + part[r].first - part[r].at;
          return values[index];
        } else {
          return {};
        }
      });
}

// Sorts every tile on its own: a few items in each thread, then runs twice as long with every step. kWhole: the tile is
// full.
template <class Tuning, bool kWhole, bool kPairs, class Key, class Compare>
__device__ void sort_tile(Key* keys, unsigned short* places, int valid, Key (&item)[Tuning::kItems],
                          int (&from)[Tuning::kItems], Compare less) {
  constexpr int kItems = Tuning::kItems;
  const int first = static_cast<int>(threadIdx.x) * kItems;
  const int mine = kWhole ? kItems : max(0, min(kItems, valid - first));
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    item[i] = keys[kWhole ? first + i : min(first + i, valid - 1)];
    from[i] = first + i;
  }
  sort_in_thread<kWhole>(item, from, valid, less);
  for (int width = 1; width < Tuning::kTileThreads; width *= 2) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (kWhole || i < mine) {
        keys[first + i] = item[i];
        if constexpr (kPairs) places[first + i] = static_cast<unsigned short>(from[i]);
      }
    }
    __syncthreads();
    const int base = static_cast<int>(threadIdx.x) / (2 * width) * (2 * width) * kItems;
    if (kWhole || base < valid) {
      const int a_end = min(base + width * kItems, valid);
      const int b_end = min(base + 2 * width * kItems, valid);
      const int diagonal = min(first - base, b_end - base);
      const int a = merge_path(keys + base, a_end - base, keys + a_end, b_end - a_end, diagonal, less);
      int source[kItems];
      merge_serial(keys, base + a, a_end, a_end + diagonal - a, b_end, item, source, less);
      if constexpr (kPairs) {
#pragma unroll
        for (int i = 0; i < kItems; ++i) from[i] = i < mine ? places[source[i]] : 0;
      }
    }
  }
}

// Launched with Tuning::kTileThreads threads.
template <class Tuning, class Key, class Value, class Compare>
__global__ void __launch_bounds__(Tuning::kTileThreads)
    sort_tiles(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out, long long count,
               Compare less) {
  using Shared = MergeShared<Tuning, Key, Value>;
  constexpr int kThreads = Tuning::kTileThreads;
  constexpr int kItems = Tuning::kItems;
  constexpr bool kPairs = Shared::kPairs;
  extern __shared__ __align__(128) unsigned char memory[];
  Key* keys = reinterpret_cast<Key*>(memory);
  __shared__ unsigned short places[kPairs ? Tuning::kTile : 1];
  const long long start = static_cast<long long>(blockIdx.x) * Tuning::kTile;
  const int valid = count - start < Tuning::kTile ? static_cast<int>(count - start) : Tuning::kTile;
  Key item[kItems];
  int from[kItems];
  if (valid == Tuning::kTile) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) item[i] = keys_in[start + i * kThreads + threadIdx.x];
#pragma unroll
    for (int i = 0; i < kItems; ++i) keys[i * kThreads + threadIdx.x] = item[i];
    __syncthreads();
    sort_tile<Tuning, true, kPairs>(keys, places, valid, item, from, less);
  } else {
    for (int i = threadIdx.x; i < valid; i += kThreads) keys[i] = keys_in[start + i];
    __syncthreads();
    sort_tile<Tuning, false, kPairs>(keys, places, valid, item, from, less);
  }
  write_merged<Tuning, Shared::kBulk, kThreads>(memory, item, from, start, valid, keys_out, values_out,
                                                [&](int index) -> Value {
                                                  if constexpr (kPairs) {
                                                    return values_in[start + index];
                                                  } else {
                                                    return {};
                                                  }
                                                });
}

}  // namespace warpbeam::detail
