// The fp32 product for Hopper: the copy engine brings slices of A and B into a ring of stages, far ahead of their use.
//
// The warps of a block meet after every slice, not only to give its stage back: warps that drift apart in the long body
// of the loop each fetch it for themselves, and multiprocessors that share an instruction cache then slow each other
// down. Slices of 16 fit that cache and run equally fast everywhere; slices of 32 are faster on most multiprocessors
// and slower on a few, which pays where there are tiles enough to even that out.
//
// A warp makes 64 x 64 results, a thread 8 x 16 of them in registers: 24 values read from shared memory feed 128
// multiply-adds. A is transposed beforehand, so that what a thread wants of one k lies together. Where there are few
// results, kSplit warps make the same ones, each from its share of every slice.
//
// In the large forms, only the rows of A that the first round of blocks needs are transposed beforehand. The others'
// transposition goes on beside that round, by a kernel that leaves room for the product's blocks on every multiprocessor
// and does not make them wait: the later ones do that themselves.
#pragma once

#include "../config.cuh"
#include "../thread/bulk.cuh"
#include "gemm_fp32.cuh"
#include "tensor_map.cuh"

#if !WB_PORTABLE

namespace warpbeam::detail {

template <int kMV, int kNV, int kKV, int kStagesV, int kSplitV = 1>
struct BulkFp32Tile {
  static constexpr int kM = kMV, kN = kNV, kStages = kStagesV;
  static constexpr int kK = kKV;
  static constexpr int kWarpsM = kM / 64, kWarpsN = kN / 64;
  static constexpr int kSplit = kSplitV;
  static constexpr int kThreads = kWarpsM * kWarpsN * kSplit * kWarpSize;
  static constexpr int kThreadM = 8, kThreadN = 16;
  static constexpr int kBytesA = kM * kK * 4, kStageBytes = kBytesA + kK * kN * 4;
  static constexpr int kSumBytes = kSplit > 1 ? kSplit * kM * kN * 4 : 0;
  static constexpr int kShared = kStages * kStageBytes > kSumBytes ? kStages * kStageBytes : kSumBytes;
  // Whether a block joins one of transpose_aside on a multiprocessor: it needs registers, and that few stages that
  // shared memory is enough when it is divided for eight of those. (To ask there for all of it would do as well, but
  // lasts, and takes the first-level cache from the kernels behind: cuBLAS's lost 1 % to 3 %.)
  static constexpr bool kLeavesRoom = kSplit == 1 && kStages * kStageBytes <= 144 << 10;
  static_assert(kThreadM % kSplit == 0 && kK % kSplit == 0, "warps have equal shares");
};

inline constexpr int kFp32Group = 8;  // rows of tiles that one group of blocks has

inline constexpr int kAsideThreads = 256;

// Rows of `in` become columns of `out`; both begin with the first of them. Whatever was started before this kernel has
// ended when the next one starts, but this one has not.
template <int kUnused>
__global__ void __launch_bounds__(kAsideThreads, 2048 / kAsideThreads)
    transpose_aside(const float* __restrict__ in, float* __restrict__ out, long long rows, long long columns,
                    long long in_pitch, long long out_pitch) {
#if WB_BULK_COPY
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  constexpr int kSide = 64, kStep = kAsideThreads / kSide;
  __shared__ float tile[kSide][kSide + 1];
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  const long long tiles_down = ceil_div(rows, static_cast<long long>(kSide));
  const long long tiles = tiles_down * ceil_div(columns, static_cast<long long>(kSide));
  for (long long index = blockIdx.x; index < tiles; index += gridDim.x) {
    const long long row0 = index % tiles_down * kSide, column0 = index / tiles_down * kSide;
    const float* from = in + (row0 + y) * in_pitch + column0 + x;
    float item[kSide / kStep];
#pragma unroll
    for (int i = 0; i < kSide / kStep; ++i, from += kStep * in_pitch)
      if (row0 + y + i * kStep < rows && column0 + x < columns) item[i] = *from;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kSide / kStep; ++i) tile[y + i * kStep][x] = item[i];
    __syncthreads();
    float* to = out + (column0 + y) * out_pitch + row0 + x;
#pragma unroll
    for (int i = 0; i < kSide / kStep; ++i, to += kStep * out_pitch)
      if (column0 + y + i * kStep < columns && row0 + x < rows) *to = tile[x][y + i * kStep];
  }
}

