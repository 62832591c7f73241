// Merging two sorted sequences, and a stable sort with any comparison.
//
// The sort first sorts tiles in shared memory, then merges sorted runs pass by pass. A pass merges four runs into one,
// in two steps inside shared memory, so that everything travels through global memory half as often as with two. Few
// items are merged without tiles.
#pragma once

#include "../policy.cuh"
#include "launch.cuh"
#include "merge_tiles.cuh"

namespace warpbeam {

template <class Key>
using DefaultMergeTuning =
    std::conditional_t<(sizeof(Key) > 8), MergeTuning<128, 5, 1>,
                       std::conditional_t<(sizeof(Key) > 4), MergeTuning<256, 11, 4>, MergeTuning<256, 17, 7>>>;

// For up to kMergeByRank keys, and for up to kMergeByOwnCuts.
inline constexpr long long kMergeByRank = 1 << 17;
inline constexpr long long kMergeByOwnCuts = 1 << 20;
template <class Key>
using RankMergeTuning = std::conditional_t<(sizeof(Key) > 8), MergeTuning<128, 5, 1, MergeBy::rank>,
                                           std::conditional_t<(sizeof(Key) > 4), MergeTuning<256, 11, 4, MergeBy::rank>,
                                                              MergeTuning<256, 9, 6, MergeBy::rank>>>;
template <class Key>
using SmallMergeTuning =
    std::conditional_t<(sizeof(Key) > 4), DefaultMergeTuning<Key>, MergeTuning<512, 9, 1, MergeBy::own_cuts>>;

namespace detail {

template <class Tuning, class Runs, class Compare>
cudaError_t merge_pass(cudaStream_t stream, Runs runs, typename Runs::Key* keys_out, typename Runs::Value* values_out,
                       long long count, long long* cuts, Compare less) {
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  const bool overlap = device.level != CodeLevel::portable;
  const long long tiles = ceil_div(count, static_cast<long long>(Tuning::kTile));
  if constexpr (Tuning::kBy == MergeBy::cuts) {
    constexpr long long kFewTiles = 10000;
    const bool few = tiles <= kFewTiles;
    const long long blocks = ceil_div(few ? tiles * kWarpSize : tiles, static_cast<long long>(kCutThreads));
    WB_RETURN_IF_FAILED(launch(few ? merge_cuts<true, Runs, Compare> : merge_cuts<false, Runs, Compare>,
                               static_cast<unsigned>(blocks), kCutThreads, 0, stream, overlap, runs, Tuning::kTile,
                               tiles, cuts, less));
  }
  constexpr size_t kShared = MergeShared<Tuning, typename Runs::Key, typename Runs::Value>::kBytes;
  auto kernel = merge_runs<Tuning, Runs, Compare>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, kShared));
  return launch(kernel, static_cast<unsigned>(tiles), Tuning::kThreads, kShared, stream, overlap, runs, keys_out,
                values_out, cuts, less);
}

template <class Runs, class Compare>
cudaError_t rank_pass(cudaStream_t stream, Runs runs, typename Runs::Key* keys_out, typename Runs::Value* values_out,
                      long long count, Compare less) {
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  const long long blocks = ceil_div(count, static_cast<long long>(kRankThreads));
  return launch(merge_by_rank<Runs, Compare>, static_cast<unsigned>(blocks), kRankThreads, 0, stream,
                device.level != CodeLevel::portable, runs, keys_out, values_out, count, less);
}

