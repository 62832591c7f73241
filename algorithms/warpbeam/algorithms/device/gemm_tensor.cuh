// C = alpha A B^T + beta C on the tensor cores: A is m x k, B is n x k, both with contiguous k; bf16 or tf32 operands,
// fp32 accumulation.
//
// The grid is persistent. Two blocks form a cluster that makes 256 x 256 results; each loads its own rows of A and half
// of the common rows of B, which the copy engine delivers to both. In a block one warpgroup only starts copies, and two
// multiply: they wait for a stage, issue its matrix instructions, and release the stage before it to the loaders of
// both blocks.
#pragma once

#include "../policy.cuh"
#include "../thread/vector.cuh"
#include "../thread/wgmma.cuh"
#include "launch.cuh"
#include "tensor_map.cuh"

namespace warpbeam::detail {

inline constexpr int kSliceRowBytes = 128;  // of k in a slice, for each row of A and B
inline constexpr int kSwizzleAlignment = 1024;

// How results of two bytes leave by the copy engine: in boxes of columns of a squad's 64 rows, swizzled.
template <int kN>
struct ResultBoxes {
  static constexpr int kRows = 64, kColumns = kN % 64 == 0 ? 64 : 32;
  static constexpr int kBytes = kRows * kColumns * 2;
  static constexpr int kCount = kN / kColumns;
};

template <int kNV>
struct TensorTile {
  static constexpr int kM = 128, kN = kNV;
  static constexpr int kStages = 4;
  static constexpr int kCluster = 2;
  static constexpr int kConsumers = 2;
  static constexpr int kThreads = 128 * (1 + kConsumers);
  static constexpr int kBytesA = kM * kSliceRowBytes, kBytesB = kN * kSliceRowBytes;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  // There is room for some boxes of results besides the stages; a block's last results take the stages, which nobody
  // needs any more.
  using Boxes = ResultBoxes<kN>;
  static constexpr int kRoomBoxes = 2;
  static constexpr int kOutBytes = kRoomBoxes * Boxes::kBytes;
  static constexpr int kShared = kStages * kStageBytes + kConsumers * kOutBytes + kSwizzleAlignment;
  static_assert(kConsumers * Boxes::kCount * Boxes::kBytes <= kStages * kStageBytes, "the last results take the stages");
};

struct TensorProblem {
  long long m, n, k, ldc;
  float alpha, beta;
  int slices;            // of k
  int pairs_m, tiles_n;  // tiles of a cluster and of C's columns
  bool wide_stores;      // nothing to add, and rows of C start on 16 bytes
};

// All but how C is cut.
template <class T, class Out>
TensorProblem tensor_problem(long long m, long long n, long long k, const Out* c, long long ldc, float alpha, float beta) {
  constexpr long long kSliceK = kSliceRowBytes / sizeof(T);
  const bool wide_stores = beta == 0 && ldc * sizeof(Out) % 16 == 0 && is_aligned(c, 16);
  return {m, n, k, ldc, alpha, beta, static_cast<int>(ceil_div(k, kSliceK)), 0, 0, wide_stores};
}

#if !WB_PORTABLE

template <class Boxes, class Out>
cudaError_t make_box_map(CUtensorMap* map, Out* c, const TensorProblem& p) {
  return make_swizzled_map(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, c, sizeof(Out), p.m, p.n, p.ldc, Boxes::kRows,
                           Boxes::kColumns * static_cast<int>(sizeof(Out)));
}

// Clusters that run together cover a compact region of C.
template <class Tile>
__device__ int2 cluster_tile(const TensorProblem& p, unsigned index) {
  constexpr unsigned kGroup = 8;
  const unsigned tiles_n = static_cast<unsigned>(p.tiles_n);
  const unsigned group = index / (kGroup * tiles_n);
  const unsigned group_rows = min(kGroup, p.pairs_m - group * kGroup);
  const unsigned in_group = index - group * kGroup * tiles_n;
  return {static_cast<int>((group * kGroup + in_group % group_rows) * Tile::kM * Tile::kCluster),
          static_cast<int>(in_group / group_rows * Tile::kN)};
}

// Lets the copy engine take the results of a squad away, box by box, by way of `room` for kRoom boxes, which come there
// in turn. What it takes beyond the matrix's edge does not arrive.
template <class Out, int kRoom, int kSums>
__device__ void store_boxes(const CUtensorMap* map, int column0, int row0, unsigned char* room, int squad, float alpha,
                            const float (&d)[kSums]) {
#if WB_WGMMA
  using Boxes = ResultBoxes<kSums * 2>;
  constexpr int kChunks = Boxes::kColumns / 8;  // of 16 bytes, in a row of a box
  const bool leader = threadIdx.x % 128 == 0;
  // Of the four 8 x 8 parts that leave at once, this lane names a row of one.
  const int part = lane_id() / 8;
  const int row = warp_id() % 4 * 16 + lane_id() % 8 + part % 2 * 8;
  const int swizzle = row * kChunks / 8 % kChunks;
#pragma unroll
  for (int box = 0; box < Boxes::kCount; ++box) {
    unsigned char* to = room + box % kRoom * Boxes::kBytes;
    if (kRoom < Boxes::kCount) {
      // The tile before may have ended anywhere in the room.
      if (leader) box == 0 ? bulk::wait_read<0>() : bulk::wait_read<kRoom - 1>();
      bulk::squad_sync<128>(1 + squad);
    }
#pragma unroll
    for (int j = 0; j < kChunks; j += 2) {
      unsigned word[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = (box * kChunks + j) * 4 + i * 2;
        const Vector<Out, 2> pair{static_cast<Out>(alpha * d[at]), static_cast<Out>(alpha * d[at + 1])};
        __builtin_memcpy(&word[i], &pair, 4);
      }
      const int chunk = j + part / 2;
      wgmma::store_parts(to + row * Boxes::kColumns * 2 + (chunk ^ swizzle) * 16, word);
    }
    bulk::fence_proxy();
    bulk::squad_sync<128>(1 + squad);
    if (leader) {
      bulk::store_box(map, column0 + box * Boxes::kColumns, row0, to);
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

// Stores a squad's results without the copy engine: 64 rows from `row0`.
template <int kSums, class Out>
__device__ void store_sums(Out* c, const TensorProblem& p, long long row0, long long column0, const float (&d)[kSums]) {
  const long long warp_row = row0 + warp_id() % 4 * 16;
  const long long row = warp_row + lane_id() / 4;
  if (p.wide_stores && warp_row + 16 <= p.m && column0 + kSums * 2 <= p.n) {
    store_rows(c + row * p.ldc + column0, p.ldc, p.alpha, d);
    return;
  }
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    const long long to_row = row + i / 2 % 2 * 8;
    const long long to_column = column0 + lane_id() % 4 * 2 + i / 4 * 8 + i % 2;
    if (to_row >= p.m || to_column >= p.n) continue;
    Out* at = c + to_row * p.ldc + to_column;
    float value = p.alpha * d[i];
    if (p.beta != 0) value += p.beta * static_cast<float>(*at);
    *at = static_cast<Out>(value);
  }
}

template <class Tile, class T, class Out>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_tensor(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                const __grid_constant__ CUtensorMap map_c, Out* c, TensorProblem p) {
#if WB_WGMMA
  constexpr int kStages = Tile::kStages;
  constexpr int kSliceK = kSliceRowBytes / static_cast<int>(sizeof(T));
  extern __shared__ unsigned char raw[];
  unsigned char* stages = bulk::round_up_shared(raw, kSwizzleAlignment);
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const unsigned rank = wgmma::cluster_rank();
  const int slices = p.slices;
  const unsigned tiles = static_cast<unsigned>(p.pairs_m) * p.tiles_n;
  const unsigned clusters = gridDim.x / Tile::kCluster;
  const unsigned first_tile = blockIdx.x / Tile::kCluster;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      bulk::init(&full[i], 1);
      bulk::init(&empty[i], Tile::kCluster * Tile::kConsumers);
    }
    bulk::fence_init();
  } else if (threadIdx.x == kWarpSize) {
    bulk::prefetch_map(&map_a);
    bulk::prefetch_map(&map_b);
  }
  int2 place = cluster_tile<Tile>(p, first_tile);
  wgmma::cluster_sync();

  const int group = threadIdx.x / 128;
  constexpr bool kBoxes = sizeof(Out) == 2;
  if (group == 0) {
    wgmma::give_registers<40>();
    if (threadIdx.x == 0) {
      unsigned stage = 0, phase = 1;
      for (unsigned tile = first_tile; tile < tiles; tile += clusters) {
        if (tile != first_tile) place = cluster_tile<Tile>(p, tile);
        for (int slice = 0; slice < slices; ++slice) {
          bulk::wait(&empty[stage], phase);
          unsigned char* a = stages + stage * Tile::kStageBytes;
          unsigned char* b = a + Tile::kBytesA + rank * (Tile::kBytesB / Tile::kCluster);
          bulk::expect(&full[stage], Tile::kStageBytes);
          bulk::load_box(a, &map_a, slice * kSliceK, place.x + rank * Tile::kM, &full[stage]);
          wgmma::load_box_to(b, &map_b, slice * kSliceK, place.y + rank * (Tile::kN / Tile::kCluster), &full[stage], 3);
          if (++stage == kStages) stage = 0, phase ^= 1;
        }
      }
    }
    __syncwarp();
    wgmma::cluster_arrive();
  } else {
    wgmma::take_registers<232>();
    const int consumer = group - 1;
    const int thread = threadIdx.x % 128;
    float d[Tile::kN / 2];
    unsigned stage = 0, phase = 0;
    auto release = [&](unsigned stage) {
      if (thread < Tile::kCluster) wgmma::arrive_at(&empty[stage], thread);
    };
    for (unsigned tile = first_tile; tile < tiles; tile += clusters) {
      if (tile != first_tile) place = cluster_tile<Tile>(p, tile);
      unsigned before = 0;
      for (int slice = 0; slice < slices; ++slice) {
        bulk::wait(&full[stage], phase);
        unsigned char* a = stages + stage * Tile::kStageBytes + consumer * (Tile::kBytesA / Tile::kConsumers);
        const uint64_t desc_a = wgmma::descriptor(a);
        const uint64_t desc_b = wgmma::descriptor(stages + stage * Tile::kStageBytes + Tile::kBytesA);
        wgmma::fence();
#pragma unroll
        for (int step = 0; step < kSliceRowBytes / 32; ++step)
          wgmma::multiply<T>(d, desc_a + step * 2, desc_b + step * 2, slice > 0 || step > 0);
        wgmma::commit();
        // The stage before this one has been read once only the newest group is pending.
        wgmma::wait<1>();
        if (slice > 0) release(before);
        before = stage;
        if (++stage == kStages) stage = 0, phase ^= 1;
      }
      wgmma::wait<0>();
      release(before);
      const bool last = tile + clusters >= tiles;
      if (last) wgmma::cluster_arrive();

      const int row0 = place.x + rank * Tile::kM + consumer * 64;
      if (kBoxes && p.wide_stores) {
        if (last) {
          bulk::squad_sync<128 * Tile::kConsumers>(1 + Tile::kConsumers);
          constexpr int kAll = Tile::Boxes::kCount;
          store_boxes<Out, kAll>(&map_c, place.y, row0, stages + consumer * kAll * Tile::Boxes::kBytes, consumer, p.alpha, d);
        } else {
          unsigned char* room = stages + kStages * Tile::kStageBytes + consumer * Tile::kOutBytes;
          store_boxes<Out, Tile::kRoomBoxes>(&map_c, place.y, row0, room, consumer, p.alpha, d);
        }
      } else {
        store_sums(c, p, row0, place.y, d);
      }
    }
  }
  // No block may leave while the other can still deliver to it or arrive at its barriers, nor before its results are read.
  wgmma::cluster_wait();
  if (kBoxes && group > 0 && threadIdx.x % 128 == 0) bulk::wait_read<0>();
#endif
}

// The blocks of each cluster make kM rows each of the same columns; no more clusters than multiprocessors for them.
template <class Tile, class T, class Out>
cudaError_t launch_tensor(const Policy& policy, const DeviceTraits& device, CUtensorMapDataType type, const T* a,
                          long long lda, const T* b, long long ldb, Out* c, TensorProblem p) {
  CUtensorMap map_a, map_b, map_c = {};
  WB_RETURN_IF_FAILED(make_swizzled_map(&map_a, type, a, sizeof(T), p.m, p.k, lda, Tile::kM));
  WB_RETURN_IF_FAILED(make_swizzled_map(&map_b, type, b, sizeof(T), p.n, p.k, ldb, Tile::kN / Tile::kCluster));
  if (sizeof(Out) == 2 && p.wide_stores)
    WB_RETURN_IF_FAILED(make_box_map<typename Tile::Boxes>(&map_c, c, p));
  p.pairs_m = static_cast<int>(ceil_div(p.m, static_cast<long long>(Tile::kM * Tile::kCluster)));
  p.tiles_n = static_cast<int>(ceil_div(p.n, static_cast<long long>(Tile::kN)));
  auto kernel = gemm_tensor<Tile, T, Out>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, Tile::kShared));
  const long long clusters = static_cast<long long>(p.pairs_m) * p.tiles_n;
  if (clusters > INT32_MAX) return cudaErrorInvalidValue;
  const long long most = device.multiprocessors / Tile::kCluster;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = Tile::kCluster;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((clusters < most ? clusters : most) * Tile::kCluster));
  config.blockDim = dim3(Tile::kThreads);
  config.dynamicSmemBytes = Tile::kShared;
  config.stream = policy.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, map_a, map_b, map_c, c, p);
}

#endif

}  // namespace warpbeam::detail
