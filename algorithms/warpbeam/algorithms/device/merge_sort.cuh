// Merging two sorted sequences, and a stable sort with any comparison.
//
// The sort first sorts tiles in shared memory, then doubles sorted runs pass by pass. Each merge pass is two kernels: one
// finds where every output tile cuts its two input runs, the other merges tiles in shared memory.
#pragma once

#include "../block/merge.cuh"
#include "../policy.cuh"
#include "launch.cuh"
#include "radix_onesweep.cuh"

namespace warpbeam {

template <int kThreadsV, int kItemsV>
struct MergeTuning {
  static constexpr int kThreads = kThreadsV;
  static constexpr int kItems = kItemsV;  // odd, so that threads walking their runs fall into different banks
  static constexpr int kTile = kThreads * kItems;
};

template <class Key>
using DefaultMergeTuning = std::conditional_t<(sizeof(Key) > 8), MergeTuning<128, 5>,
                                              std::conditional_t<(sizeof(Key) > 4), MergeTuning<256, 11>, MergeTuning<256, 17>>>;

namespace detail {

template <class Key>
struct TwoRuns {
  const Key* a;
  const Key* b;
  long long a_count, b_count;
  long long start;  // of the merged output
  long long a_at, b_at;  // positions of the runs in the arrays that hold values
};

// The runs a position of the output belongs to: two separate sequences, or neighbours in one array.
template <class Key>
struct SeparateRuns {
  const Key* a;
  const Key* b;
  long long a_count, b_count;
  __device__ TwoRuns<Key> at(long long) const { return {a, b, a_count, b_count, 0, 0, a_count}; }
};

template <class Key>
struct NeighbourRuns {
  const Key* keys;
  long long count, run;
  __device__ TwoRuns<Key> at(long long position) const {
    long long start = position / (2 * run) * (2 * run);
    long long a_count = min(run, count - start);
    return {keys + start, keys + start + a_count, a_count, min(run, count - start - a_count), start, start, start + a_count};
  }
};

template <class Key, class Runs, class Compare>
__global__ void __launch_bounds__(256)
    merge_splits(Runs runs, long long count, int tile_items, long long tiles, long long* splits, Compare less) {
  long long tile = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (tile >= tiles) return;
  long long position = tile * tile_items;
  TwoRuns<Key> pair = runs.at(position);
  splits[tile] = merge_path(pair.a, pair.a_count, pair.b, pair.b_count, position - pair.start, less);
}

template <class Tuning, class Key, class Value>
struct MergeShared {
  static constexpr size_t kValueBytes = std::is_same_v<Value, NoValue> ? 0 : sizeof(Value);
  static constexpr size_t kBytes = Tuning::kTile * (sizeof(Key) > kValueBytes ? sizeof(Key) : kValueBytes);
};

// Writes a tile's keys, and its values by the places they came from, through shared memory.
template <class Tuning, class Key, class Value, class ValueAt>
__device__ void write_merged(unsigned char* memory, const Key (&item)[Tuning::kItems], const int (&from)[Tuning::kItems],
                             long long start, int valid, Key* keys_out, Value* values_out, ValueAt value_at) {
  Key* keys = reinterpret_cast<Key*>(memory);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Tuning::kItems; ++i) keys[threadIdx.x * Tuning::kItems + i] = item[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Tuning::kItems; ++i) {
    int index = i * Tuning::kThreads + threadIdx.x;
    if (index < valid) keys_out[start + index] = keys[index];
  }
  if constexpr (!std::is_same_v<Value, NoValue>) {
    Value* values = reinterpret_cast<Value*>(memory);
    __syncthreads();
    for (int index = threadIdx.x; index < valid; index += Tuning::kThreads) values[index] = value_at(index);
    __syncthreads();
    Value mine[Tuning::kItems];
#pragma unroll
    for (int i = 0; i < Tuning::kItems; ++i)
      if (static_cast<int>(threadIdx.x) * Tuning::kItems + i < valid) mine[i] = values[from[i]];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tuning::kItems; ++i) values[threadIdx.x * Tuning::kItems + i] = mine[i];
    __syncthreads();
    for (int index = threadIdx.x; index < valid; index += Tuning::kThreads) values_out[start + index] = values[index];
  }
}

