// Stream compaction: copy_if, unique, and the partitions. Order is kept. All take one pass, but for the stable partition
// into one sequence, which has to know first where its second part begins; with that part in reverse, from the end on, it
// takes one pass too.
#pragma once

#include "../block/select.cuh"
#include "../policy.cuh"
#include "../thread/vector.cuh"
#include "launch.cuh"
#include "reduce.cuh"
#include "scan_tiles.cuh"
#include "select_bulk.cuh"
#include "select_once.cuh"
#include "tickets.cuh"

namespace warpbeam {

template <class T>
using DefaultSelectTuning = RingTuning<256, 9, 5, 1>;

namespace detail {

struct NoOutput {};

// Says which items stay. `previous` gives the item before, and is only called for those that have one.
template <class Predicate>
struct KeepIf {
  Predicate predicate;
  template <class T, class Previous>
  __device__ bool operator()(const T& item, bool, Previous) const {
    return predicate(item);
  }
};

template <class Equal>
struct KeepFirstOfRun {
  Equal equal;
  template <class T, class Previous>
  __device__ bool operator()(const T& item, bool has_previous, Previous previous) const {
    return !has_previous || !equal(previous(), item);
  }
};

template <class T, class Offset, class In, class Out, class Rejected, class Keep>
__global__ void __launch_bounds__(TileScanTuning<T>::kThreads)
    select_tiles(In in, long long count, Out out, Rejected rejected, long long* kept, TileStates<Offset> states,
                 unsigned* ticket, Keep keep) {
  using Tuning = TileScanTuning<T>;
  constexpr int kThreads = Tuning::kThreads;
  constexpr int kItems = Tuning::kItems;
  using Select = BlockSelect<kThreads, kItems, 1, !std::is_same_v<Rejected, NoOutput>, Offset>;
  __shared__ SharedArray<T, Tuning::kTile> items_memory;
  __shared__ typename Select::Shared shared;
  __shared__ int tile_shared;
  T* items = items_memory.data();
#if WB_BULK_COPY
  cudaGridDependencySynchronize();
#endif
  if (threadIdx.x == 0) tile_shared = atomicAdd(ticket, 1);
  __syncthreads();
  const int tile = tile_shared;
  const long long start = static_cast<long long>(tile) * Tuning::kTile;
  const int valid = count - start < Tuning::kTile ? static_cast<int>(count - start) : Tuning::kTile;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    int index = i * kThreads + threadIdx.x;
    items[index] = in[start + min(index, valid - 1)];
  }
  __syncthreads();
  int first = threadIdx.x * kItems;
  T item[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) item[i] = items[first + i];
  unsigned mask = static_cast<unsigned>(selection(item, first, valid, tile > 0, keep,
                            [&]() -> T { return first > 0 ? items[first > 0 ? first - 1 : 0] : in[start - 1]; }));
  Select::run(shared, items, item, mask, tile, start, valid, start + valid == count, states, out, rejected, kept);
}

template <class Tuning, class Offset, class T, class In, class Out, class Rejected, class Keep>
cudaError_t select_with(const Policy& policy, const DeviceTraits& device, In first, long long count, Out out,
                        Rejected rejected, long long* kept, Keep keep) {
  constexpr bool kCanBulk = std::is_pointer_v<In> && std::is_arithmetic_v<T> && sizeof(T) >= 4;
  constexpr size_t kShared = Tuning::kShared + sizeof(Choice<Tuning>) * Tuning::kStages;
  bool bulk = false;
  if constexpr (kCanBulk) {
    bulk = device.level != CodeLevel::portable && is_aligned(first, 16) && kShared <= static_cast<size_t>(device.shared_per_block);
  }
  long long tile_items = bulk ? Tuning::kTileBytes / static_cast<long long>(sizeof(T)) : TileScanTuning<T>::kTile;
  long long tiles = ceil_div(count, tile_items);
  if (tiles > INT32_MAX / 2) return cudaErrorInvalidValue;

  Workspace workspace(policy);
  size_t states_at = workspace.reserve(TileStates<Offset>::bytes(tiles));
  size_t ticket_at = workspace.reserve(sizeof(unsigned));
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaMemsetAsync(kept, 0, sizeof(*kept), policy.stream);
  TileStates<Offset> states(workspace.template at<char>(states_at), tiles);
  unsigned* ticket = workspace.template at<unsigned>(ticket_at);
  WB_RETURN_IF_FAILED(clear_states(workspace.template at<char>(states_at), TileStates<Offset>::zeroed_bytes(tiles),
                                   ticket, 1, policy.stream));
  if constexpr (kCanBulk) {
    if (bulk) {
      auto kernel = select_bulk<Tuning, !std::is_same_v<Rejected, NoOutput>, Offset, T, Out, Rejected, Keep>;
      WB_RETURN_IF_FAILED(allow_shared(kernel, kShared));
      long long resident = static_cast<long long>(device.multiprocessors) * Tuning::kBlocks;
      unsigned blocks = static_cast<unsigned>(tiles < resident ? tiles : resident);
      return launch(kernel, blocks, Tuning::kBlockThreads, kShared, policy.stream, true, first, count, out, rejected,
                    kept, states, ticket, keep);
    }
  }
  auto kernel = select_tiles<T, Offset, In, Out, Rejected, Keep>;
  return launch(kernel, static_cast<unsigned>(tiles), TileScanTuning<T>::kThreads, 0, policy.stream,
                device.level != CodeLevel::portable, first, count, out, rejected, kept, states, ticket, keep);
}

// Counts below 2^32 travel with their status in one word; longer inputs take the wide form.
template <class Tuning, class In, class Out, class Rejected, class Keep>
cudaError_t select(const Policy& policy, In first, In last, Out out, Rejected rejected, long long* kept, Keep keep) {
  using T = value_of<In>;
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  long long count = last - first;
#if !WB_PORTABLE
  if constexpr (std::is_pointer_v<In> && std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    const OneRound shape = one_round<T>(count, device.multiprocessors);
    if (shape.rows > 0 && is_aligned(first, 16))
      return select_in_one_round<!std::is_same_v<Rejected, NoOutput>, T>(policy, device, shape, first, count, out,
                                                                         rejected, kept, keep);
  }
#endif
  if (count <= UINT32_MAX)
    return select_with<Tuning, unsigned, T>(policy, device, first, count, out, rejected, kept, keep);
  return select_with<Tuning, unsigned long long, T>(policy, device, first, count, out, rejected, kept, keep);
}

}  // namespace detail

