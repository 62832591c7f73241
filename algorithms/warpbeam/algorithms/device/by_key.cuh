// Scans that start anew at every segment: wherever a key differs from the one before it. One pass, by the ordinary scan
// over pairs of a value and the mark of a segment's first item.
#pragma once

#include "reduce.cuh"
#include "scan.cuh"
#include "select.cuh"

namespace warpbeam {

namespace detail {

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

template <bool kShift, class Keys, class Values, class Out, class T, class Op, class Equal>
cudaError_t scan_by_key(const Policy& policy, Keys keys, long long count, Values values, Out out, T init, Op op,
                        Equal equal) {
  using Input = SegmentedInput<kShift, Keys, Values, Equal>;
  using Item = typename Input::value_type;
  return scan<DefaultScanTuning<Item>, true, Item>(policy, Input{keys, values, equal, init}, count, ValueOutput<Out>{out},
                                                   Item{}, SegmentedOp<Op>{op});
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
  const bool wide = count / segments >= kLong;
  const long long blocks = wide ? segments : ceil_div(segments, 256LL / kWarpSize);
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  auto kernel = wide ? detail::reduce_segments<256, In, Offsets, Out, T, Op>
                     : detail::reduce_segments<kWarpSize, In, Offsets, Out, T, Op>;
  kernel<<<static_cast<unsigned>(blocks), 256, 0, policy.stream>>>(in, offsets, segments, out, init, op);
  return cudaGetLastError();
}

}  // namespace warpbeam