template <class Tuning, class Key, class Value, class Runs, class Compare>
__global__ void __launch_bounds__(Tuning::kThreads)
    merge_tiles(Runs runs, Key* keys_out, const Value* a_values, const Value* b_values, Value* values_out, long long count,
                long long tiles, const long long* splits, Compare less) {
  extern __shared__ __align__(128) unsigned char memory[];
  Key* keys = reinterpret_cast<Key*>(memory);
  const long long start = static_cast<long long>(blockIdx.x) * Tuning::kTile;
  const int valid = count - start < Tuning::kTile ? static_cast<int>(count - start) : Tuning::kTile;
  const TwoRuns<Key> pair = runs.at(start);
  const long long a_first = splits[blockIdx.x];
  const long long b_first = start - pair.start - a_first;
  const bool last = start + valid - pair.start == pair.a_count + pair.b_count;
  const int a_items = static_cast<int>((last ? pair.a_count : splits[blockIdx.x + 1]) - a_first);
  const int b_items = valid - a_items;
#pragma unroll
  for (int i = 0; i < Tuning::kItems; ++i) {
    int index = i * Tuning::kThreads + threadIdx.x;
    if (index < valid) keys[index] = index < a_items ? pair.a[a_first + index] : pair.b[b_first + index - a_items];
  }
  __syncthreads();
  const int diagonal = min(static_cast<int>(threadIdx.x) * Tuning::kItems, valid);
  const int a = merge_path(keys, a_items, keys + a_items, b_items, diagonal, less);
  Key item[Tuning::kItems];
  int from[Tuning::kItems];
  merge_serial(keys, a, a_items, a_items + diagonal - a, valid, item, from, less);
  write_merged<Tuning>(memory, item, from, start, valid, keys_out, values_out, [&](int index) -> Value {
    if constexpr (std::is_same_v<Value, NoValue>) {
      return {};
    } else {
      return index < a_items ? a_values[pair.a_at + a_first + index] : b_values[pair.b_at + b_first + index - a_items];
    }
  });
}

template <class Tuning, class Key, class Value, class Compare>
__global__ void __launch_bounds__(Tuning::kThreads)
    sort_tiles(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out, long long count,
               Compare less) {
  constexpr int kItems = Tuning::kItems;
  extern __shared__ __align__(128) unsigned char memory[];
  Key* keys = reinterpret_cast<Key*>(memory);
  __shared__ unsigned short places[std::is_same_v<Value, NoValue> ? 1 : Tuning::kTile];
  constexpr bool kPairs = !std::is_same_v<Value, NoValue>;
  const long long start = static_cast<long long>(blockIdx.x) * Tuning::kTile;
  const int valid = count - start < Tuning::kTile ? static_cast<int>(count - start) : Tuning::kTile;
  const int first = threadIdx.x * kItems;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    int index = i * Tuning::kThreads + threadIdx.x;
    if (index < valid) keys[index] = keys_in[start + index];
  }
  __syncthreads();
  Key item[kItems];
  int from[kItems];
  const int mine = max(0, min(kItems, valid - first));
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    item[i] = keys[min(first + i, valid - 1)];
    from[i] = first + i;
  }
  sort_in_thread(item, from, valid, less);
  for (int width = 1; width < Tuning::kThreads; width *= 2) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (i < mine) keys[first + i] = item[i];
      if (kPairs && i < mine) places[kPairs ? first + i : 0] = static_cast<unsigned short>(from[i]);
    }
    __syncthreads();
    const int base = static_cast<int>(threadIdx.x) / (2 * width) * (2 * width) * kItems;
    const int a_end = min(base + width * kItems, valid);
    const int b_end = min(base + 2 * width * kItems, valid);
    if (base < valid) {
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
  write_merged<Tuning>(memory, item, from, start, valid, keys_out, values_out, [&](int index) -> Value {
    if constexpr (std::is_same_v<Value, NoValue>) {
      return {};
    } else {
      return values_in[start + index];
    }
  });
}

template <class Tuning, class Key, class Value, class Runs, class Compare>
cudaError_t merge_pass(cudaStream_t stream, Runs runs, Key* keys_out, const Value* a_values, const Value* b_values,
                       Value* values_out, long long count, long long* splits, Compare less) {
  const long long tiles = ceil_div(count, static_cast<long long>(Tuning::kTile));
  merge_splits<Key><<<static_cast<unsigned>(ceil_div(tiles, 256LL)), 256, 0, stream>>>(runs, count, Tuning::kTile, tiles,
                                                                                     splits, less);
  WB_RETURN_IF_FAILED(cudaGetLastError());
  constexpr size_t kShared = MergeShared<Tuning, Key, Value>::kBytes;
  auto kernel = merge_tiles<Tuning, Key, Value, Runs, Compare>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, kShared));
  kernel<<<static_cast<unsigned>(tiles), Tuning::kThreads, kShared, stream>>>(runs, keys_out, a_values, b_values,
                                                                             values_out, count, tiles, splits, less);
  return cudaGetLastError();
}

