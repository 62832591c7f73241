// What scans and compactions of an input share that is so small that one tile for every multiprocessor covers it.
// Nothing could overlap with the next tile, so the items go straight to registers, and what counts is how few steps
// follow one another: load, combine, tell the others, ask all tiles in front at once, store.
//
// Tiles are numbered like blocks, which start in the order of their numbers, so a tile only waits for others that run.
// (A ticket, as larger inputs take it, would be one more step.) Portable builds do without these kernels, of which every
// call would compile three.
#pragma once

#include <algorithm>

#include "../config.cuh"
#include "../thread/vector.cuh"

namespace warpbeam::detail {

// How an input is cut so that every multiprocessor has one tile. More than kHandyThreads make a block slower to start
// and to bring together than more rows for each warp do.
struct OneRound {
  static constexpr int kLeastThreads = 128, kHandyThreads = 512, kMostThreads = 1024;
  static constexpr int kMostTiles = 1024;
  int rows = 0;  // of each warp; none where the input is too large
  int threads = 0, tiles = 0;
};

template <class T>
OneRound one_round(long long count, int multiprocessors) {
  const long long vectors = ceil_div(count, static_cast<long long>(kVectorItems<T>));
  const long long share = ceil_div(vectors, static_cast<long long>(std::min(multiprocessors, OneRound::kMostTiles)));
  OneRound shape;
  if (share > 4 * OneRound::kMostThreads) return shape;
  shape.rows = share <= OneRound::kHandyThreads ? 1 : share <= 2 * OneRound::kHandyThreads ? 2 : 4;
  const int threads = static_cast<int>(round_up(ceil_div(share, static_cast<long long>(shape.rows)), kWarpSize));
  shape.threads = std::max(threads, OneRound::kLeastThreads);
  shape.tiles = static_cast<int>(ceil_div(vectors, static_cast<long long>(shape.threads) * shape.rows));
  return shape;
}

// A row is what a warp reads at once: a 16-byte vector per lane. `first` is where this lane's part of the first row
// lies. What lies behind the end of the input may have any valid value, since nothing in front of it depends on it.
template <int kRows, class T>
__device__ void load_rows(const T* in, long long first, long long count, Vector<T, kVectorItems<T>> (&row)[kRows]) {
  constexpr int kVec = kVectorItems<T>;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const long long at = first + r * kWarpSize * kVec;
    if (at + kVec <= count) row[r] = *reinterpret_cast<const Vector<T, kVec>*>(in + at);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const long long at = first + r * kWarpSize * kVec;
    if (at + kVec <= count) continue;
#pragma unroll
    for (int i = 0; i < kVec; ++i) row[r].item[i] = in[at + i < count ? at + i : count - 1];
  }
}

template <class T>
__device__ void store_row(T* out, long long at, long long count, const Vector<T, kVectorItems<T>>& row) {
  constexpr int kVec = kVectorItems<T>;
  if (at + kVec <= count) {
    *reinterpret_cast<Vector<T, kVec>*>(out + at) = row;
    return;
  }
#pragma unroll
  for (int i = 0; i < kVec; ++i)
    if (at + i < count) out[at + i] = row.item[i];
}

}  // namespace warpbeam::detail
