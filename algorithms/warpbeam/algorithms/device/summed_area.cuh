// Summed-area tables (integral images), and box filters of any size on top of them.
//
// One pass: every pixel is read once and every sum written once. A tile scans itself in registers, publishes its own
// column and row sums, and then needs three things: the column sums of everything above it, the row sums of everything
// to its left, and the sum of everything above and left. All three come by look-back. Tiles are handed out along
// anti-diagonals, where the neighbours were handed out a whole diagonal earlier and are usually done. On Hopper, images
// about as wide as 128 pixels for each multiprocessor go faster in strips.
#pragma once

#include "../config.cuh"
#include "../policy.cuh"
#include "../thread/vector.cuh"
#include "../warp/shuffle.cuh"
#include "launch.cuh"
#include "summed_area_strips.cuh"
#include "tickets.cuh"

namespace warpbeam {

template <int kWarpsV = 8, int kRowsV = 16, int kBlocksV = 2>
struct SummedAreaTuning {
  static constexpr int kWarps = kWarpsV;
  static constexpr int kRows = kRowsV;      // image rows per warp
  static constexpr int kBlocks = kBlocksV;  // blocks per multiprocessor
  static constexpr int kThreads = kWarps * kWarpSize;
  static constexpr int kPerLane = 4;
  static constexpr int kWidth = kWarpSize * kPerLane;
  static constexpr int kHeight = kWarps * kRows;
};

namespace detail {

// How many tiles lie on the anti-diagonals before number `diagonal`.
__host__ __device__ inline long long tiles_before(long long diagonal, long long rows, long long columns) {
  long long shorter = rows < columns ? rows : columns;
  long long longer = rows < columns ? columns : rows;
  if (diagonal <= shorter) return diagonal * (diagonal + 1) / 2;
  if (diagonal <= longer) return shorter * (shorter + 1) / 2 + (diagonal - shorter) * shorter;
  long long rest = rows + columns - 1 - diagonal;
  return rows * columns - rest * (rest + 1) / 2;
}

// Besides its column and row sums a tile publishes its corner; two words keep tiles aligned.
inline constexpr int kCornerWords = 2;

struct TilePlace {
  int row, column;
};

__device__ inline TilePlace place_on_diagonal(long long ticket, int rows, int columns) {
  int low = 0, high = rows + columns - 1;  // before(low) <= ticket < before(high)
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (tiles_before(middle, rows, columns) <= ticket) {
      low = middle;
    } else {
      high = middle;
    }
  }
  int within = static_cast<int>(ticket - tiles_before(low, rows, columns));
  int column = (low < rows ? 0 : low - rows + 1) + within;
  return {low - column, column};
}

// A value and its status, read and written as one word.
template <class Acc>
__device__ void publish_sum(unsigned long long* to, TileStatus status, Acc value) {
  static_assert(sizeof(Acc) == 4, "sums of four bytes");
  unsigned bits;
  __builtin_memcpy(&bits, &value, 4);
  *static_cast<volatile unsigned long long*>(to) = static_cast<unsigned long long>(status) << 32 | bits;
}

// Adds up `count` words, the nearest first, `step` words apart, until one includes all before it. With kFixedOrder only
// finished sums are taken, so that the order of additions does not depend on timing.
template <bool kFixedOrder, class Acc>
__device__ Acc gather_sums(const unsigned long long* nearest, long long step, int count) {
  constexpr int kAhead = kFixedOrder ? 1 : 2;
  Acc sum{};
  for (int first = 0; first < count; first += kAhead) {
    unsigned long long word[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
      word[i] = *static_cast<const volatile unsigned long long*>(nearest - min(first + i, count - 1) * step);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (first + i >= count) break;
      constexpr unsigned kLeast = static_cast<unsigned>(kFixedOrder ? TileStatus::inclusive : TileStatus::aggregate);
      while (word[i] >> 32 < kLeast) {
        word[i] = *static_cast<const volatile unsigned long long*>(nearest - (first + i) * step);
      }
      unsigned bits = static_cast<unsigned>(word[i]);
      Acc value;
      __builtin_memcpy(&value, &bits, 4);
      sum += value;
      if (word[i] >> 32 == static_cast<unsigned>(TileStatus::inclusive)) return sum;
    }
  }
  return sum;
}

template <class Tuning, bool kAligned, bool kFixedOrder, class T, class Acc>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    summed_area_tiles(const T* in, Acc* out, long long width, long long height, long long in_pitch,
                      long long out_pitch, unsigned long long* words, unsigned* ticket, int tile_rows,
                      int tile_columns) {
  constexpr int kRows = Tuning::kRows;
  constexpr int kWarps = Tuning::kWarps;
  constexpr int kWidth = Tuning::kWidth;
  constexpr int kHeight = Tuning::kHeight;
  constexpr int kPerLane = Tuning::kPerLane;
  constexpr int kWordsPerTile = kWidth + kHeight + kCornerWords;
  using InVec = Vector<T, kPerLane>;
  using AccVec = Vector<Acc, kPerLane>;
  __shared__ TilePlace place_shared;
  __shared__ AccVec slab_bottom[kWarps][kWarpSize];
  __shared__ Acc left[kHeight];
  __shared__ __align__(16) Acc above[kWidth];
  __shared__ Acc right[kHeight];
  __shared__ Acc corner;

#if WB_BULK_COPY
  cudaGridDependencySynchronize();
#endif
  if (threadIdx.x == 0) place_shared = place_on_diagonal(atomicAdd(ticket, 1), tile_rows, tile_columns);
  __syncthreads();
  const TilePlace place = place_shared;
  const long long x0 = static_cast<long long>(place.column) * kWidth + lane_id() * kPerLane;
  const long long y0 = static_cast<long long>(place.row) * kHeight + warp_id() * kRows;

  Acc sum[kRows][kPerLane];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    InVec pixels{};
    if (y0 + r < height) {
      const T* from = in + (y0 + r) * in_pitch + x0;
      if (kAligned && x0 + kPerLane <= width) {
        pixels = *reinterpret_cast<const InVec*>(from);
      } else {
#pragma unroll
        for (int c = 0; c < kPerLane; ++c)
          if (x0 + c < width) pixels.item[c] = from[c];
      }
    }
#pragma unroll
    for (int c = 0; c < kPerLane; ++c) sum[r][c] = static_cast<Acc>(pixels.item[c]);
  }

