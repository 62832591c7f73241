// The transposition kernel for Hopper and 4-byte elements: the copy engine brings the tile and takes its transpose
// away, threads only turn it around in shared memory. Its swizzle serves both sides: reading four elements of a row per
// lane and writing them to four rows touches every bank once.
#pragma once

#include "../config.cuh"
#include "../thread/bulk.cuh"
#include "tensor_map.cuh"

#if !WB_PORTABLE

namespace warpbeam {

template <int kRowsV, int kColumnsV, int kThreadsV>
struct BulkTransposeTuning {
  static constexpr int kRows = kRowsV;
  static constexpr int kColumns = kColumnsV;
  static constexpr int kThreads = kThreadsV;
  static constexpr int kTileBytes = kRows * kColumns * 4;
  static constexpr int kShared = 2 * kTileBytes + 1024;  // swizzled tiles start on 1 KiB
};

namespace detail {

template <class Tuning>
__global__ void __launch_bounds__(Tuning::kThreads)
    transpose_bulk(const __grid_constant__ CUtensorMap map_in, const __grid_constant__ CUtensorMap map_out) {
#if WB_BULK_COPY
  constexpr int kRows = Tuning::kRows;
  constexpr int kColumns = Tuning::kColumns;
  constexpr int kBox = 32;  // elements in the 128 bytes of a box row
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) uint64_t arrived;
  unsigned char* in = bulk::round_up_shared(raw, 1024);
  unsigned char* out = in + Tuning::kTileBytes;
  const int x = blockIdx.y * kColumns, y = blockIdx.x * kRows;
  if (threadIdx.x == 0) {
    bulk::init(&arrived, 1);
    bulk::fence_init();
    bulk::expect(&arrived, Tuning::kTileBytes);
    for (int i = 0; i < kColumns / kBox; ++i) bulk::load_box(in + i * kRows * 128, &map_in, x + i * kBox, y, &arrived);
  }
  __syncthreads();
  bulk::wait(&arrived, 0);

  constexpr int kChunks = kColumns / 4;
  constexpr int kUnits = kRows / kWarpSize * kChunks;  // 32 rows of 4 columns each
#pragma unroll 4
  for (int unit = warp_id(); unit < kUnits; unit += Tuning::kThreads / kWarpSize) {
    const int chunk = unit % kChunks;
    const int band = unit / kChunks;
    const int row = band * kWarpSize + lane_id();
    const unsigned char* from = in + chunk / 8 * kRows * 128 + row * 128 + ((chunk % 8) ^ (row % 8)) * 16;
    const uint4 four = *reinterpret_cast<const uint4*>(from);
    const unsigned item[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = chunk * 4 + i;
      unsigned char* to = out + band * kColumns * 128 + column * 128 + ((lane_id() / 4) ^ (column % 8)) * 16;
      *reinterpret_cast<unsigned*>(to + lane_id() % 4 * 4) = item[i];
    }
  }
  bulk::fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kRows / kBox; ++i) bulk::store_box(&map_out, y + i * kBox, x, out + i * kColumns * 128);
    bulk::commit();
    bulk::wait_read<0>();
  }
#endif
}

}  // namespace detail
}  // namespace warpbeam

#endif
