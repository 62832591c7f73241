// Scans that start anew at every segment: wherever a key differs from the one before it. One pass, by the ordinary scan
// over pairs of a value and the mark of a segment's first item, or on Hopper by the same with the copy engine's help.
#pragma once

#include "by_key_bulk.cuh"
#include "reduce.cuh"
#include "scan.cuh"
#include "scan_once.cuh"
#include "select.cuh"

namespace warpbeam {

namespace detail {

// With kShift the value of item i is that of item i - 1, and a segment starts with `init`: an inclusive scan of that is
// an exclusive scan by key.
template <bool kShift, class Keys, class Values, class Equal>
struct SegmentedInput {
  using T = value_of<Values>;
  using value_type = Segmented<T>;
  Keys keys;
  Values values;
  Equal equal;
  T init;
  __device__ value_type operator[](long long i) const {
    bool starts = i == 0 || !equal(keys[i - 1], keys[i]);
    if constexpr (kShift) return starts ? value_type{init, 1} : value_type{values[i - 1], 0};
    return {values[i], starts};
  }
};

template <class Out>
struct ValueOutput {
  struct Slot {
    Out out;
    long long index;
    template <class T>
    __device__ void operator=(const Segmented<T>& item) {
      out[index] = item.value;
    }
  };
  Out out;
  __device__ Slot operator[](long long i) const { return {out, i}; }
};

// The rows of a small scan by key. With kShift as above.
template <bool kShift, class Key, class T, class Equal>
struct KeyedRows {
  using Item = Segmented<T>;
  static constexpr int kVec = kVectorItems<T>;
  const Key* keys;
  const T* in;
  T* out;
  long long count;
  T init;
  Equal equal;

