// C = alpha A B^T + beta C on the tensor cores: A is m x k, B is n x k, both with contiguous k; bf16 or tf32 operands,
// fp32 accumulation.
//
// The grid is persistent. Two blocks form a cluster that makes 256 x 256 results; each loads its own rows of A and half
// of the common rows of B, which the copy engine delivers to both. In a block one warpgroup only starts copies, and two
// multiply: they wait for a stage, issue its matrix instructions, and release the stage before it to the loaders of
// both blocks.
#pragma once

#include "../thread/vector.cuh"
#include "../thread/wgmma.cuh"
#include "tensor_map.cuh"

namespace warpbeam::detail {

struct TensorTile {
  static constexpr int kM = 128, kN = 256;
  static constexpr int kRowBytes = 128;  // of k per slice
  static constexpr int kStages = 4;
  static constexpr int kCluster = 2;
  static constexpr int kConsumers = 2;
  static constexpr int kThreads = 128 * (1 + kConsumers);
  static constexpr int kBytesA = kM * kRowBytes, kBytesB = kN * kRowBytes;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  // Results of two bytes leave by the copy engine, from room for half the columns of a warpgroup's rows.
  static constexpr int kOutColumns = kN / 2, kBoxColumns = 64;
  static constexpr int kOutBytes = kM / kConsumers * kOutColumns * 2;
  static constexpr int kShared = kStages * kStageBytes + kConsumers * kOutBytes + 1024;  // swizzled tiles start on 1 KiB
};

struct TensorProblem {
  long long m, n, k, ldc;
  float alpha, beta;
  int pairs_m, tiles_n;  // tiles of a cluster and of C's columns
  bool wide_stores;      // nothing to add, and rows of C start on 16 bytes
};

#if !WB_PORTABLE

// Clusters that run together cover a compact region of C.
__device__ inline int2 cluster_tile(const TensorProblem& p, unsigned index) {
  constexpr unsigned kGroup = 8;
  const unsigned tiles_n = static_cast<unsigned>(p.tiles_n);
  const unsigned group = index / (kGroup * tiles_n);
  const unsigned group_rows = min(kGroup, p.pairs_m - group * kGroup);
  const unsigned in_group = index - group * kGroup * tiles_n;
  return {static_cast<int>((group * kGroup + in_group % group_rows) * TensorTile::kM * TensorTile::kCluster),
          static_cast<int>(in_group / group_rows * TensorTile::kN)};
}

// Lets the copy engine take a warpgroup's 64 x 256 results of two bytes away, half of the columns at a time, by way of
// `room` in boxes of 64 columns, swizzled. What it takes beyond the matrix's edge does not arrive.
template <class Out>
__device__ void store_boxes(const CUtensorMap* map, int column0, int row0, unsigned char* room, int consumer, float alpha,
                            const float (&d)[128]) {
#if WB_WGMMA
  using Tile = TensorTile;
  constexpr int kRows = Tile::kM / Tile::kConsumers, kBoxBytes = kRows * Tile::kBoxColumns * 2;
  const bool leader = threadIdx.x % 128 == 0;
  // Of the four 8 x 8 parts that leave at once, this lane names a row of one.
  const int part = lane_id() / 8;
  const int row = warp_id() % 4 * 16 + lane_id() % 8 + part % 2 * 8;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (leader) bulk::wait_read<0>();
    bulk::squad_sync<128>(1 + consumer);
#pragma unroll
    for (int j = 0; j < Tile::kOutColumns / 8; j += 2) {
      unsigned word[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = (half * Tile::kOutColumns / 8 + j) * 4 + i * 2;
        const Vector<Out, 2> pair{static_cast<Out>(alpha * d[at]), static_cast<Out>(alpha * d[at + 1])};
        __builtin_memcpy(&word[i], &pair, 4);
      }
      const int chunk = j + part / 2;  // of 8 columns
      unsigned char* to = room + chunk / 8 * kBoxBytes + row * 128 + ((chunk % 8 ^ row % 8) * 16);
      wgmma::store_parts(to, word);
    }
    bulk::fence_proxy();
    bulk::squad_sync<128>(1 + consumer);
    if (leader) {
#pragma unroll
      for (int box = 0; box < Tile::kOutColumns / Tile::kBoxColumns; ++box)
        bulk::store_box(map, column0 + half * Tile::kOutColumns + box * Tile::kBoxColumns, row0, room + box * kBoxBytes);
      bulk::commit();
    }
  }
#endif
}

