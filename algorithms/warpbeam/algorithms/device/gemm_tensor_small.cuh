// The tensor-core product for matrices of which the large tiles are too few to go round: a block makes 64 x 64 or 64 x
// 128 results with one warpgroup, and one more warp keeps its ring of stages full. Clusters that share their operands cost
// more at their start and end than they save (1024^3 in bf16: 9.4 instead of 7.8 us), and so do two warpgroups.
#pragma once

#include "../policy.cuh"
#include "gemm_tensor.cuh"
#include "launch.cuh"

#if !WB_PORTABLE

namespace warpbeam::detail {

template <int kNV>
struct SmallTensorTile {
  static constexpr int kM = 64, kN = kNV;
  static constexpr int kStages = 8;
  static constexpr int kThreads = 128 + kWarpSize;
  static constexpr int kBytesA = kM * TensorTile::kRowBytes;
  static constexpr int kStageBytes = (kM + kN) * TensorTile::kRowBytes;
  static constexpr int kShared = kStages * kStageBytes + 1024;  // swizzled tiles start on 1 KiB
};

template <class Tile, class T, class Out>
__global__ void __launch_bounds__(Tile::kThreads)
    gemm_tensor_small(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, Out* c,
                      TensorProblem p) {
#if WB_WGMMA
  constexpr int kStages = Tile::kStages;
  constexpr int kSliceK = TensorTile::kRowBytes / static_cast<int>(sizeof(T));
  extern __shared__ unsigned char raw[];
  unsigned char* stages = bulk::round_up_shared(raw, 1024);
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    bulk::prefetch_map(&map_a);
    bulk::prefetch_map(&map_b);
    for (int i = 0; i < kStages; ++i) {
      bulk::init(&full[i], 1);
      bulk::init(&empty[i], 4);
    }
    bulk::fence_init();
  }
  __syncthreads();
  const int slices = static_cast<int>(ceil_div(p.k, static_cast<long long>(kSliceK)));
  const int m0 = blockIdx.y * Tile::kM, n0 = blockIdx.x * Tile::kN;
  if (threadIdx.x >= 128) {
    if (lane_id() > 0) return;
    for (int slice = 0; slice < slices; ++slice) {
      const int stage = slice % kStages;
      if (slice >= kStages) bulk::wait(&empty[stage], (slice / kStages - 1) & 1);
      unsigned char* a = stages + stage * Tile::kStageBytes;
      bulk::expect(&full[stage], Tile::kStageBytes);
      bulk::load_box(a, &map_a, slice * kSliceK, m0, &full[stage]);
      bulk::load_box(a + Tile::kBytesA, &map_b, slice * kSliceK, n0, &full[stage]);
    }
    return;
  }
  float d[Tile::kN / 2];
  for (int slice = 0; slice < slices; ++slice) {
    const int stage = slice % kStages;
    bulk::wait(&full[stage], (slice / kStages) & 1);
    const unsigned char* a = stages + stage * Tile::kStageBytes;
    const uint64_t desc_a = wgmma::descriptor(a), desc_b = wgmma::descriptor(a + Tile::kBytesA);
    wgmma::fence();
#pragma unroll
    for (int step = 0; step < TensorTile::kRowBytes / 32; ++step)
      wgmma::multiply<T>(d, desc_a + step * 2, desc_b + step * 2, slice > 0 || step > 0);
    wgmma::commit();
    // The stage before this one has been read once only the newest group is pending, in each of the four warps.
    wgmma::wait<1>();
    if (lane_id() == 0 && slice > 0) bulk::arrive(&empty[(slice - 1) % kStages]);
  }
  wgmma::wait<0>();

  // Two neighbours of each group of eight columns are in a lane.
  const long long row0 = m0 + warp_id() * 16 + lane_id() / 4;
  if (p.wide_stores && row0 - lane_id() / 4 + 16 <= p.m && n0 + Tile::kN <= p.n) {
    store_rows(c + row0 * p.ldc + n0, p.ldc, p.alpha, d);
    return;
  }
#pragma unroll
  for (int i = 0; i < Tile::kN / 2; ++i) {
    const long long row = row0 + i / 2 % 2 * 8;
    const long long column = n0 + lane_id() % 4 * 2 + i / 4 * 8 + i % 2;
    if (row >= p.m || column >= p.n) continue;
    Out* at = c + row * p.ldc + column;
    float value = p.alpha * d[i];
    if (p.beta != 0) value += p.beta * static_cast<float>(*at);
    *at = static_cast<Out>(value);
  }
#endif
}

template <int kN, class T, class Out>
cudaError_t launch_tensor_small(cudaStream_t stream, CUtensorMapDataType type, const T* a, long long lda, const T* b,
                                long long ldb, Out* c, const TensorProblem& p) {
  using Tile = SmallTensorTile<kN>;
  CUtensorMap map_a, map_b;
  WB_RETURN_IF_FAILED(make_tensor_map(&map_a, type, a, sizeof(T), p.m, p.k, lda, Tile::kM));
  WB_RETURN_IF_FAILED(make_tensor_map(&map_b, type, b, sizeof(T), p.n, p.k, ldb, Tile::kN));
  const dim3 grid(static_cast<unsigned>(ceil_div(p.n, static_cast<long long>(Tile::kN))),
                  static_cast<unsigned>(ceil_div(p.m, static_cast<long long>(Tile::kM))));
  auto kernel = gemm_tensor_small<Tile, T, Out>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, Tile::kShared));
  // A multiprocessor changes its division between cache and shared memory only between kernels; most here want it all.
  WB_RETURN_IF_FAILED(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  kernel<<<grid, Tile::kThreads, Tile::kShared, stream>>>(map_a, map_b, c, p);
  return cudaGetLastError();
}

}  // namespace warpbeam::detail

#endif
