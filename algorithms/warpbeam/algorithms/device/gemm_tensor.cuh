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
  static constexpr int kShared = kStages * kStageBytes + 1024;  // swizzled tiles start on 1 KiB
};

struct TensorProblem {
  long long m, n, k, ldc;
  float alpha, beta;
  int pairs_m, tiles_n;  // tiles of a cluster and of C's columns
  bool wide_stores;      // nothing to add, and rows of C start on 16 bytes
};

#if !WB_PORTABLE

// Clusters that run together cover a compact region of C.
__device__ inline void cluster_tile(const TensorProblem& p, long long index, long long* m0, long long* n0) {
  constexpr int kGroup = 8;
  long long group = index / (kGroup * p.tiles_n);
  long long group_rows = min(static_cast<long long>(kGroup), p.pairs_m - group * kGroup);
  long long in_group = index - group * kGroup * p.tiles_n;
  *m0 = (group * kGroup + in_group % group_rows) * TensorTile::kM * TensorTile::kCluster;
  *n0 = in_group / group_rows * TensorTile::kN;
}

// The matrix instructions leave two neighbours of each group of eight columns in a lane, four lanes to a group.
// Exchanged among the four, 16 bytes lie together, and what a warp stores at once fills whole sectors. `to` is the
// start of the lane's first row.
template <class Out>
__device__ void store_rows(Out* to, long long ldc, float alpha, const float (&d)[128]) {
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
      for (int j = 0; j < 32; j += 4) {
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
      for (int j = 0; j < 32; j += 2) {
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
    gemm_tensor(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, Out* c,
                TensorProblem p) {
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
  }
  wgmma::cluster_sync();

  const int group = threadIdx.x / 128;
  const int slices = static_cast<int>(ceil_div(p.k, static_cast<long long>(kSliceK)));
  const long long tiles = static_cast<long long>(p.pairs_m) * p.tiles_n;
  const long long clusters = gridDim.x / Tile::kCluster;
  if (group == 0) {
    wgmma::give_registers<24>();
    if (threadIdx.x == 0) {
      unsigned round = 0;
      for (long long tile = blockIdx.x / Tile::kCluster; tile < tiles; tile += clusters) {
        long long m0, n0;
        cluster_tile(p, tile, &m0, &n0);
        for (int slice = 0; slice < slices; ++slice, ++round) {
          const unsigned stage = round % kStages;
          bulk::wait(&empty[stage], (round / kStages & 1) ^ 1);
          unsigned char* a = stages + stage * Tile::kStageBytes;
          unsigned char* b = a + Tile::kBytesA + rank * (Tile::kBytesB / 2);
          bulk::expect(&full[stage], Tile::kStageBytes);
          bulk::load_box(a, &map_a, slice * kSliceK, static_cast<int>(m0) + rank * Tile::kM, &full[stage]);
          wgmma::load_box_to(b, &map_b, slice * kSliceK, static_cast<int>(n0) + rank * (Tile::kN / 2), &full[stage], 3);
        }
      }
    }
  } else {
    wgmma::take_registers<240>();
    const int consumer = group - 1;
    const int thread = threadIdx.x % 128;
    float d[128];
    unsigned round = 0;
    auto release = [&](unsigned stage) {
      if (thread < Tile::kCluster) wgmma::arrive_at(&empty[stage], thread);
    };
    for (long long tile = blockIdx.x / Tile::kCluster; tile < tiles; tile += clusters) {
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

      long long m0, n0;
      cluster_tile(p, tile, &m0, &n0);
      const long long row0 = m0 + rank * Tile::kM + consumer * 64 + thread / kWarpSize * 16 + lane_id() / 4;
      if (p.wide_stores && row0 - lane_id() / 4 + 16 <= p.m && n0 + Tile::kN <= p.n) {
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
  // No block may leave while the other can still deliver to it or arrive at its barriers.
  wgmma::cluster_sync();
#endif
}

#endif

}  // namespace warpbeam::detail