// Copies the items for which predicate(item) holds; *kept (device memory) receives how many there were.
template <class In, class Out, class Predicate>
cudaError_t copy_if(const Policy& policy, In first, In last, Out out, long long* kept, Predicate predicate) {
  return detail::select<DefaultSelectTuning<value_of<In>>>(policy, first, last, out, detail::NoOutput{}, kept,
                                                          detail::KeepIf<Predicate>{predicate});
}

struct EqualTo {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};

// Keeps the first item of every run of equal items.
template <class In, class Out, class Equal = EqualTo>
cudaError_t unique(const Policy& policy, In first, In last, Out out, long long* kept, Equal equal = Equal()) {
  return detail::select<DefaultSelectTuning<value_of<In>>>(policy, first, last, out, detail::NoOutput{}, kept,
                                                          detail::KeepFirstOfRun<Equal>{equal});
}

// Splits the input in two, each part in its original order.
template <class In, class Out, class Rejected, class Predicate>
cudaError_t partition_copy(const Policy& policy, In first, In last, Out selected, Rejected rejected, long long* kept,
                           Predicate predicate) {
  return detail::select<DefaultSelectTuning<value_of<In>>>(policy, first, last, selected, rejected, kept,
                                                          detail::KeepIf<Predicate>{predicate});
}

namespace detail {

template <class Predicate>
struct OneIfSelected {
  Predicate predicate;
  template <class T>
  __host__ __device__ long long operator()(const T& item) const {
    return predicate(item) ? 1 : 0;
  }
};

// The part of `out` behind the selected items.
template <class Out>
struct BehindSelected {
  Out out;
  const long long* selected;
  __device__ decltype(auto) operator[](long long i) const { return out[*selected + i]; }
};

template <class Out>
struct FromBack {
  Out out;
  long long count;
  __device__ decltype(auto) operator[](long long i) const { return out[count - 1 - i]; }
};

}  // namespace detail

// How a partition leaves the items that were not selected: in their order, or last item first.
enum class RestOrder { kept, reversed };

// Moves the items for which predicate(item) holds to the front of `out`, in their order, and the others behind them.
// `out` is not the input.
template <class In, class Out, class Predicate>
cudaError_t partition(const Policy& policy, In first, In last, Out out, long long* kept, Predicate predicate,
                      RestOrder rest = RestOrder::kept) {
  if (rest == RestOrder::reversed)
    return partition_copy(policy, first, last, out, detail::FromBack<Out>{out, last - first}, kept, predicate);
  Workspace workspace(policy);
  const size_t selected_at = workspace.reserve(sizeof(long long));
  long long* selected = nullptr;
  const detail::OneIfSelected<Predicate> one{predicate};
  auto count = [&](const Policy& with) { return transform_reduce(with, first, last, selected, 0LL, Plus{}, one); };
  auto split = [&](const Policy& with) {
    return partition_copy(with, first, last, out, detail::BehindSelected<Out>{out, selected}, kept, predicate);
  };
  size_t counting = 0, splitting = 0;
  WB_RETURN_IF_FAILED(count(on(policy.stream).measure(&counting)));
  WB_RETURN_IF_FAILED(split(on(policy.stream).measure(&splitting)));
  const size_t bytes = counting > splitting ? counting : splitting;
  const size_t inner_at = workspace.reserve(bytes);
  WB_ACQUIRE(workspace);
  selected = workspace.template at<long long>(selected_at);
  const Policy inner = on(policy.stream).with_storage(workspace.template at<char>(inner_at), bytes);
  WB_RETURN_IF_FAILED(count(inner));
  return split(inner);
}

}  // namespace warpbeam
