// Which form of the tensor-core product a matrix gets: the one that should take the least time, by what each form took on
// a device with 132 multiprocessors.
#pragma once

#include "gemm_tensor.cuh"
#include "gemm_tensor_once.cuh"

namespace warpbeam::detail {

// What the forms need of a block's shared memory.
inline constexpr int kTensorShared = 226 << 10;

#if !WB_PORTABLE

template <class T, class Out>
using TensorLaunch = cudaError_t (*)(const Policy&, const DeviceTraits&, CUtensorMapDataType, const T*, long long, const T*,
                                     long long, Out*, TensorProblem);

template <class Tile, class T, class Out>
constexpr TensorLaunch<T, Out> tensor_launch() {
  if constexpr (Tile::kCluster > 1) {
    return launch_tensor<Tile, T, Out>;
  } else {
    return launch_tensor_once<Tile, T, Out>;
  }
}

// In nanoseconds: before anything is multiplied, for each tile, and for each of its slices of k.
struct TensorCost {
  long long start, tile, slice;
};

template <class T, class Visit>
void each_tensor_form(Visit visit) {
  visit(OnceTile<1, 32>{}, TensorCost{3900, 1050, 185});
  visit(OnceTile<1, 64>{}, TensorCost{3900, 1250, 200});
  visit(OnceTile<1, 96>{}, TensorCost{3900, 1260, 200});
  visit(OnceTile<1, 128>{}, TensorCost{3900, 1450, 212});
  visit(OnceTile<2, 96>{}, TensorCost{3900, 1400, 280});
  visit(OnceTile<2, 128>{}, TensorCost{3900, 1600, 340});
  visit(OnceTile<2, 160>{}, TensorCost{3900, 1400, 430});
  visit(OnceTile<2, 192>{}, TensorCost{3900, 1700, 480});
  visit(OnceTile<2, 224>{}, TensorCost{3900, 1600, 570});
  visit(OnceTile<2, 256>{}, TensorCost{3900, 1600, 660});
  // Of 4-byte operands narrower tiles need more than memory has.
  constexpr bool kWide = sizeof(T) == 4;
  visit(TensorTile<192>{}, TensorCost{4300, 1200, kWide ? 520 : 486});
  visit(TensorTile<224>{}, TensorCost{4300, 1200, kWide ? 610 : 570});
  visit(TensorTile<256>{}, TensorCost{4300, 1200, 660});
}

template <class T, class Out>
TensorLaunch<T, Out> fastest_tensor_form(const TensorProblem& p, long long multiprocessors) {
  TensorLaunch<T, Out> fastest = nullptr;
  long long least = INT64_MAX;
  each_tensor_form<T>([&](auto tile, TensorCost cost) {
    using Tile = decltype(tile);
    constexpr long long kRows = Tile::kM * Tile::kCluster;
    const long long tiles = ceil_div(p.m, kRows) * ceil_div(p.n, static_cast<long long>(Tile::kN));
    const long long rounds = ceil_div(tiles, multiprocessors / Tile::kCluster);
    // Without persistent blocks nothing cares in which order tiles use the cache. The grid has tiles of rows in y.
    constexpr long long kMostRounds = 2, kMostTilesOfRows = 65535;
    if (Tile::kCluster == 1 && (rounds > kMostRounds || p.m > kMostTilesOfRows * kRows)) return;
    const long long time = cost.start + rounds * (cost.tile + p.slices * cost.slice);
    if (time < least) least = time, fastest = tensor_launch<Tile, T, Out>();
  });
  return fastest;
}

#endif

}  // namespace warpbeam::detail