template <class Tuning, class Key, class Value, class Compare>
cudaError_t merge_sort(const Policy& policy, const Key* keys_in, Key* keys_out, const Value* values_in,
                       Value* values_out, long long count, Compare less) {
  constexpr bool kPairs = !std::is_same_v<Value, NoValue>;
  const long long tiles = ceil_div(count, static_cast<long long>(Tuning::kTile));
  if (count < 0 || tiles > INT32_MAX) return cudaErrorInvalidValue;
  int passes = 0;
  while ((static_cast<long long>(Tuning::kTile) << passes) < count) ++passes;
  Workspace workspace(policy);
  const size_t splits_at = workspace.reserve(tiles * sizeof(long long));
  const size_t keys_at = workspace.reserve(passes > 0 ? count * sizeof(Key) : 0);
  const size_t values_at = workspace.reserve(kPairs && passes > 0 ? count * sizeof(Value) : 0);
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaSuccess;
  long long* splits = workspace.template at<long long>(splits_at);
  Key* other_keys = workspace.template at<Key>(keys_at);
  Value* other_values = workspace.template at<Value>(values_at);
  // The last pass ends in the caller's arrays, the ones before alternate.
  Key* to = passes % 2 ? other_keys : keys_out;
  Value* to_values = passes % 2 ? other_values : values_out;
  constexpr size_t kShared = MergeShared<Tuning, Key, Value>::kBytes;
  auto kernel = sort_tiles<Tuning, Key, Value, Compare>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, kShared));
  kernel<<<static_cast<unsigned>(tiles), Tuning::kThreads, kShared, policy.stream>>>(keys_in, to, values_in, to_values,
                                                                                    count, less);
  WB_RETURN_IF_FAILED(cudaGetLastError());
  for (int pass = 0; pass < passes; ++pass) {
    const Key* from = to;
    const Value* from_values = to_values;
    to = from == keys_out ? other_keys : keys_out;
    to_values = to == keys_out ? values_out : other_values;
    NeighbourRuns<Key> runs{from, count, static_cast<long long>(Tuning::kTile) << pass};
    WB_RETURN_IF_FAILED((merge_pass<Tuning, Key, Value>(policy.stream, runs, to, from_values, from_values, to_values,
                                                        count, splits, less)));
  }
  return cudaSuccess;
}

}  // namespace detail

// A stable sort of any trivially copyable keys. `in` and `out` do not overlap.
template <class Tuning = void, class Key, class Compare = Less>
cudaError_t merge_sort_keys(const Policy& policy, const Key* in, Key* out, long long count, Compare less = Compare()) {
  using Chosen = std::conditional_t<std::is_void_v<Tuning>, DefaultMergeTuning<Key>, Tuning>;
  return detail::merge_sort<Chosen>(policy, in, out, static_cast<const NoValue*>(nullptr),
                                                     static_cast<NoValue*>(nullptr), count, less);
}

template <class Key, class Value, class Compare = Less>
cudaError_t merge_sort_pairs(const Policy& policy, const Key* keys_in, Key* keys_out, const Value* values_in,
                             Value* values_out, long long count, Compare less = Compare()) {
  return detail::merge_sort<DefaultMergeTuning<Key>>(policy, keys_in, keys_out, values_in, values_out, count, less);
}

// Merges two sorted sequences; of equal items those of `a` come first.
template <class Key, class Compare = Less>
cudaError_t merge(const Policy& policy, const Key* a, long long a_count, const Key* b, long long b_count, Key* out,
                  Compare less = Compare()) {
  using Tuning = DefaultMergeTuning<Key>;
  if (a_count < 0 || b_count < 0) return cudaErrorInvalidValue;
  const long long count = a_count + b_count;
  Workspace workspace(policy);
  const size_t splits_at = workspace.reserve(ceil_div(count, static_cast<long long>(Tuning::kTile)) * sizeof(long long));
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaSuccess;
  return detail::merge_pass<Tuning, Key, NoValue>(policy.stream, detail::SeparateRuns<Key>{a, b, a_count, b_count}, out,
                                                  nullptr, nullptr, nullptr, count,
                                                  workspace.template at<long long>(splits_at), less);
}

}  // namespace warpbeam