template <class Tuning, class Key, class Value, class Compare>
cudaError_t merge_sort(const Policy& policy, const Key* keys_in, Key* keys_out, const Value* values_in,
                       Value* values_out, long long count, Compare less) {
  constexpr bool kPairs = !std::is_same_v<Value, NoValue>;
  constexpr int kWays = 4;
  const long long tiles = ceil_div(count, static_cast<long long>(Tuning::kTile));
  // Only cuts found beforehand are counted in 64 bits.
  const long long most = Tuning::kBy == MergeBy::cuts ? INT64_MAX : INT32_MAX;
  if (count < 0 || count > most || tiles > INT32_MAX) return cudaErrorInvalidValue;
  int passes = 0;
  for (long long run = Tuning::kTile; run < count; run *= kWays) ++passes;
  Workspace workspace(policy);
  const size_t cuts_at = workspace.reserve(tiles * kWays * sizeof(long long));
  const size_t keys_at = workspace.reserve(passes > 0 ? count * sizeof(Key) : 0);
  const size_t values_at = workspace.reserve(kPairs && passes > 0 ? count * sizeof(Value) : 0);
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaSuccess;
  long long* cuts = workspace.template at<long long>(cuts_at);
  Key* other_keys = workspace.template at<Key>(keys_at);
  Value* other_values = workspace.template at<Value>(values_at);
  // The last pass ends in the caller's arrays, the ones before alternate.
  Key* to = passes % 2 ? other_keys : keys_out;
  Value* to_values = passes % 2 ? other_values : values_out;
  constexpr size_t kShared = MergeShared<Tuning, Key, Value>::kBytes;
  auto kernel = sort_tiles<Tuning, Key, Value, Compare>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, kShared));
  kernel<<<static_cast<unsigned>(tiles), Tuning::kTileThreads, kShared, policy.stream>>>(keys_in, to, values_in,
                                                                                         to_values, count, less);
  WB_RETURN_IF_FAILED(cudaGetLastError());
  long long run = Tuning::kTile;
  for (int pass = 0; pass < passes; ++pass, run *= kWays) {
    const Key* from = to;
    const Value* from_values = to_values;
    to = from == keys_out ? other_keys : keys_out;
    to_values = to == keys_out ? values_out : other_values;
    if constexpr (Tuning::kBy == MergeBy::rank) {
      NeighbourRuns<kWays, Key, Value> runs{from, from_values, count, run};
      WB_RETURN_IF_FAILED(rank_pass(policy.stream, runs, to, to_values, count, less));
    } else {
      auto merge = [&](auto runs) { return merge_pass<Tuning>(policy.stream, runs, to, to_values, count, cuts, less); };
      // Two runs may be all that is left.
      WB_RETURN_IF_FAILED(count <= 2 * run ? merge(NeighbourRuns<2, Key, Value>{from, from_values, count, run})
                                           : merge(NeighbourRuns<kWays, Key, Value>{from, from_values, count, run}));
    }
  }
  return cudaSuccess;
}

template <class Tuning, class Key, class Value, class Compare>
cudaError_t merge_sort_sized(const Policy& policy, const Key* keys_in, Key* keys_out, const Value* values_in,
                             Value* values_out, long long count, Compare less) {
  if constexpr (std::is_void_v<Tuning>) {
    if (count <= kMergeByRank)
      return merge_sort<RankMergeTuning<Key>>(policy, keys_in, keys_out, values_in, values_out, count, less);
    if (count <= kMergeByOwnCuts)
      return merge_sort<SmallMergeTuning<Key>>(policy, keys_in, keys_out, values_in, values_out, count, less);
    return merge_sort<DefaultMergeTuning<Key>>(policy, keys_in, keys_out, values_in, values_out, count, less);
  } else {
    return merge_sort<Tuning>(policy, keys_in, keys_out, values_in, values_out, count, less);
  }
}

}  // namespace detail

// A stable sort of any trivially copyable keys. `in` and `out` do not overlap.
template <class Tuning = void, class Key, class Compare = Less>
cudaError_t merge_sort_keys(const Policy& policy, const Key* in, Key* out, long long count, Compare less = Compare()) {
  return detail::merge_sort_sized<Tuning>(policy, in, out, static_cast<const NoValue*>(nullptr),
                                          static_cast<NoValue*>(nullptr), count, less);
}

template <class Tuning = void, class Key, class Value, class Compare = Less>
cudaError_t merge_sort_pairs(const Policy& policy, const Key* keys_in, Key* keys_out, const Value* values_in,
                             Value* values_out, long long count, Compare less = Compare()) {
  return detail::merge_sort_sized<Tuning>(policy, keys_in, keys_out, values_in, values_out, count, less);
}

// Merges two sorted sequences; of equal items those of `a` come first.
template <class Key, class Compare = Less>
cudaError_t merge(const Policy& policy, const Key* a, long long a_count, const Key* b, long long b_count, Key* out,
                  Compare less = Compare()) {
  using Tuning = DefaultMergeTuning<Key>;
  using Runs = detail::SeparateRuns<Key>;
  if (a_count < 0 || b_count < 0) return cudaErrorInvalidValue;
  const long long count = a_count + b_count;
  const long long tiles = ceil_div(count, static_cast<long long>(Tuning::kTile));
  if (tiles > INT32_MAX) return cudaErrorInvalidValue;
  Workspace workspace(policy);
  const size_t cuts_at = workspace.reserve(tiles * Runs::kRuns * sizeof(long long));
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaSuccess;
  return detail::merge_pass<Tuning>(policy.stream, Runs{a, b, a_count, b_count}, out, static_cast<NoValue*>(nullptr),
                                    count, workspace.template at<long long>(cuts_at), less);
}

}  // namespace warpbeam
