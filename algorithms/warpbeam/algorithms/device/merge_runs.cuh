// What is merged: the runs behind a position of the output, where a tile of the output cuts them, and, for few items,
// merging without tiles.
#pragma once

#include "../block/merge.cuh"
#include "../config.cuh"
#include "radix_digits.cuh"

namespace warpbeam {

// How a pass merges: without tiles, for few items; in tiles that find for themselves where they cut the runs, which
// saves a launch where there are not many; or in tiles whose cuts another kernel finds beforehand.
enum class MergeBy { rank, own_cuts, cuts };

template <int kThreadsV, int kItemsV, int kBlocksV, MergeBy kByV = MergeBy::cuts>
struct MergeTuning {
  static constexpr int kThreads = kThreadsV;
  static constexpr int kItems = kItemsV;    // odd, so that threads walking their runs fall into different banks
  static constexpr int kBlocks = kBlocksV;  // blocks per multiprocessor
  static constexpr MergeBy kBy = kByV;
  // Tiles leave a few threads without items: merging two pairs of runs in one tile takes one thread more than there are
  // items for, and a multiple of four keeps tiles of 4-byte keys on 16 bytes.
  static constexpr int kTileThreads = kThreads - 4;
  static constexpr int kTile = kTileThreads * kItems;
};

namespace detail {

// The runs behind a position of the output: neighbours in one array, kRuns at a time,
template <int kRunsV, class KeyT, class ValueT>
struct NeighbourRuns {
  static constexpr int kRuns = kRunsV;
  using Key = KeyT;
  using Value = ValueT;
  const KeyT* all_keys;
  const ValueT* all_values;
  long long count, run;
  __device__ long long group(long long position) const { return position / (kRuns * run) * (kRuns * run); }
  __device__ long long group_end(long long start) const { return min(start + kRuns * run, count); }
  __device__ long long length(long long start, int r) const { return max(min(run, count - start - r * run), 0LL); }
  __device__ const KeyT* keys(long long start, int r) const { return all_keys + start + r * run; }
  __device__ const ValueT* values(long long start, int r) const { return all_values + start + r * run; }
  // How many keys of memory there are from the start of the run on.
  __device__ long long readable(long long start, int r) const { return count - start - r * run; }
};

// or two separate sequences.
template <class KeyT>
struct SeparateRuns {
  static constexpr int kRuns = 2;
  using Key = KeyT;
  using Value = NoValue;
  const KeyT* a;
  const KeyT* b;
  long long a_count, b_count;
  __device__ long long group(long long) const { return 0; }
  __device__ long long group_end(long long) const { return a_count + b_count; }
  __device__ long long length(long long, int r) const { return r == 0 ? a_count : b_count; }
  __device__ const KeyT* keys(long long, int r) const { return r == 0 ? a : b; }
  __device__ const NoValue* values(long long, int) const { return nullptr; }
  __device__ long long readable(long long, int r) const { return length(0, r); }
};

// Where a position of the output cuts the runs of its group, found by one whole warp: more work in less time than one
// thread needs, for when there are few tiles.
template <class Runs, class Compare>
__device__ void cut_in_warp(const Runs& runs, long long group, long long position, int (&cut)[Runs::kRuns],
                            Compare less) {
  constexpr int kRuns = Runs::kRuns;
  int length[kRuns];
#pragma unroll
  for (int r = 0; r < kRuns; ++r) length[r] = static_cast<int>(runs.length(group, r));
  auto at = [&](int r, int i) { return runs.keys(group, r)[i]; };
  multiway_path_in_warp<kRuns, typename Runs::Key>(at, length, static_cast<int>(position - group), cut, less);
}

// Where each tile's start cuts its runs, found by one thread or with kWarp by one warp per tile.
inline constexpr int kCutThreads = 128;

template <bool kWarp, class Runs, class Compare>
__global__ void __launch_bounds__(kCutThreads)
    merge_cuts(Runs runs, int tile_items, long long tiles, long long* cuts, Compare less) {
  constexpr int kRuns = Runs::kRuns;
  const long long thread = static_cast<long long>(blockIdx.x) * kCutThreads + threadIdx.x;
  const long long tile = kWarp ? thread / kWarpSize : thread;
#if WB_BULK_COPY
  cudaGridDependencySynchronize();
#endif
  if (tile >= tiles) return;
  const long long position = tile * tile_items;
  const long long group = runs.group(position);
  if constexpr (kWarp) {
    int cut[kRuns];
    cut_in_warp(runs, group, position, cut, less);
#pragma unroll
    for (int r = 0; r < kRuns; ++r)
      if (lane_id() == 0) cuts[tile * kRuns + r] = cut[r];
  } else {
    long long length[kRuns], cut[kRuns];
#pragma unroll
    for (int r = 0; r < kRuns; ++r) length[r] = runs.length(group, r);
    auto at = [&](int r, long long i) { return runs.keys(group, r)[i]; };
    multiway_path<kRuns, typename Runs::Key>(at, length, position - group, cut, less);
#pragma unroll
    for (int r = 0; r < kRuns; ++r) cuts[tile * kRuns + r] = cut[r];
  }
}

// Merges without tiles, for few items: every item looks up by itself how many of each other run precede it. That is
// much more work than merging tiles, but all of it at once.
inline constexpr int kRankThreads = 128;

template <class Runs, class Compare>
__global__ void __launch_bounds__(kRankThreads)
    merge_by_rank(Runs runs, typename Runs::Key* keys_out, typename Runs::Value* values_out, int count, Compare less) {
  constexpr int kRuns = Runs::kRuns;
  using Key = typename Runs::Key;
#if WB_BULK_COPY
  cudaGridDependencySynchronize();
#endif
  const int place = static_cast<int>(blockIdx.x) * kRankThreads + threadIdx.x;
  if (place >= count) return;
  const int group = static_cast<int>(runs.group(place));
  const int run = static_cast<int>((place - group) / runs.run);
  const Key key = runs.keys(group, 0)[place - group];
  int before[kRuns];
  const Key* keys[kRuns];
  int length[kRuns];
#pragma unroll
  for (int r = 0; r < kRuns; ++r) {
    before[r] = 0;
    length[r] = r == run ? 0 : static_cast<int>(runs.length(group, r));
    keys[r] = runs.keys(group, length[r] > 0 ? r : run);  // a place that can be read, whatever is read there
  }
  // All searches take a step at once, so that their loads overlap.
  for (int step = 1 << (31 - __clz(static_cast<int>(runs.run))); step > 0; step /= 2) {
    Key other[kRuns];
#pragma unroll
    for (int r = 0; r < kRuns; ++r) other[r] = keys[r][max(min(before[r] + step, length[r]) - 1, 0)];
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      const bool precedes = r < run ? !less(key, other[r]) : less(other[r], key);
      if (precedes && before[r] + step <= length[r]) before[r] += step;
    }
  }
  int to = group + (place - group - static_cast<int>(run * runs.run));
#pragma unroll
  for (int r = 0; r < kRuns; ++r) to += before[r];
  keys_out[to] = key;
  if constexpr (!std::is_same_v<typename Runs::Value, NoValue>) values_out[to] = runs.values(group, 0)[place - group];
}

}  // namespace detail
}  // namespace warpbeam