// The matrix instructions leave two neighbours of each group of eight columns in a lane, four lanes to a group.
// Exchanged among the four, 16 bytes lie together, and what a warp stores at once fills whole sectors. `to` is the
// start of the lane's first row.
template <int kSums, class Out>
__device__ void store_rows(Out* to, long long ldc, float alpha, const float (&d)[kSums]) {
  const int quarter = lane_id() % 4;
  auto swap = [&](unsigned& a, unsigned& b, int mask) {
    const bool high = quarter & mask;
    const unsigned received = __shfl_xor_sync(kFullWarp, high ? a : b, mask);
    (high ? a : b) = received;
  };
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if constexpr (sizeof(Out) == 2) {
#pragma unroll
      for (int j = 0; j < kSums / 4; j += 4) {
        unsigned word[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const Vector<Out, 2> pair{static_cast<Out>(alpha * d[(j + i) * 4 + half * 2]),
                                    static_cast<Out>(alpha * d[(j + i) * 4 + half * 2 + 1])};
          __builtin_memcpy(&word[i], &pair, 4);
        }
        swap(word[0], word[1], 1), swap(word[2], word[3], 1);
        swap(word[0], word[2], 2), swap(word[1], word[3], 2);
        *reinterpret_cast<uint4*>(to + half * 8 * ldc + (j + quarter) * 8) =
            make_uint4(word[0], word[1], word[2], word[3]);
      }
    } else {
#pragma unroll
      for (int j = 0; j < kSums / 4; j += 2) {
        unsigned word[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) word[i] = __float_as_uint(alpha * d[(j + i / 2) * 4 + half * 2 + i % 2]);
        swap(word[0], word[2], 1), swap(word[1], word[3], 1);
        *reinterpret_cast<uint4*>(to + half * 8 * ldc + (j + quarter % 2) * 8 + quarter / 2 * 4) =
            make_uint4(word[0], word[1], word[2], word[3]);
      }
    }
  }
}

