// The compaction of an input that one round covers (see one_round.cuh).
#pragma once

#include "../block/lookback.cuh"
#include "../policy.cuh"
#include "launch.cuh"
#include "one_round.cuh"
#include "scan_tiles.cuh"
#include "tickets.cuh"

namespace warpbeam::detail {

template <int kRows, bool kKeepRejected, class T, class Out, class Rejected, class Keep>
__global__ void __launch_bounds__(OneRound::kMostThreads)
    select_once(const T* in, long long count, Out out, Rejected rejected, long long* kept, TileStates<unsigned> states,
                Keep keep) {
  constexpr int kVec = kVectorItems<T>;
  extern __shared__ __align__(128) unsigned char memory[];  // every array of this name gets one alignment
  __shared__ int warp_totals[OneRound::kMostThreads / kWarpSize];
  __shared__ unsigned prefixes[OneRound::kMostTiles / kWarpSize];
  T* packed = reinterpret_cast<T*>(memory);
  auto plus = [](auto a, auto b) { return a + b; };
  const int warps = blockDim.x / kWarpSize;
  const int tile = blockIdx.x;
  const int tile_items = static_cast<int>(blockDim.x) * kRows * kVec;
  const long long start = static_cast<long long>(tile) * tile_items;
  const int valid = count - start < tile_items ? static_cast<int>(count - start) : tile_items;
  const int first = (warp_id() * kRows * kWarpSize + lane_id()) * kVec;  // of the tile, in this lane's first row
  Vector<T, kVec> row[kRows];
  load_rows(in, start + first, count, row);
  T outer[kRows];  // what precedes a row; looked at by those that compare neighbours
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    if (lane_id() == 0) outer[r] = in[min(max(start + first + r * kWarpSize * kVec, 1LL), count) - 1];

  unsigned mask = 0;
  int before[kRows], through = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int at = first + r * kWarpSize * kVec;
    const T neighbour = shuffle_up(row[r].item[kVec - 1], 1);
    unsigned of_row = 0;
#pragma unroll
    for (int i = 0; i < kVec; ++i) {
      auto previous = [&]() -> T {
        return i > 0 ? row[r].item[i > 0 ? i - 1 : 0] : lane_id() > 0 ? neighbour : outer[r];
      };
      if (at + i < valid && keep(row[r].item[i], start + at + i > 0, previous)) of_row |= 1u << i;
    }
    const int mine = __popc(of_row), lanes = warp_inclusive_scan(mine, plus);
    before[r] = through + lanes - mine;
    through += shuffle_from(lanes, kWarpSize - 1);
    mask |= of_row << r * kVec;
  }
  if (lane_id() == 0) warp_totals[warp_id()] = through;
  __syncthreads();
  const int warps_through = warp_inclusive_scan(lane_id() < warps ? warp_totals[lane_id()] : 0, plus);
  const int total = shuffle_from(warps_through, kWarpSize - 1);
  const int warps_before = shuffle_from(warps_through, warp_id()) - through;

#if WB_BULK_COPY
  // The states are cleared by the kernel in front of this one.
  cudaGridDependencySynchronize();
#endif
  // Tell the others first, pack while the answer travels.
  if (threadIdx.x == 0 && tile + 1 < gridDim.x)
    states.publish(tile, TileStatus::aggregate, static_cast<unsigned>(total));
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int at = first + r * kWarpSize * kVec;
    int kept_rank = warps_before + before[r], rejected_rank = total + at - kept_rank;
#pragma unroll
    for (int i = 0; i < kVec; ++i) {
      if (mask >> (r * kVec + i) & 1) {
        packed[kept_rank++] = row[r].item[i];
      } else if (kKeepRejected) {
        if (at + i < valid) packed[rejected_rank] = row[r].item[i];
        ++rejected_rank;
      }
    }
  }
  gather_aggregates(states, tile, prefixes, plus);
  __syncthreads();
  long long prefix = 0;
  for (int group = 0; group * kWarpSize < tile; ++group) prefix += prefixes[group];
  for (int i = threadIdx.x; i < total; i += blockDim.x) out[prefix + i] = packed[i];
  if constexpr (kKeepRejected) {
    for (int i = threadIdx.x; i < valid - total; i += blockDim.x) rejected[start - prefix + i] = packed[total + i];
  }
  if (threadIdx.x == 0 && tile + 1 == gridDim.x) *kept = prefix + total;
}

template <bool kKeepRejected, class T, class Out, class Rejected, class Keep>
cudaError_t select_in_one_round(const Policy& policy, const DeviceTraits& device, const OneRound& shape, const T* in,
                                long long count, Out out, Rejected rejected, long long* kept, Keep keep) {
  using States = TileStates<unsigned>;
  Workspace workspace(policy);
  const size_t states_at = workspace.reserve(States::bytes(shape.tiles));
  WB_ACQUIRE(workspace);
  if (count == 0) return cudaMemsetAsync(kept, 0, sizeof(*kept), policy.stream);
  char* states = workspace.template at<char>(states_at);
  WB_RETURN_IF_FAILED(clear_states(states, States::zeroed_bytes(shape.tiles), nullptr, 0, policy.stream));
  auto kernel = shape.rows == 1   ? select_once<1, kKeepRejected, T, Out, Rejected, Keep>
                : shape.rows == 2 ? select_once<2, kKeepRejected, T, Out, Rejected, Keep>
                                  : select_once<4, kKeepRejected, T, Out, Rejected, Keep>;
  const size_t shared = static_cast<size_t>(shape.threads) * shape.rows * kVectorItems<T> * sizeof(T);
  WB_RETURN_IF_FAILED(allow_shared(kernel, shared));
  return launch(kernel, static_cast<unsigned>(shape.tiles), shape.threads, shared, policy.stream,
                device.level != CodeLevel::portable, in, count, out, rejected, kept, States(states, shape.tiles), keep);
}

}  // namespace warpbeam::detail