  // Along each row, then down the warp's rows.
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int c = 1; c < kPerLane; ++c) sum[r][c] += sum[r][c - 1];
    Acc through = sum[r][kPerLane - 1];
#pragma unroll
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
      Acc other = __shfl_up_sync(kFullWarp, through, distance);
      if (lane_id() >= distance) through += other;
    }
    Acc before = __shfl_up_sync(kFullWarp, through, 1);
    if (lane_id() > 0) {
#pragma unroll
      for (int c = 0; c < kPerLane; ++c) sum[r][c] += before;
    }
    if (r > 0) {
#pragma unroll
      for (int c = 0; c < kPerLane; ++c) sum[r][c] += sum[r - 1][c];
    }
  }
  AccVec bottom;
#pragma unroll
  for (int c = 0; c < kPerLane; ++c) bottom.item[c] = sum[kRows - 1][c];
  slab_bottom[warp_id()][lane_id()] = bottom;
  __syncthreads();
  AccVec over{};
  for (int w = 0; w < warp_id(); ++w) {
    AccVec slab = slab_bottom[w][lane_id()];
#pragma unroll
    for (int c = 0; c < kPerLane; ++c) over.item[c] += slab.item[c];
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r)
#pragma unroll
    for (int c = 0; c < kPerLane; ++c) sum[r][c] += over.item[c];
  if (lane_id() == kWarpSize - 1) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) right[warp_id() * kRows + r] = sum[r][kPerLane - 1];
  }
  // The last warp holds the tile's bottom row, which the chain downwards waits for.
  if (warp_id() == kWarps - 1) {
#pragma unroll
    for (int c = 0; c < kPerLane; ++c) above[lane_id() * kPerLane + c] = sum[kRows - 1][c];
  }
  __syncthreads();

  unsigned long long* mine = words + (static_cast<long long>(place.row) * tile_columns + place.column) * kWordsPerTile;
  const long long row_step = static_cast<long long>(tile_columns) * kWordsPerTile;
  for (int i = threadIdx.x; i < kWidth + kHeight; i += Tuning::kThreads)
    publish_sum<Acc>(mine + i, TileStatus::aggregate, i < kWidth ? above[i] : right[i - kWidth]);
  for (int i = threadIdx.x; i < kWidth + kHeight; i += Tuning::kThreads) {
    const bool down = i < kWidth;
    Acc value = gather_sums<kFixedOrder, Acc>(mine - (down ? row_step : kWordsPerTile) + i, down ? row_step : kWordsPerTile,
                                              down ? place.row : place.column);
    Acc local = down ? above[i] : right[i - kWidth];
    publish_sum<Acc>(mine + i, TileStatus::inclusive, value + local);
    if (down) {
      above[i] = value;
      // The sum of a whole column of tiles is this tile's part of the corner sums of its row.
      if (i == kWidth - 1) publish_sum<Acc>(mine + kWidth + kHeight, TileStatus::aggregate, value + local);
    } else {
      left[i - kWidth] = value;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    Acc value{};
    if (place.row > 0)
      value = gather_sums<kFixedOrder, Acc>(mine - row_step - kWordsPerTile + kWidth + kHeight, kWordsPerTile, place.column);
    publish_sum<Acc>(mine + kWidth + kHeight, TileStatus::inclusive,
                     value + above[kWidth - 1] + left[kHeight - 1] + right[kHeight - 1]);
    corner = value;
  }
  __syncthreads();

  AccVec column_sums = *reinterpret_cast<AccVec*>(&above[lane_id() * kPerLane]);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (y0 + r >= height) break;
    Acc row_sum = left[warp_id() * kRows + r] + corner;
    AccVec result;
#pragma unroll
    for (int c = 0; c < kPerLane; ++c) result.item[c] = sum[r][c] + column_sums.item[c] + row_sum;
    Acc* to = out + (y0 + r) * out_pitch + x0;
    if (kAligned && x0 + kPerLane <= width) {
      store_streaming<Acc, kPerLane>(to, result);
    } else {
#pragma unroll
      for (int c = 0; c < kPerLane; ++c)
        if (x0 + c < width) to[c] = result.item[c];
    }
  }
}

}  // namespace detail

