// Reduction of a sequence with an associative operator.
//
// Two kernels. The first reads the input once with 16-byte loads: each warp combines whole rows of 32 vectors and each
// block leaves one partial result. The second, one block, combines the initial value, the few items before the first
// aligned address, the partials, and the items after the last whole row, in this order. On Hopper the second is launched
// early and waits on the device, so that its launch costs nothing.
//
// The tree is fixed by the size and the grid: equal inputs give equal bits. An operator that is not known to commute
// gets the form in which each warp owns a contiguous range.
#pragma once

#include "../block/reduce.cuh"
#include "../iterators.cuh"
#include "../operators.cuh"
#include "../policy.cuh"
#include "../thread/vector.cuh"
#include "launch.cuh"

namespace warpbeam {

template <class Op>
inline constexpr bool commutes = std::is_same_v<Op, Plus> || std::is_same_v<Op, Multiplies> ||
                                 std::is_same_v<Op, Minimum> || std::is_same_v<Op, Maximum> ||
                                 std::is_same_v<Op, ArgMin> || std::is_same_v<Op, ArgMax>;

template <int kThreadsV = 1024, int kUnrollV = 4, int kBlocksV = 2>
struct ReduceTuning {
  static constexpr int kThreads = kThreadsV;
  static constexpr int kUnroll = kUnrollV;   // vectors in flight per thread
  static constexpr int kBlocks = kBlocksV;   // blocks per multiprocessor
  static constexpr int kFinalThreads = 512;
  static constexpr long long kSmall = 16384;  // up to here one block does everything
};

namespace detail {

// A row is what one warp reads at once: a 16-byte vector per lane from a pointer, one item per lane otherwise.
template <class It>
struct RowReader {
  static constexpr int kItems = 1;
  using Row = value_of<It>;
  __device__ static Row load(It first, long long row) { return first[row * kWarpSize + lane_id()]; }
  template <class Acc, class Op, class Fn>
  __device__ static Acc combine(const Row& row, Op, Fn fn) {
    return fn(row);
  }
  __host__ static long long head(It, long long) { return 0; }
};

template <class T>
struct RowReader<T*> {
  using Item = std::remove_cv_t<T>;
  static constexpr int kItems = std::is_trivially_copyable_v<Item> ? kVectorItems<Item> : 1;
  using Row = Vector<Item, kItems>;
  __device__ static Row load(T* first, long long row) {
    T* from = first + (row * kWarpSize + lane_id()) * kItems;
    if constexpr (sizeof(Row) == 16 && kItems * sizeof(Item) == 16) {
      return load_streaming<Item, kItems>(from);
    } else {
      return Row{*from};
    }
  }
  template <class Acc, class Op, class Fn>
  __device__ static Acc combine(const Row& row, Op op, Fn fn) {
    Acc acc[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) acc[i] = fn(row.item[i]);
#pragma unroll
    for (int width = 1; width < kItems; width *= 2) {
#pragma unroll
      for (int i = 0; i + width < kItems; i += 2 * width) acc[i] = op(acc[i], acc[i + width]);
    }
    return acc[0];
  }
  // Items before the first 16-byte boundary; all of them when the pointer never reaches one.
  __host__ static long long head(T* first, long long count) {
    if (kItems == 1) return 0;
    auto address = reinterpret_cast<uintptr_t>(first);
    if (address % sizeof(Item) != 0) return count;
    long long items = static_cast<long long>((16 - address % 16) % 16 / sizeof(Item));
    return items < count ? items : count;
  }
};

template <class Tuning, bool kOrdered, class Acc, class It, class Op, class Fn>
__global__ void __launch_bounds__(Tuning::kThreads) reduce_rows(It first, long long rows, Acc* partials, Op op, Fn fn) {
  using Reader = RowReader<It>;
  constexpr int kWarps = Tuning::kThreads / kWarpSize;
  constexpr int kUnroll = Tuning::kUnroll;
  __shared__ Acc shared[kWarps];
#if WB_BULK_COPY
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  long long warps = static_cast<long long>(gridDim.x) * kWarps;
  long long warp = static_cast<long long>(blockIdx.x) * kWarps + warp_id();
  // Ordered: a contiguous range per warp. Otherwise neighbouring warps read neighbouring rows.
  long long row = kOrdered ? warp * rows / warps : warp;
  long long end = kOrdered ? (warp + 1) * rows / warps : rows;
  long long step = kOrdered ? 1 : warps;

  auto join = [&](const typename Reader::Row& loaded) {
    Acc value = Reader::template combine<Acc>(loaded, op, fn);
    if constexpr (kOrdered) value = warp_reduce(value, op);
    return value;
  };
  Acc acc = join(Reader::load(first, row));
  row += step;
  for (; row + (kUnroll - 1) * step < end; row += kUnroll * step) {
    typename Reader::Row loaded[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) loaded[i] = Reader::load(first, row + i * step);
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) acc = op(acc, join(loaded[i]));
  }
  for (; row < end; row += step) acc = op(acc, join(Reader::load(first, row)));

