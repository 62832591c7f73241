// The scan of an input that one round covers (see one_round.cuh).
#pragma once

#include "../block/lookback.cuh"
#include "../policy.cuh"
#include "launch.cuh"
#include "one_round.cuh"
#include "scan_tiles.cuh"
#include "tickets.cuh"

namespace warpbeam::detail {

// What is scanned: the items themselves.
template <class T>
struct PlainRows {
  using Item = T;
  static constexpr int kVec = kVectorItems<T>;
  const T* in;
  T* out;
  long long count;

  template <int kRows>
  __device__ void load(long long first, Item (&item)[kRows][kVec]) const {
    Vector<T, kVec> row[kRows];
    load_rows(in, first, count, row);
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int i = 0; i < kVec; ++i) item[r][i] = row[r].item[i];
  }
  __device__ void store(long long at, const Item (&item)[kVec]) const {
    Vector<T, kVec> row;
#pragma unroll
    for (int i = 0; i < kVec; ++i) row.item[i] = item[i];
    store_row(out, at, count, row);
  }
};

template <int kRows, bool kInclusive, class Rows, class Op>
__global__ void __launch_bounds__(OneRound::kMostThreads)
    scan_once(Rows rows, TileStates<typename Rows::Item> states, typename Rows::Item init, Op op) {
  using Item = typename Rows::Item;
  constexpr int kVec = Rows::kVec;
  constexpr int kMostWarps = OneRound::kMostThreads / kWarpSize;
  __shared__ SharedArray<Item, kMostWarps> totals_memory;
  __shared__ SharedArray<Item, OneRound::kMostTiles / kWarpSize> prefixes_memory;
  Item* warp_totals = totals_memory.data();
  Item* prefixes = prefixes_memory.data();
  const int warps = blockDim.x / kWarpSize;
  const int tile = blockIdx.x;
  const long long first = ((static_cast<long long>(tile) * warps + warp_id()) * kRows * kWarpSize + lane_id()) * kVec;
  Item item[kRows][kVec];
  rows.load(first, item);

  // Each lane's items, the lanes of a row, the rows of the warp.
  Item before[kRows], through{};
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int i = 1; i < kVec; ++i) item[r][i] = op(item[r][i - 1], item[r][i]);
    const Item row = warp_inclusive_scan(item[r][kVec - 1], op);
    before[r] = shuffle_up(row, 1);
    if (r > 0) before[r] = lane_id() > 0 ? op(through, before[r]) : through;
    const Item total = shuffle_from(row, kWarpSize - 1);
    through = r > 0 ? op(through, total) : total;
  }
  if (lane_id() == 0) warp_totals[warp_id()] = through;
  __syncthreads();
  const Item warps_through = warp_inclusive_scan(warp_totals[min(lane_id(), warps - 1)], op);
  const Item warps_before = shuffle_from(warps_through, max(warp_id() - 1, 0));

#if WB_BULK_COPY
  // The states are cleared by the kernel in front of this one.
  cudaGridDependencySynchronize();
#endif
  if (threadIdx.x == warps - 1 && tile + 1 < gridDim.x) states.publish(tile, TileStatus::aggregate, warps_through);
  gather_aggregates(states, tile, prefixes, op);
  __syncthreads();

  bool have = !kInclusive;
  Item outer = init;
  for (int group = 0; group * kWarpSize < tile; ++group) {
    outer = have ? op(outer, prefixes[group]) : prefixes[group];
    have = true;
  }
  if (warp_id() > 0) {
    outer = have ? op(outer, warps_before) : warps_before;
    have = true;
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    Item prefix = outer;
    bool have_prefix = have;
    if (r > 0 || lane_id() > 0) {
      prefix = have ? op(outer, before[r]) : before[r];
      have_prefix = true;
    }
    if (have_prefix) {
#pragma unroll
      for (int i = 0; i < kVec; ++i) item[r][i] = op(prefix, item[r][i]);
    }
    if constexpr (!kInclusive) {
#pragma unroll
      for (int i = kVec - 1; i > 0; --i) item[r][i] = item[r][i - 1];
      item[r][0] = prefix;
    }
    rows.store(first + r * kWarpSize * kVec, item[r]);
  }
}

template <bool kInclusive, class Rows, class Op>
cudaError_t scan_in_one_round(const Policy& policy, const DeviceTraits& device, const OneRound& shape, const Rows& rows,
                              typename Rows::Item init, Op op) {
  using States = TileStates<typename Rows::Item>;
  Workspace workspace(policy);
  const size_t states_at = workspace.reserve(States::bytes(shape.tiles));
  WB_ACQUIRE(workspace);
  if (rows.count == 0) return cudaSuccess;
  char* states = workspace.template at<char>(states_at);
  WB_RETURN_IF_FAILED(clear_states(states, States::zeroed_bytes(shape.tiles), nullptr, 0, policy.stream));
  auto kernel = shape.rows == 1   ? scan_once<1, kInclusive, Rows, Op>
                : shape.rows == 2 ? scan_once<2, kInclusive, Rows, Op>
                                  : scan_once<4, kInclusive, Rows, Op>;
  return launch(kernel, static_cast<unsigned>(shape.tiles), shape.threads, 0, policy.stream,
                device.level != CodeLevel::portable, rows, States(states, shape.tiles), init, op);
}

}  // namespace warpbeam::detail