  template <int kRows>
  __device__ void load(long long first, Item (&item)[kRows][kVec]) const {
    Vector<Key, kVec> key[kRows];
    Vector<T, kVec> value[kRows];
    load_rows(keys, first, count, key);
    load_rows(in, first, count, value);
    // The lanes of a row are neighbours; what precedes its first lane is fetched.
    Key outer_key[kRows];
    T outer_value[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const long long at = min(max(first + r * kWarpSize * kVec, 1LL), count) - 1;
      if (lane_id() == 0) outer_key[r] = keys[at];
      if (kShift && lane_id() == 0) outer_value[r] = in[at];
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Key before = shuffle_up(key[r].item[kVec - 1], 1);
      T shifted = kShift ? shuffle_up(value[r].item[kVec - 1], 1) : T{};
      if (lane_id() == 0) before = outer_key[r];
      if (kShift && lane_id() == 0) shifted = outer_value[r];
#pragma unroll
      for (int i = 0; i < kVec; ++i) {
        const bool starts = (i == 0 && r == 0 && first == 0) || !equal(before, key[r].item[i]);
        if constexpr (kShift) {
          item[r][i] = starts ? Item{init, 1} : Item{shifted, 0};
        } else {
          item[r][i] = Item{value[r].item[i], starts};
        }
        before = key[r].item[i];
        shifted = value[r].item[i];
      }
    }
  }
  __device__ void store(long long at, const Item (&item)[kVec]) const {
    Vector<T, kVec> row;
#pragma unroll
    for (int i = 0; i < kVec; ++i) row.item[i] = item[i].value;
    store_row(out, at, count, row);
  }
};

// As for the ordinary scan: smaller inputs are cut so that no multiprocessor gets much more than another.
inline constexpr long long kMiddleKeyedBytes = 24 << 20;
using MiddleKeyedTuning = RingTuning<384, 5, 3, 1>;
using KeyedTuning = RingTuning<256, 5, 5, 1>;

template <class Tuning, bool kInclusive, class Key, class T, class Op, class Equal>
cudaError_t scan_by_key_in_ring(const Policy& policy, const DeviceTraits& device, const Key* keys, long long count,
                                const T* values, T* out, T init, Op op, Equal equal) {
  const long long tiles = ceil_div(count, static_cast<long long>(Tuning::kTileBytes / sizeof(T)));
  if (tiles > INT32_MAX / 2) return cudaErrorInvalidValue;
  using States = TileStates<Segmented<T>>;
  Workspace workspace(policy);
  const size_t states_at = workspace.reserve(States::bytes(tiles));
  const size_t ticket_at = workspace.reserve(sizeof(unsigned));
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaSuccess;
  char* states = workspace.template at<char>(states_at);
  unsigned* ticket = workspace.template at<unsigned>(ticket_at);
  WB_RETURN_IF_FAILED(clear_states(states, States::zeroed_bytes(tiles), ticket, 1, policy.stream));
  auto kernel = scan_by_key_bulk<Tuning, kInclusive, Key, T, Op, Equal>;
  constexpr size_t kShared = KeyRing<Tuning, Key>::kBytes;
  WB_RETURN_IF_FAILED(allow_shared(kernel, kShared));
  const long long resident = static_cast<long long>(device.multiprocessors) * Tuning::kBlocks;
  return launch(kernel, static_cast<unsigned>(tiles < resident ? tiles : resident), Tuning::kBlockThreads, kShared,
                policy.stream, true, keys, values, out, count, States(states, tiles), ticket, init, op, equal);
}

template <bool kShift, class Keys, class Values, class Out, class T, class Op, class Equal>
cudaError_t scan_by_key(const Policy& policy, Keys keys, long long count, Values values, Out out, T init, Op op,
                        Equal equal) {
  using Key = value_of<Keys>;
  if constexpr (std::is_pointer_v<Keys> && std::is_pointer_v<Values> && std::is_same_v<Out, T*> &&
                std::is_same_v<value_of<Values>, T> && std::is_arithmetic_v<Key> && std::is_arithmetic_v<T> &&
                sizeof(Key) == sizeof(T) && sizeof(T) >= 4) {
    DeviceTraits device;
    WB_RETURN_IF_FAILED(device_traits(&device));
    const bool even = !policy.deterministic && is_aligned(keys, 16) && is_aligned(values, 16) && is_aligned(out, 16);
#if !WB_PORTABLE
    const OneRound once = one_round<T>(count, device.multiprocessors);
    if (even && once.rows > 0) {
      const KeyedRows<kShift, Key, T, Equal> rows{keys, values, out, count, init, equal};
      return scan_in_one_round<true>(policy, device, once, rows, Segmented<T>{}, SegmentedOp<Op>{op});
    }
#endif
    if (even && device.level != CodeLevel::portable &&
        KeyRing<KeyedTuning, Key>::kBytes <= static_cast<size_t>(device.shared_per_block)) {
      const Key* key_in = keys;
      const T* in = values;
      auto run = [&](auto tuning) {
        return scan_by_key_in_ring<decltype(tuning), !kShift>(policy, device, key_in, count, in, out, init, op, equal);
      };
      const long long bytes = count * static_cast<long long>(sizeof(T));
      if (bytes < kMiddleKeyedBytes) return run(MiddleKeyedTuning{});
      return run(KeyedTuning{});
    }
  }
  using Input = SegmentedInput<kShift, Keys, Values, Equal>;
  using Item = typename Input::value_type;
  return scan<DefaultScanTuning<Item>, true, Item>(policy, Input{keys, values, equal, init}, count,
                                                   ValueOutput<Out>{out}, Item{}, SegmentedOp<Op>{op});
}

}  // namespace detail

// `out` and `values` must not overlap in the exclusive form.
template <class Keys, class Values, class Out, class Op, class Equal = EqualTo>
cudaError_t inclusive_scan_by_key(const Policy& policy, Keys first, Keys last, Values values, Out out, Op op,
                                  Equal equal = Equal()) {
  return detail::scan_by_key<false>(policy, first, static_cast<long long>(last - first), values, out,
                                    value_of<Values>{}, op, equal);
}

template <class Keys, class Values, class Out, class T, class Op, class Equal = EqualTo>
cudaError_t exclusive_scan_by_key(const Policy& policy, Keys first, Keys last, Values values, Out out, T init, Op op,
                                  Equal equal = Equal()) {
  return detail::scan_by_key<true>(policy, first, static_cast<long long>(last - first), values, out,
                                   static_cast<value_of<Values>>(init), op, equal);
}

namespace detail {

// kThreads of a block of kBlock make one segment's result: a warp, or all of them. Each keeps kUnroll items in flight.
template <int kThreads, int kBlock, int kUnroll, class In, class Offsets, class Out, class T, class Op>
__global__ void __launch_bounds__(kBlock)
    reduce_segments(In in, Offsets offsets, long long segments, Out out, T init, Op op) {
  __shared__ SharedArray<T, kBlock / kWarpSize> memory;
  const long long segment = (static_cast<long long>(blockIdx.x) * kBlock + threadIdx.x) / kThreads;
  if (segment >= segments) return;
  // Lengths are as wide as offsets are.
  using Offset = value_of<Offsets>;
  using Length = std::conditional_t<(sizeof(Offset) < 4 || std::is_same_v<Offset, int>), int, long long>;
  const long long begin = offsets[segment];
  const Length count = static_cast<Length>(offsets[segment + 1] - begin);
  const int lane = threadIdx.x % kThreads;
  if (count <= 0) {
    if (lane == 0) out[segment] = init;
    return;
  }
  // Neighbouring lanes take neighbouring items, or contiguous shares where that keeps the order of operands.
  constexpr bool kStrided = commutes<Op>;
  constexpr int kStep = kStrided ? kThreads : 1;
  const Length share = kStrided ? 1 : ceil_div(count, static_cast<Length>(kThreads));
  const int active = static_cast<int>(kStrided ? min(count, static_cast<Length>(kThreads)) : ceil_div(count, share));
  const long long skipped = static_cast<long long>(lane) * share;
  // From this lane's first item to the end of its last one.
  Length left = skipped < count ? static_cast<Length>(count - skipped) : 0;
  if (!kStrided) left = min(left, share);
  T sum = init;
  bool have = false;
#pragma unroll 1
  for (long long at = begin + skipped; left > 0; left -= kUnroll * kStep, at += kUnroll * kStep) {
    T item[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i)
      if (left > i * kStep) item[i] = static_cast<T>(in[at + i * kStep]);
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if (left > i * kStep) sum = have ? op(sum, item[i]) : item[i];
      have = true;
    }
  }
  sum = kThreads == kWarpSize ? warp_reduce(sum, op, active) : block_reduce<kBlock>(sum, op, memory.data(), active);
  if (lane == 0) out[segment] = op(init, sum);
}

}  // namespace detail