  if constexpr (kOrdered) {
    // Lane 0 already holds the warp's value; the other lanes only keep the block reduction uniform.
    if (lane_id() == 0) shared[warp_id()] = acc;
    __syncthreads();
    if (warp_id() == 0) acc = warp_reduce(shared[min(lane_id(), kWarps - 1)], op, kWarps);
  } else {
    acc = block_reduce<Tuning::kThreads>(acc, op, shared);
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = acc;
}

template <class Tuning, class Acc, class It, class Out, class Op, class Fn>
__global__ void __launch_bounds__(Tuning::kFinalThreads)
    reduce_final(It first, long long count, long long head, long long tail, const Acc* partials, int partial_count,
                 Out out, Acc init, Op op, Fn fn) {
  __shared__ Acc shared[Tuning::kFinalThreads / kWarpSize];
#if WB_BULK_COPY
  cudaGridDependencySynchronize();
#endif
  long long total = head + partial_count + tail;
  auto at = [&](long long i) -> Acc {
    if (i < head) return fn(first[i]);
    if (i < head + partial_count) return partials[i - head];
    return fn(first[count - tail + (i - head - partial_count)]);
  };
  // Contiguous chunks keep the order; every thread below `active` has at least one item.
  long long chunk = ceil_div(total, static_cast<long long>(Tuning::kFinalThreads));
  int active = chunk ? static_cast<int>(ceil_div(total, chunk)) : 0;
  if (active == 0) {
    if (threadIdx.x == 0) out[0] = init;
    return;
  }
  long long begin = min(static_cast<long long>(threadIdx.x), static_cast<long long>(active - 1)) * chunk;
  long long end = min(begin + chunk, total);
  Acc acc = at(begin);
#pragma unroll 4
  for (long long i = begin + 1; i < end; ++i) acc = op(acc, at(i));
  acc = block_reduce<Tuning::kFinalThreads>(acc, op, shared, active);
  if (threadIdx.x == 0) out[0] = op(init, acc);
}

}  // namespace detail

// out[0] = init op fn(first[0]) op fn(first[1]) ... ; `out` is a device pointer or iterator.
template <class Tuning = ReduceTuning<>, class It, class Out, class Acc, class Op, class Fn>
cudaError_t transform_reduce(const Policy& policy, It first, It last, Out out, Acc init, Op op, Fn fn) {
  using Reader = detail::RowReader<It>;
  constexpr bool kOrdered = !commutes<Op>;
  constexpr int kWarps = Tuning::kThreads / kWarpSize;
  constexpr int kDeterministicBlocks = 1024;
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));

  long long count = last - first;
  long long head = Reader::head(first, count);
  long long rows = (count - head) / (kWarpSize * Reader::kItems);
  if (count <= Tuning::kSmall || rows < kWarps) rows = 0;
  if (rows == 0) head = 0;
  long long tail = count - head - rows * kWarpSize * Reader::kItems;
  long long most = policy.deterministic ? kDeterministicBlocks : device.multiprocessors * Tuning::kBlocks;
  long long blocks = rows / kWarps < most ? rows / kWarps : most;

  Workspace workspace(policy);
  size_t partials = workspace.reserve(blocks * sizeof(Acc));
  WB_ACQUIRE(workspace);
  Acc* partial = workspace.template at<Acc>(partials);
  if (blocks > 0) {
    detail::reduce_rows<Tuning, kOrdered, Acc>
        <<<static_cast<unsigned>(blocks), Tuning::kThreads, 0, policy.stream>>>(first + head, rows, partial, op, fn);
    WB_RETURN_IF_FAILED(cudaGetLastError());
  }
  auto final_kernel = detail::reduce_final<Tuning, Acc, It, Out, Op, Fn>;
  return launch(final_kernel, 1, Tuning::kFinalThreads, 0, policy.stream, blocks > 0 && device.level != CodeLevel::portable,
                first, count, head, tail, static_cast<const Acc*>(partial), static_cast<int>(blocks), out, init, op, fn);
}

template <class Tuning = ReduceTuning<>, class It, class Out, class Acc, class Op>
cudaError_t reduce(const Policy& policy, It first, It last, Out out, Acc init, Op op) {
  return transform_reduce<Tuning>(policy, first, last, out, init, op, Identity{});
}

template <class It, class Out>
cudaError_t reduce_sum(const Policy& policy, It first, It last, Out out) {
  return reduce(policy, first, last, out, value_of<It>{}, Plus{});
}

namespace detail {

// An extreme over no items has no value, so "nothing yet" is a negative index that loses against everything.
template <class Extreme>
struct ExtremeOrNothing {
  template <class T>
  __host__ __device__ IndexedValue<T> operator()(const IndexedValue<T>& a, const IndexedValue<T>& b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    return Extreme{}(a, b);
  }
};

}  // namespace detail

template <class Extreme>
inline constexpr bool commutes<detail::ExtremeOrNothing<Extreme>> = true;

// out[0] receives an IndexedValue: the extreme item and the first position that holds it. An empty input has index -1.
template <class It, class Out>
cudaError_t argmin(const Policy& policy, It first, It last, Out out) {
  IndexedIterator<It> begin(first);
  IndexedValue<value_of<It>> nothing{value_of<It>{}, -1};
  return reduce(policy, begin, begin + (last - first), out, nothing, detail::ExtremeOrNothing<ArgMin>{});
}

template <class It, class Out>
cudaError_t argmax(const Policy& policy, It first, It last, Out out) {
  IndexedIterator<It> begin(first);
  IndexedValue<value_of<It>> nothing{value_of<It>{}, -1};
  return reduce(policy, begin, begin + (last - first), out, nothing, detail::ExtremeOrNothing<ArgMax>{});
}

}  // namespace warpbeam