// out[y][x] = sum of in over all rows <= y and columns <= x. Pitches are in elements; zero means rows without gaps.
template <class Tuning = SummedAreaTuning<>, class T, class Acc>
cudaError_t summed_area_table(const Policy& policy, const T* in, Acc* out, long long width, long long height,
                              long long in_pitch = 0, long long out_pitch = 0) {
  static_assert(sizeof(Acc) == 4, "sums of four bytes");
  if (width < 0 || height < 0) return cudaErrorInvalidValue;
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  if (in_pitch == 0) in_pitch = width;
  if (out_pitch == 0) out_pitch = width;
#if !WB_PORTABLE && !defined(WARPBEAM_ORDINARY_STORES)
  // How strips are cut depends on the device, and with it the order of additions.
  if constexpr (std::is_same_v<Tuning, SummedAreaTuning<>> && std::is_arithmetic_v<T>) {
    using StripsOf = StripTuning<sizeof(T) == sizeof(Acc) ? 13 : 10>;
    const detail::Strips strips =
        width > 0 && height > 0 ? detail::cut_into_strips<StripsOf>(device, in, out, width, height, in_pitch, out_pitch)
                                : detail::Strips{};
    if (strips.count > 0 && !policy.deterministic && sizeof(T) <= sizeof(Acc))
      return detail::summed_area_by_strips<StripsOf>(policy, strips, in, out, width, height, in_pitch, out_pitch);
  }
#endif
  long long columns = ceil_div(width, static_cast<long long>(Tuning::kWidth));
  long long rows = ceil_div(height, static_cast<long long>(Tuning::kHeight));
  if (columns * rows > INT32_MAX) return cudaErrorInvalidValue;
  Workspace workspace(policy);
  size_t word_bytes = columns * rows * (Tuning::kWidth + Tuning::kHeight + detail::kCornerWords) * sizeof(unsigned long long);
  size_t words_at = workspace.reserve(word_bytes);
  size_t ticket_at = workspace.reserve(sizeof(unsigned));
  WB_ACQUIRE(workspace);
  if (width == 0 || height == 0) return cudaSuccess;
  auto* words = workspace.template at<unsigned long long>(words_at);
  unsigned* ticket = workspace.template at<unsigned>(ticket_at);
  WB_RETURN_IF_FAILED(detail::clear_states(words, word_bytes, ticket, 1, policy.stream));
  constexpr int kPerLane = Tuning::kPerLane;
  bool aligned = is_aligned(in, sizeof(T) * kPerLane) && is_aligned(out, 16) && in_pitch % kPerLane == 0 &&
                 out_pitch % kPerLane == 0;
  auto choose = [&](auto fixed) {
    constexpr bool kFixed = decltype(fixed)::value;
    return aligned ? detail::summed_area_tiles<Tuning, true, kFixed, T, Acc>
                   : detail::summed_area_tiles<Tuning, false, kFixed, T, Acc>;
  };
  constexpr bool kFloating = std::is_floating_point_v<Acc>;
  auto kernel = choose(std::false_type{});
  if constexpr (kFloating) {
    if (policy.deterministic) kernel = choose(std::true_type{});
  }
  return launch(kernel, static_cast<unsigned>(rows * columns), Tuning::kThreads, 0, policy.stream,
                device.level != CodeLevel::portable, in, out, width, height, in_pitch, out_pitch, words, ticket,
                static_cast<int>(rows), static_cast<int>(columns));
}