// out[s] = init op in[offsets[s]] op ... op in[offsets[s + 1] - 1]; `count` items in all, only used to choose between a
// warp and a block per segment.
template <class In, class Offsets, class Out, class T, class Op>
cudaError_t segmented_reduce(const Policy& policy, In in, long long count, Offsets offsets, long long segments, Out out,
                             T init, Op op) {
  Workspace workspace(policy);
  WB_ACQUIRE(workspace);
  if (segments < 0) return cudaErrorInvalidValue;
  if (segments == 0) return cudaSuccess;
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  const long long average = count / segments;
  // A warp for each segment, or a block once its threads have 64 items each; half as many are enough where there are
  // fewer segments than schedulers, four on each multiprocessor.
  using Kernel = void (*)(In, Offsets, long long, Out, T, Op);
  struct Form {
    Kernel kernel;
    int threads, of_segment;
  };
  constexpr int kWarp = kWarpSize;
  const Form tiny{detail::reduce_segments<kWarp, 256, 1, In, Offsets, Out, T, Op>, 256, kWarp};
#if WB_PORTABLE
  const Form large{detail::reduce_segments<256, 256, 1, In, Offsets, Out, T, Op>, 256, 256};
  const Form& form = average < 32 * kWarp ? tiny : large;
#else
  const Form small{detail::reduce_segments<kWarp, 128, 8, In, Offsets, Out, T, Op>, 128, kWarp};
  const Form usual{detail::reduce_segments<kWarp, 128, 16, In, Offsets, Out, T, Op>, 128, kWarp};
  const Form middle{detail::reduce_segments<128, 128, 16, In, Offsets, Out, T, Op>, 128, 128};
  const Form large{detail::reduce_segments<512, 512, 8, In, Offsets, Out, T, Op>, 512, 512};
  const bool few = segments <= 4LL * device.multiprocessors;
  const Form& form = average < kWarp                     ? tiny
                     : average < 8 * kWarp               ? small
                     : average < (few ? 32 : 64) * kWarp ? usual
                     : average < 64 * 128                ? middle
                                                         : large;
#endif
  const long long blocks = ceil_div(segments * form.of_segment, static_cast<long long>(form.threads));
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  form.kernel<<<static_cast<unsigned>(blocks), form.threads, 0, policy.stream>>>(in, offsets, segments, out, init, op);
  return cudaGetLastError();
}

}  // namespace warpbeam
