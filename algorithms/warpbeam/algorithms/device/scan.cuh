// Inclusive and exclusive scans of a sequence with an associative operator; `out` may be the input itself.
//
// One pass over the data: every item is read once and written once, tiles learn their prefix by look-back. The order in
// which look-back combines aggregates depends on timing, so floating-point sums may differ in the last bits between
// runs; a deterministic policy takes the two-pass form, which combines in a fixed order.
#pragma once

#include "../operators.cuh"
#include "../policy.cuh"
#include "launch.cuh"
#include "scan_bulk.cuh"
#include "scan_once.cuh"
#include "scan_tiles.cuh"
#include "tickets.cuh"

namespace warpbeam {

// What measured best on a device with 132 multiprocessors. Inputs below kSmallScanBytes are cut so that each
// multiprocessor gets a few tiles, with more threads at each.
inline constexpr long long kSmallScanBytes = 24 << 20;
using SmallScanTuning = RingTuning<256, 9, 4, 1>;

template <class T>
using DefaultScanTuning = std::conditional_t<(sizeof(T) > 4), RingTuning<128, 15, 7, 1>, RingTuning<128, 13, 8, 1>>;

namespace detail {

template <class T, class In, class Out>
inline constexpr bool kHasFastPath = std::is_pointer_v<In> && std::is_same_v<Out, T*> && std::is_arithmetic_v<T> &&
                                     std::is_same_v<value_of<In>, T> && sizeof(T) >= 4;

template <class T, bool kInclusive, class In, class Out, class Op>
cudaError_t scan_reproducibly(const Policy& policy, In first, long long count, Out out, T init, Op op) {
  using Tuning = TileScanTuning<T>;
  long long tiles = ceil_div(count, static_cast<long long>(Tuning::kTile));
  Workspace workspace(policy);
  size_t totals_at = workspace.reserve(tiles * sizeof(T));
  size_t prefixes_at = workspace.reserve(tiles * sizeof(T));
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaSuccess;
  T* totals = workspace.template at<T>(totals_at);
  T* prefixes = workspace.template at<T>(prefixes_at);
  if (tiles > 1) {
    tile_totals<T><<<static_cast<unsigned>(tiles - 1), Tuning::kThreads, 0, policy.stream>>>(first, totals, op);
    WB_RETURN_IF_FAILED(cudaGetLastError());
  }
  scan_totals<<<1, kWarpSize, 0, policy.stream>>>(static_cast<const T*>(totals), prefixes, tiles, !kInclusive, init, op);
  WB_RETURN_IF_FAILED(cudaGetLastError());
  scan_tiles<T, kInclusive><<<static_cast<unsigned>(tiles), Tuning::kThreads, 0, policy.stream>>>(
      first, out, count, GivenPrefixes<T>{prefixes}, static_cast<unsigned*>(nullptr), init, op);
  return cudaGetLastError();
}

template <class Tuning, bool kInclusive, class T, class In, class Out, class Op>
cudaError_t scan(const Policy& policy, In first, long long count, Out out, T init, Op op) {
  if (policy.deterministic) return scan_reproducibly<T, kInclusive>(policy, first, count, out, init, op);
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));

  bool bulk = false;
  if constexpr (kHasFastPath<T, In, Out>) {
    bulk = device.level != CodeLevel::portable && is_aligned(first, 16) && is_aligned(out, 16) &&
           Tuning::kShared <= device.shared_per_block;
  }
  long long tile_items = bulk ? Tuning::kTileBytes / static_cast<long long>(sizeof(T)) : TileScanTuning<T>::kTile;
  long long tiles = ceil_div(count, tile_items);
  if (tiles > INT32_MAX / 2) return cudaErrorInvalidValue;

  Workspace workspace(policy);
  size_t states_at = workspace.reserve(TileStates<T>::bytes(tiles));
  size_t ticket_at = workspace.reserve(sizeof(unsigned));
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaSuccess;
  char* states = workspace.template at<char>(states_at);
  unsigned* ticket = workspace.template at<unsigned>(ticket_at);
  WB_RETURN_IF_FAILED(clear_states(states, TileStates<T>::zeroed_bytes(tiles), ticket, 1, policy.stream));
  if constexpr (kHasFastPath<T, In, Out>) {
    if (bulk) {
      auto kernel = scan_bulk<Tuning, kInclusive, T, Op>;
      WB_RETURN_IF_FAILED(allow_shared(kernel, Tuning::kShared));
      long long resident = static_cast<long long>(device.multiprocessors) * Tuning::kBlocks;
      unsigned blocks = static_cast<unsigned>(tiles < resident ? tiles : resident);
      return launch(kernel, blocks, Tuning::kBlockThreads, Tuning::kShared, policy.stream, true, first, out, count,
                    TileStates<T>(states, tiles), ticket, init, op);
    }
  }
  auto kernel = scan_tiles<T, kInclusive, In, Out, TileStates<T>, Op>;
  return launch(kernel, static_cast<unsigned>(tiles), TileScanTuning<T>::kThreads, 0, policy.stream,
                device.level != CodeLevel::portable, first, out, count, TileStates<T>(states, tiles), ticket, init, op);
}

template <bool kInclusive, class T, class In, class Out, class Op>
cudaError_t scan_any(const Policy& policy, In first, long long count, Out out, T init, Op op) {
#if !WB_PORTABLE
  if constexpr (kHasFastPath<T, In, Out>) {
    DeviceTraits device;
    WB_RETURN_IF_FAILED(device_traits(&device));
    const OneRound once = one_round<T>(count, device.multiprocessors);
    if (once.rows > 0 && !policy.deterministic && is_aligned(first, 16) && is_aligned(out, 16))
      return scan_in_one_round<kInclusive>(policy, device, once, PlainRows<T>{first, out, count}, init, op);
  }
#endif
  const long long bytes = count * static_cast<long long>(sizeof(T));
  if (bytes < kSmallScanBytes) return scan<SmallScanTuning, kInclusive, T>(policy, first, count, out, init, op);
  return scan<DefaultScanTuning<T>, kInclusive, T>(policy, first, count, out, init, op);
}

}  // namespace detail

// out[i] = init op first[0] op ... op first[i - 1]
template <class In, class Out, class T, class Op>
cudaError_t exclusive_scan(const Policy& policy, In first, In last, Out out, T init, Op op) {
  return detail::scan_any<false, T>(policy, first, static_cast<long long>(last - first), out, init, op);
}

// out[i] = first[0] op ... op first[i]
template <class In, class Out, class Op>
cudaError_t inclusive_scan(const Policy& policy, In first, In last, Out out, Op op) {
  using T = value_of<In>;
  return detail::scan_any<true, T>(policy, first, static_cast<long long>(last - first), out, T{}, op);
}

template <class In, class Out>
cudaError_t exclusive_sum(const Policy& policy, In first, In last, Out out) {
  return exclusive_scan(policy, first, last, out, value_of<In>{}, Plus{});
}

template <class In, class Out>
cudaError_t inclusive_sum(const Policy& policy, In first, In last, Out out) {
  return inclusive_scan(policy, first, last, out, Plus{});
}

}  // namespace warpbeam
