// Scans that start anew at every segment: wherever a key differs from the one before it. One pass, by the ordinary scan
// over pairs of a value and the mark of a segment's first item, or on Hopper by the same with the copy engine's help.
#pragma once

#include "by_key_bulk.cuh"
#include "reduce.cuh"
#include "scan.cuh"
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

// As for the ordinary scan: small inputs are cut so that every multiprocessor gets some, and the next larger ones so
// that none gets much more than another.
inline constexpr long long kSmallKeyedBytes = 4 << 20, kMiddleKeyedBytes = 24 << 20;
using SmallKeyedTuning = RingTuning<256, 5, 4, 1>;
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
    if (!policy.deterministic && device.level != CodeLevel::portable && is_aligned(keys, 16) &&
        is_aligned(values, 16) && is_aligned(out, 16) &&
        KeyRing<KeyedTuning, Key>::kBytes <= static_cast<size_t>(device.shared_per_block)) {
      const Key* key_in = keys;
      const T* in = values;
      auto run = [&](auto tuning) {
        return scan_by_key_in_ring<decltype(tuning), !kShift>(policy, device, key_in, count, in, out, init, op, equal);
      };
      const long long bytes = count * static_cast<long long>(sizeof(T));
      if (bytes < kSmallKeyedBytes) return run(SmallKeyedTuning{});
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

// kThreads is a warp for many short segments and a block for few long ones.
template <int kThreads, class In, class Offsets, class Out, class T, class Op>
__global__ void __launch_bounds__(256)
    reduce_segments(In in, Offsets offsets, long long segments, Out out, T init, Op op) {
  constexpr int kBlock = 256;
  __shared__ SharedArray<T, kBlock / kWarpSize> memory;
  const long long segment = (static_cast<long long>(blockIdx.x) * kBlock + threadIdx.x) / kThreads;
  if (segment >= segments) return;
  const long long begin = offsets[segment], end = offsets[segment + 1];
  const int lane = threadIdx.x % kThreads;
  const long long count = end - begin;
  if (count <= 0) {
    if (lane == 0) out[segment] = init;
    return;
  }
  // Contiguous shares keep the order of operands.
  const long long share = ceil_div(count, static_cast<long long>(kThreads));
  const int active = static_cast<int>(ceil_div(count, share));
  T sum = init;
  bool commuting = commutes<Op>;
  if (commuting) {
    // Neighbouring lanes read neighbouring items.
    const int members = count < kThreads ? static_cast<int>(count) : kThreads;
    sum = in[begin + min(static_cast<long long>(lane), count - 1)];
    for (long long i = begin + lane + kThreads; i < end; i += kThreads) sum = op(sum, static_cast<T>(in[i]));
    sum = kThreads == kWarpSize ? warp_reduce(sum, op, members) : block_reduce<kBlock>(sum, op, memory.data(), members);
  } else {
    const long long from = begin + min(lane, active - 1) * share;
    const long long to = min(from + share, end);
    sum = in[from];
    for (long long i = from + 1; i < to; ++i) sum = op(sum, static_cast<T>(in[i]));
    sum = kThreads == kWarpSize ? warp_reduce(sum, op, active) : block_reduce<kBlock>(sum, op, memory.data(), active);
  }
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
  constexpr long long kLong = 1024;
  constexpr long long kMiddle = 128, kFew = 512;  // with few segments there are blocks to spare
  const long long average = count / segments;
  const bool wide = average >= kLong || (average >= kMiddle && segments <= kFew);
  const long long blocks = wide ? segments : ceil_div(segments, 256LL / kWarpSize);
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  auto kernel = wide ? detail::reduce_segments<256, In, Offsets, Out, T, Op>
                     : detail::reduce_segments<kWarpSize, In, Offsets, Out, T, Op>;
  kernel<<<static_cast<unsigned>(blocks), 256, 0, policy.stream>>>(in, offsets, segments, out, init, op);
  return cudaGetLastError();
}

}  // namespace warpbeam
