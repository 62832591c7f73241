// The tensor-core product with a block for each tile, for matrices that make no more than a few tiles for each
// multiprocessor: one or two squads of a warpgroup make 64 rows of results each, and one more warp keeps the block's ring
// of stages full. Such products are bound by latency, so everything that needs no waiting comes first: one thread prepares
// the barriers and starts the first copies before anything else happens, and nothing is worked out that the grid's own
// coordinates say: instructions that run once come from far away. Clusters that share their operands gain nothing here.
#pragma once

#include "gemm_tensor.cuh"

#if !WB_PORTABLE

namespace warpbeam::detail {

template <int kSquadsV, int kNV>
struct OnceTile {
  static constexpr int kCluster = 1, kSquads = kSquadsV;
  static constexpr int kM = 64 * kSquads, kN = kNV;
  static constexpr int kThreads = 128 * kSquads + kWarpSize;
  static constexpr int kBytesA = kM * kSliceRowBytes;
  static constexpr int kStageBytes = kBytesA + kN * kSliceRowBytes;
  static constexpr int kMost = 226 << 10;
  static constexpr int kFit = (kMost - kSwizzleAlignment) / kStageBytes;
  static constexpr int kStages = kFit < 8 ? kFit : 8;
  static constexpr int kShared = kStages * kStageBytes + kSwizzleAlignment;
  using Boxes = ResultBoxes<kN>;
  static_assert(kSquads * Boxes::kCount * Boxes::kBytes <= kStages * kStageBytes, "the boxes take the place of the stages");
};

template <class Tile, class T, class Out>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_tensor_once(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                     const __grid_constant__ CUtensorMap map_c, Out* c, TensorProblem p) {
#if WB_WGMMA
  constexpr int kStages = Tile::kStages;
  constexpr int kSliceK = kSliceRowBytes / static_cast<int>(sizeof(T));
  extern __shared__ unsigned char raw[];
  unsigned char* stages = bulk::round_up_shared(raw, kSwizzleAlignment);
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const int m0 = blockIdx.y * Tile::kM, n0 = blockIdx.x * Tile::kN;
  const int slices = p.slices;
  const bool loads = threadIdx.x == 128 * Tile::kSquads;
  auto load = [&](int slice, int stage) {
    unsigned char* a = stages + stage * Tile::kStageBytes;
    bulk::expect(&full[stage], Tile::kStageBytes);
    bulk::load_box(a, &map_a, slice * kSliceK, m0, &full[stage]);
    bulk::load_box(a + Tile::kBytesA, &map_b, slice * kSliceK, n0, &full[stage]);
  };
  if (loads) {
    for (int i = 0; i < kStages; ++i) bulk::init(&full[i], 1);
    for (int i = 0; i < kStages; ++i) bulk::init(&empty[i], 4 * Tile::kSquads);
    bulk::fence_init();
    load(0, 0);
  }
  __syncthreads();
  if (threadIdx.x >= 128 * Tile::kSquads) {
    if (!loads) return;
    for (int slice = 1, stage = 1, phase = 1; slice < slices; ++slice) {
      if (slice >= kStages) bulk::wait(&empty[stage], phase);
      load(slice, stage);
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
    return;
  }
  const int squad = threadIdx.x / 128;
  float d[Tile::kN / 2];
  int stage = 0, phase = 0, before = 0;
  for (int slice = 0; slice < slices; ++slice) {
    bulk::wait(&full[stage], phase);
    const unsigned char* a = stages + stage * Tile::kStageBytes;
    const uint64_t desc_a = wgmma::descriptor(a + squad * (64 * kSliceRowBytes));
    const uint64_t desc_b = wgmma::descriptor(a + Tile::kBytesA);
    wgmma::fence();
#pragma unroll
    for (int step = 0; step < kSliceRowBytes / 32; ++step)
      wgmma::multiply<T>(d, desc_a + step * 2, desc_b + step * 2, slice > 0 || step > 0);
    wgmma::commit();
    // The stage before this one has been read once only the newest group is pending, in each of the four warps.
    wgmma::wait<1>();
    if (lane_id() == 0 && slice > 0) bulk::arrive(&empty[before]);
    before = stage;
    if (++stage == kStages) stage = 0, phase ^= 1;
  }
  wgmma::wait<0>();
  const int row0 = m0 + squad * 64;
  const bool whole = m0 + Tile::kM <= p.m && n0 + Tile::kN <= p.n;
  if (sizeof(Out) == 2 && p.wide_stores && (Tile::kSquads > 1 || !whole)) {
    // Once all squads are done with the stages, the boxes take their place.
    bulk::squad_sync<128 * Tile::kSquads>(1 + Tile::kSquads);
    constexpr int kAll = Tile::Boxes::kCount;
    store_boxes<Out, kAll>(&map_c, n0, row0, stages + squad * kAll * Tile::Boxes::kBytes, squad, p.alpha, d);
    if (threadIdx.x % 128 == 0) bulk::wait_read<0>();
  } else {
    store_sums(c, p, row0, n0, d);
  }
#endif
}

template <class Tile, class T, class Out>
cudaError_t launch_tensor_once(const Policy& policy, const DeviceTraits&, CUtensorMapDataType type, const T* a,
                               long long lda, const T* b, long long ldb, Out* c, TensorProblem p) {
  CUtensorMap map_a, map_b, map_c = {};
  WB_RETURN_IF_FAILED(make_swizzled_map(&map_a, type, a, sizeof(T), p.m, p.k, lda, Tile::kM));
  WB_RETURN_IF_FAILED(make_swizzled_map(&map_b, type, b, sizeof(T), p.n, p.k, ldb, Tile::kN));
  if (sizeof(Out) == 2 && p.wide_stores)
    WB_RETURN_IF_FAILED(make_box_map<typename Tile::Boxes>(&map_c, c, p));
  const dim3 grid(static_cast<unsigned>(ceil_div(p.n, static_cast<long long>(Tile::kN))),
                  static_cast<unsigned>(ceil_div(p.m, static_cast<long long>(Tile::kM))));
  auto kernel = gemm_tensor_once<Tile, T, Out>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, Tile::kShared));
  // A multiprocessor changes its division between cache and shared memory only between kernels; most here want it all.
  WB_RETURN_IF_FAILED(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  kernel<<<grid, Tile::kThreads, Tile::kShared, policy.stream>>>(map_a, map_b, map_c, c, p);
  return cudaGetLastError();
}

}  // namespace warpbeam::detail

#endif