namespace detail {

template <int kThreads, class Acc, class Out>
__global__ void __launch_bounds__(kThreads)
    box_from_table(const Acc* table, Out* out, long long width, long long height, long long pitch, long long out_pitch,
                   int radius_x, int radius_y) {
  const long long x = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (x >= width) return;
  const long long x_low = x - radius_x - 1;
  const long long x_high = min(x + radius_x, width - 1);
  for (long long y = blockIdx.y; y < height; y += gridDim.y) {
    const long long y_low = y - radius_y - 1;
    const long long y_high = min(y + radius_y, height - 1);
    Acc sum = table[y_high * pitch + x_high];
    if (x_low >= 0) sum -= table[y_high * pitch + x_low];
    if (y_low >= 0) sum -= table[y_low * pitch + x_high];
    if (x_low >= 0 && y_low >= 0) sum += table[y_low * pitch + x_low];
    long long area = (x_high - max(x_low, -1LL)) * (y_high - max(y_low, -1LL));
    out[y * out_pitch + x] = static_cast<Out>(static_cast<float>(sum) / static_cast<float>(area));
  }
}

}  // namespace detail

// The mean over the (2 radius_x + 1) x (2 radius_y + 1) window of each pixel, cut at the image's edges, from the image's
// summed-area table: the same cost for every radius.
template <class Acc, class Out>
cudaError_t box_filter_from_table(const Policy& policy, const Acc* table, Out* out, long long width, long long height,
                                  int radius_x, int radius_y, long long table_pitch = 0, long long out_pitch = 0) {
  Workspace workspace(policy);
  WB_ACQUIRE(workspace);
  if (width < 0 || height < 0 || radius_x < 0 || radius_y < 0) return cudaErrorInvalidValue;
  if (width == 0 || height == 0) return cudaSuccess;
  constexpr int kThreads = 256;
  dim3 grid(static_cast<unsigned>(ceil_div(width, static_cast<long long>(kThreads))),
            static_cast<unsigned>(height < 65535 ? height : 65535));
  detail::box_from_table<kThreads><<<grid, kThreads, 0, policy.stream>>>(
      table, out, width, height, table_pitch ? table_pitch : width, out_pitch ? out_pitch : width, radius_x, radius_y);
  return cudaGetLastError();
}

}  // namespace warpbeam
