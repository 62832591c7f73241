// Stable radix sort of keys, and of keys with values: integers of 8 to 64 bits, float, double and half, ascending or
// descending, over a range of bits. The input is not changed.
#pragma once

#include "../policy.cuh"
#include "launch.cuh"
#include "radix_onesweep.cuh"

namespace warpbeam {

template <class Key, class Value>
using DefaultRadixTuning =
    std::conditional_t<(sizeof(Key) > 4 || sizeof(Value) > 4), RadixTuning<384, 10, 2>,
                       std::conditional_t<std::is_same_v<Value, NoValue>, RadixTuning<256, 41, 3>,
                                          RadixTuning<256, 35, 2>>>;

template <class Key>
using RadixFirstTuning = std::conditional_t<(sizeof(Key) > 4), RadixTuning<512, 11, 2>, RadixTuning<512, 23, 2>>;

namespace detail {

template <class Tuning, class Codec, class State, class Key, class Value>
cudaError_t radix_sort(const Policy& policy, const Key* keys_in, Key* keys_out, const Value* values_in,
                       Value* values_out, long long count, int begin_bit, int end_bit) {
  constexpr bool kPairs = !std::is_same_v<Value, NoValue>;
  constexpr int kMostPasses = Codec::kBits / kRadixBits;
  constexpr size_t kClearTogether = 32u << 20;
  if (count < 0 || begin_bit < 0 || end_bit > Codec::kBits || begin_bit > end_bit) return cudaErrorInvalidValue;
  const int passes = ceil_div(end_bit - begin_bit, kRadixBits);
  const long long tiles = ceil_div(count, static_cast<long long>(Tuning::kTile));
  if (tiles > INT32_MAX / 2) return cudaErrorInvalidValue;
  const size_t state_bytes = tiles * kRadix * sizeof(State);
  const bool together = state_bytes * passes <= kClearTogether;

  Workspace workspace(policy);
  const size_t count_bytes = kMostPasses * kRadix * sizeof(unsigned long long);
  const size_t head_bytes = count_bytes + 256;  // the digit counts, then the tickets
  const size_t control_at = workspace.reserve(head_bytes + state_bytes * (together ? passes : 1));
  const size_t keys_at = workspace.reserve(passes > 1 ? count * sizeof(Key) : 0);
  const size_t values_at = workspace.reserve(kPairs && passes > 1 ? count * sizeof(Value) : 0);
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaSuccess;
  if (passes == 0) {
    WB_RETURN_IF_FAILED(
        cudaMemcpyAsync(keys_out, keys_in, count * sizeof(Key), cudaMemcpyDeviceToDevice, policy.stream));
    if (!kPairs) return cudaSuccess;
    return cudaMemcpyAsync(values_out, values_in, count * sizeof(Value), cudaMemcpyDeviceToDevice, policy.stream);
  }
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  char* control = workspace.template at<char>(control_at);
  auto* counts = reinterpret_cast<unsigned long long*>(control);
  auto* tickets = reinterpret_cast<unsigned*>(control + count_bytes);
  auto* states = reinterpret_cast<State*>(control + head_bytes);
  WB_RETURN_IF_FAILED(
      cudaMemsetAsync(control, 0, head_bytes + (together ? state_bytes * passes : 0), policy.stream));

  auto histogram = begin_bit == 0 && end_bit == Codec::kBits ? radix_histogram<Codec, kMostPasses, true, Key>
                                                           : radix_histogram<Codec, kMostPasses, false, Key>;
  using Shape = RadixHistogramShape<kMostPasses>;
  WB_RETURN_IF_FAILED(allow_shared(histogram, Shape::kShared));
  long long wanted = ceil_div(count, Shape::kThreads * 16LL);
  long long most = device.multiprocessors;
  histogram<<<static_cast<unsigned>(wanted < most ? wanted : most), Shape::kThreads, Shape::kShared, policy.stream>>>(
      keys_in, count, begin_bit, end_bit, counts);
  WB_RETURN_IF_FAILED(cudaGetLastError());
  radix_starts<0><<<passes, kRadix, 0, policy.stream>>>(counts);
  WB_RETURN_IF_FAILED(cudaGetLastError());
  // Keys of equal digits may change places in the first pass if the later passes put them in order again, all of them.
  const bool any_order = !kPairs && Codec::kDistinct && begin_bit == 0 && end_bit == Codec::kBits;

  auto kernel = radix_pass<Tuning, Codec, Key, Value, State>;
  constexpr size_t kShared = RadixShared<Tuning, Key, Value>::kBytes;
  WB_RETURN_IF_FAILED(allow_shared(kernel, kShared));
  Key* other_keys = workspace.template at<Key>(keys_at);
  Value* other_values = workspace.template at<Value>(values_at);
  const Key* from = keys_in;
  const Value* from_values = values_in;
  for (int pass = 0; pass < passes; ++pass) {
    // The last pass ends in the caller's arrays, the ones before alternate.
    const bool to_result = (passes - pass) % 2 == 1;
    Key* to = to_result ? keys_out : other_keys;
    Value* to_values = to_result ? values_out : other_values;
    const int shift = begin_bit + pass * kRadixBits;
    const int bits = end_bit - shift < kRadixBits ? end_bit - shift : kRadixBits;
    if (pass == 0 && any_order) {
      using First = RadixFirstTuning<Key>;
      auto first = radix_first_pass<First, Codec, Key, State>;
      constexpr size_t kFirstShared = sizeof(Key) * First::kTile;
      WB_RETURN_IF_FAILED(allow_shared(first, kFirstShared));
      const long long first_tiles = ceil_div(count, static_cast<long long>(First::kTile));
      first<<<static_cast<unsigned>(first_tiles), First::kThreads, kFirstShared, policy.stream>>>(
          from, to, count, (1u << bits) - 1, counts);
      WB_RETURN_IF_FAILED(cudaGetLastError());
      from = to;
      continue;
    }
    State* pass_states = together ? states + static_cast<size_t>(pass) * tiles * kRadix : states;
    if (!together) WB_RETURN_IF_FAILED(cudaMemsetAsync(pass_states, 0, state_bytes, policy.stream));
    kernel<<<static_cast<unsigned>(tiles), Tuning::kThreads, kShared, policy.stream>>>(
        from, to, from_values, to_values, count, shift, (1u << bits) - 1, counts + pass * kRadix, pass_states,
        tickets + pass);
    WB_RETURN_IF_FAILED(cudaGetLastError());
    from = to;
    from_values = to_values;
  }
  return cudaSuccess;
}

// Tile counts are 30 bits wide up to 2^30 keys, 62 bits beyond.
template <class Tuning, class Key, class Value>
cudaError_t radix_sort_ordered(const Policy& policy, const Key* keys_in, Key* keys_out, const Value* values_in,
                               Value* values_out, long long count, SortOrder order, int begin_bit, int end_bit) {
  auto sort = [&](auto codec) {
    using Codec = decltype(codec);
    if (count < (1LL << 30))
      return radix_sort<Tuning, Codec, unsigned>(policy, keys_in, keys_out, values_in, values_out, count, begin_bit,
                                                 end_bit);
    return radix_sort<Tuning, Codec, unsigned long long>(policy, keys_in, keys_out, values_in, values_out, count,
                                                         begin_bit, end_bit);
  };
  if (order == SortOrder::ascending) return sort(RadixKey<Key, SortOrder::ascending>{});
  return sort(RadixKey<Key, SortOrder::descending>{});
}

}  // namespace detail

template <class Tuning = void, class Key>
cudaError_t sort_keys(const Policy& policy, const Key* in, Key* out, long long count,
                      SortOrder order = SortOrder::ascending, int begin_bit = 0, int end_bit = 8 * sizeof(Key)) {
  using Chosen = std::conditional_t<std::is_void_v<Tuning>, DefaultRadixTuning<Key, NoValue>, Tuning>;
  return detail::radix_sort_ordered<Chosen>(policy, in, out, static_cast<const NoValue*>(nullptr),
                                            static_cast<NoValue*>(nullptr), count, order, begin_bit, end_bit);
}

template <class Tuning = void, class Key, class Value>
cudaError_t sort_pairs(const Policy& policy, const Key* keys_in, Key* keys_out, const Value* values_in,
                       Value* values_out, long long count, SortOrder order = SortOrder::ascending, int begin_bit = 0,
                       int end_bit = 8 * sizeof(Key)) {
  using Chosen = std::conditional_t<std::is_void_v<Tuning>, DefaultRadixTuning<Key, Value>, Tuning>;
  return detail::radix_sort_ordered<Chosen>(policy, keys_in, keys_out, values_in, values_out, count, order, begin_bit,
                                            end_bit);
}

}  // namespace warpbeam