// The rows of A before `ready_rows` are transposed when the kernel starts.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_fp32_bulk(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, Fp32Problem p,
                   int ready_rows, int tiles_m, int tiles_n) {
#if WB_BULK_COPY
  constexpr int kStages = Tile::kStages;
  constexpr int kK = Tile::kK;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ __align__(8) uint64_t full[kStages];

  // Blocks that run together cover a compact region of C, so that they share rows of A and columns of B in the cache.
  constexpr int kGroup = kFp32Group;
  const int group = blockIdx.x / (kGroup * tiles_n);
  const int group_rows = min(kGroup, tiles_m - group * kGroup);
  const int in_group = blockIdx.x - group * kGroup * tiles_n;
  const int m0 = (group * kGroup + in_group % group_rows) * Tile::kM;
  const int n0 = in_group / group_rows * Tile::kN;
  const int slices = static_cast<int>(ceil_div(p.k, static_cast<long long>(kK)));

  auto fetch = [&](int slice) {
    const int stage = slice % kStages;
    unsigned char* to = memory + stage * Tile::kStageBytes;
    bulk::expect(&full[stage], Tile::kStageBytes);
    bulk::load_box(to, &map_a, m0, slice * kK, &full[stage]);
    bulk::load_box(to + Tile::kBytesA, &map_b, n0, slice * kK, &full[stage]);
  };
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) bulk::init(&full[i], 1);
    bulk::fence_init();
    // Nothing else here depends on the transposition in front.
    if (m0 >= ready_rows) cudaGridDependencySynchronize();
    for (int i = 0; i < kStages && i < slices; ++i) fetch(i);
  }
  __syncthreads();

  // The lanes of a warp lie 8 x 4; a thread has 4 x 4 results of each of 2 x 4 parts.
  constexpr int kShareK = kK / Tile::kSplit;
  constexpr int kTileWarps = Tile::kWarpsM * Tile::kWarpsN;
  const int first_k = Tile::kSplit > 1 ? warp_id() / kTileWarps * kShareK : 0;  // of every slice
  const int warp = Tile::kSplit > 1 ? warp_id() % kTileWarps : warp_id();
  const int warp_m = warp / Tile::kWarpsN * 64, warp_n = warp % Tile::kWarpsN * 64;
  const int lane_m = lane_id() / 4 * 4, lane_n = lane_id() % 4 * 4;
  float sum[Tile::kThreadM][Tile::kThreadN] = {};
  float a[2][Tile::kThreadM], b[2][Tile::kThreadN];
  auto read = [&](int buffer, const unsigned char* stage, int k) {
    const float* from_a = reinterpret_cast<const float*>(stage) + (first_k + k) * Tile::kM + warp_m + lane_m;
    const float* from_b = reinterpret_cast<const float*>(stage + Tile::kBytesA) + (first_k + k) * Tile::kN + warp_n + lane_n;
#pragma unroll
    for (int i = 0; i < Tile::kThreadM; i += 4)
      *reinterpret_cast<float4*>(&a[buffer][i]) = *reinterpret_cast<const float4*>(from_a + i * 8);
#pragma unroll
    for (int j = 0; j < Tile::kThreadN; j += 4)
      *reinterpret_cast<float4*>(&b[buffer][j]) = *reinterpret_cast<const float4*>(from_b + j * 4);
  };

  bulk::wait(&full[0], 0);
  read(0, memory, 0);
  for (int slice = 0; slice < slices; ++slice) {
    const int stage = slice % kStages;
    const int next = (slice + 1) % kStages;
    const unsigned char* from = memory + stage * Tile::kStageBytes;
#pragma unroll
    for (int k = 0; k < kShareK; ++k) {
      if (k == kShareK - 1) {
        // What is read from here on belongs to the next slice; behind the last one it is not used.
        if (slice + 1 < slices) bulk::wait(&full[next], (slice + 1) / kStages & 1);
        from = memory + next * Tile::kStageBytes;
      }
      read((k + 1) & 1, from, (k + 1) % kShareK);
      // Up one column and down the next, so that consecutive multiply-adds share a register.
#pragma unroll
      for (int j = 0; j < Tile::kThreadN; ++j)
#pragma unroll
        for (int step = 0; step < Tile::kThreadM; ++step) {
          const int i = j % 2 ? Tile::kThreadM - 1 - step : step;
          sum[i][j] += a[k & 1][i] * b[k & 1][j];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && slice + kStages < slices) fetch(slice + kStages);
  }
  store_split<Tile>(p, m0 + warp_m + lane_m, n0 + warp_n + lane_n, sum, reinterpret_cast<float4*>(memory));
#endif
}

}  // namespace warpbeam::detail

#endif