template <class T, class Out>
__global__ void __launch_bounds__(TensorTile::kThreads, 1)
    gemm_tensor(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                const __grid_constant__ CUtensorMap map_c, Out* c, TensorProblem p) {
#if WB_WGMMA
  using Tile = TensorTile;
  constexpr int kStages = Tile::kStages;
  constexpr int kSliceK = Tile::kRowBytes / static_cast<int>(sizeof(T));
  extern __shared__ unsigned char raw[];
  unsigned char* stages = bulk::round_up_shared(raw, 1024);
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const unsigned rank = wgmma::cluster_rank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      bulk::init(&full[i], 1);
      bulk::init(&empty[i], Tile::kCluster * Tile::kConsumers);
    }
    bulk::fence_init();
    bulk::prefetch_map(&map_a);
    bulk::prefetch_map(&map_b);
  }
  wgmma::cluster_sync();

  const int group = threadIdx.x / 128;
  const int slices = static_cast<int>(ceil_div(p.k, static_cast<long long>(kSliceK)));
  const unsigned tiles = static_cast<unsigned>(p.pairs_m) * p.tiles_n;
  const unsigned clusters = gridDim.x / Tile::kCluster;
  constexpr bool kBoxes = sizeof(Out) == 2;
  if (group == 0) {
    wgmma::give_registers<40>();
    if (threadIdx.x == 0) {
      unsigned round = 0;
      for (unsigned tile = blockIdx.x / Tile::kCluster; tile < tiles; tile += clusters) {
        const int2 place = cluster_tile(p, tile);
        for (int slice = 0; slice < slices; ++slice, ++round) {
          const unsigned stage = round % kStages;
          bulk::wait(&empty[stage], (round / kStages & 1) ^ 1);
          unsigned char* a = stages + stage * Tile::kStageBytes;
          unsigned char* b = a + Tile::kBytesA + rank * (Tile::kBytesB / 2);
          bulk::expect(&full[stage], Tile::kStageBytes);
          bulk::load_box(a, &map_a, slice * kSliceK, place.x + rank * Tile::kM, &full[stage]);
          wgmma::load_box_to(b, &map_b, slice * kSliceK, place.y + rank * (Tile::kN / 2), &full[stage], 3);
        }
      }
    }
    __syncwarp();
    wgmma::cluster_arrive();
  } else {
    wgmma::take_registers<232>();
    const int consumer = group - 1;
    const int thread = threadIdx.x % 128;
    float d[128];
    unsigned round = 0;
    auto release = [&](unsigned stage) {
      if (thread < Tile::kCluster) wgmma::arrive_at(&empty[stage], thread);
    };
    for (unsigned tile = blockIdx.x / Tile::kCluster; tile < tiles; tile += clusters) {
      const int2 place = cluster_tile(p, tile);
      for (int slice = 0; slice < slices; ++slice, ++round) {
        const unsigned stage = round % kStages;
        bulk::wait(&full[stage], round / kStages & 1);
        unsigned char* a = stages + stage * Tile::kStageBytes + consumer * (Tile::kBytesA / Tile::kConsumers);
        const uint64_t desc_a = wgmma::descriptor(a);
        const uint64_t desc_b = wgmma::descriptor(stages + stage * Tile::kStageBytes + Tile::kBytesA);
        wgmma::fence();
#pragma unroll
        for (int step = 0; step < Tile::kRowBytes / 32; ++step)
          wgmma::multiply<T>(d, desc_a + step * 2, desc_b + step * 2, slice > 0 || step > 0);
        wgmma::commit();
        // The stage before this one has been read once only the newest group is pending.
        wgmma::wait<1>();
        if (slice > 0) release((round - 1) % kStages);
      }
      wgmma::wait<0>();
      release((round - 1) % kStages);
      if (tile + clusters >= tiles) wgmma::cluster_arrive();

      const long long n0 = place.y;
      const long long row0 = place.x + rank * Tile::kM + consumer * 64 + thread / kWarpSize * 16 + lane_id() / 4;
      if (kBoxes && p.wide_stores) {
        unsigned char* room = stages + kStages * Tile::kStageBytes + consumer * Tile::kOutBytes;
        store_boxes<Out>(&map_c, place.y, place.x + rank * Tile::kM + consumer * 64, room, consumer, p.alpha, d);
        continue;
      }
      if (!kBoxes && p.wide_stores && row0 - lane_id() / 4 + 16 <= p.m && n0 + Tile::kN <= p.n) {
        store_rows(c + row0 * p.ldc + n0, p.ldc, p.alpha, d);
        continue;
      }
#pragma unroll
      for (int i = 0; i < 128; ++i) {
        const long long row = row0 + i / 2 % 2 * 8;
        const long long column = n0 + lane_id() % 4 * 2 + i / 4 * 8 + i % 2;
        if (row < p.m && column < p.n) {
          Out* at = c + row * p.ldc + column;
          float value = p.alpha * d[i];
          if (p.beta != 0) value += p.beta * static_cast<float>(*at);
          *at = static_cast<Out>(value);
        }
      }
    }
  }
  // No block may leave while the other can still deliver to it or arrive at its barriers, nor before its results are read.
  wgmma::cluster_wait();
  if (kBoxes && group > 0 && threadIdx.x % 128 == 0) bulk::wait_read<0>();
#endif
}

#endif

}  // namespace warpbeam::detail
