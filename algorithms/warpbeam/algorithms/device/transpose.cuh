// Transposition of matrices of any shape with elements of 1 to 16 bytes, batched, and in place for square ones.
//
// A block carries one square tile through shared memory, so that both its reads and its writes are whole lines. A padded
// row keeps the column reads free of bank conflicts.
#pragma once

#include "../config.cuh"
#include "../policy.cuh"
#include "launch.cuh"

namespace warpbeam {

template <int kRowsV, int kColumnsV, int kThreadsV>
struct TransposeTuning {
  static constexpr int kRows = kRowsV;        // of the tile read
  static constexpr int kColumns = kColumnsV;
  static constexpr int kThreads = kThreadsV;
};

namespace detail {

// The tile's element at (row, column) lies at row * kPitch + column; kPitch is odd for elements of a word, so that a
// column's elements fall into different banks.
template <class Tuning, class T>
__global__ void __launch_bounds__(Tuning::kThreads)
    transpose_tiles(const T* in, T* out, long long rows, long long columns, long long in_pitch, long long out_pitch,
                    unsigned tile_columns) {
  constexpr int kRows = Tuning::kRows;
  constexpr int kColumns = Tuning::kColumns;
  constexpr int kThreads = Tuning::kThreads;
  constexpr int kPitch = kColumns + 1;
  constexpr int kPerRow = kThreads / kColumns;     // rows read at once
  constexpr int kPerColumn = kThreads / kRows;     // columns written at once
  static_assert(kThreads % kRows == 0 && kThreads % kColumns == 0, "threads cover whole rows and columns of a tile");
  extern __shared__ __align__(16) unsigned char memory[];
  T* tile = reinterpret_cast<T*>(memory);

  in += static_cast<long long>(blockIdx.y) * rows * in_pitch;
  out += static_cast<long long>(blockIdx.y) * columns * out_pitch;
  const long long row0 = static_cast<long long>(blockIdx.x / tile_columns) * kRows;
  const long long column0 = static_cast<long long>(blockIdx.x % tile_columns) * kColumns;

  const int read_column = threadIdx.x % kColumns;
  const int read_row = threadIdx.x / kColumns;
  const int write_row = threadIdx.x % kRows;
  const int write_column = threadIdx.x / kRows;
  const T* from = in + (row0 + read_row) * in_pitch + column0 + read_column;
  T* to = out + (column0 + write_column) * out_pitch + row0 + write_row;
  if (row0 + kRows <= rows && column0 + kColumns <= columns) {
    T item[kRows / kPerRow];
#pragma unroll
    for (int i = 0; i < kRows / kPerRow; ++i) item[i] = from[static_cast<long long>(i) * kPerRow * in_pitch];
#pragma unroll
    for (int i = 0; i < kRows / kPerRow; ++i) tile[(read_row + i * kPerRow) * kPitch + read_column] = item[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kColumns / kPerColumn; ++i)
      to[static_cast<long long>(i) * kPerColumn * out_pitch] = tile[write_row * kPitch + write_column + i * kPerColumn];
    return;
  }
  for (int i = 0; i < kRows; i += kPerRow) {
    if (row0 + read_row + i < rows && column0 + read_column < columns)
      tile[(read_row + i) * kPitch + read_column] = from[i * in_pitch];
  }
  __syncthreads();
  for (int i = 0; i < kColumns; i += kPerColumn) {
    if (row0 + write_row < rows && column0 + write_column + i < columns)
      to[i * out_pitch] = tile[write_row * kPitch + write_column + i];
  }
}

// Square and in place: a block exchanges the two tiles that mirror each other.
template <int kSide, class T>
__global__ void __launch_bounds__(kSide * 8) transpose_square(T* matrix, long long side, long long pitch) {
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int kPitch = kSide + 1;
  T* upper = reinterpret_cast<T*>(memory);
  T* lower = upper + kSide * kPitch;
  if (blockIdx.x < blockIdx.y) return;
  matrix += static_cast<long long>(blockIdx.z) * side * pitch;
  const int x = threadIdx.x % kSide;
  const int y0 = threadIdx.x / kSide;
  const long long column0 = static_cast<long long>(blockIdx.x) * kSide;
  const long long row0 = static_cast<long long>(blockIdx.y) * kSide;
  const bool mirrored = blockIdx.x != blockIdx.y;
  for (int y = y0; y < kSide; y += 8) {
    if (row0 + y < side && column0 + x < side) upper[y * kPitch + x] = matrix[(row0 + y) * pitch + column0 + x];
    if (mirrored && column0 + y < side && row0 + x < side)
      lower[y * kPitch + x] = matrix[(column0 + y) * pitch + row0 + x];
  }
  __syncthreads();
  for (int y = y0; y < kSide; y += 8) {
    if (column0 + y < side && row0 + x < side) matrix[(column0 + y) * pitch + row0 + x] = upper[x * kPitch + y];
    if (mirrored && row0 + y < side && column0 + x < side)
      matrix[(row0 + y) * pitch + column0 + x] = lower[x * kPitch + y];
  }
}

template <class T>
using DefaultTransposeTuning =
    std::conditional_t<(sizeof(T) > 8), TransposeTuning<32, 32, 256>, TransposeTuning<64, 64, 512>>;

}  // namespace detail

// out[c][r] = in[r][c] for each of `batch` matrices that follow one another. Pitches are in elements, at least the row
// lengths; zero means rows without gaps. `in` and `out` do not overlap.
template <class Tuning = void, class T>
cudaError_t transpose(const Policy& policy, const T* in, T* out, long long rows, long long columns, int batch = 1,
                      long long in_pitch = 0, long long out_pitch = 0) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16, "elements of up to 16 bytes");
  using Chosen = std::conditional_t<std::is_void_v<Tuning>, detail::DefaultTransposeTuning<T>, Tuning>;
  Workspace workspace(policy);
  WB_ACQUIRE(workspace);
  if (rows < 0 || columns < 0 || batch < 0 || batch > 65535) return cudaErrorInvalidValue;
  if (rows == 0 || columns == 0 || batch == 0) return cudaSuccess;
  long long tile_rows = ceil_div(rows, static_cast<long long>(Chosen::kRows));
  long long tile_columns = ceil_div(columns, static_cast<long long>(Chosen::kColumns));
  if (tile_rows * tile_columns > INT32_MAX) return cudaErrorInvalidValue;
  auto kernel = detail::transpose_tiles<Chosen, T>;
  constexpr size_t kShared = Chosen::kRows * (Chosen::kColumns + 1) * sizeof(T);
  WB_RETURN_IF_FAILED(allow_shared(kernel, kShared));
  dim3 grid(static_cast<unsigned>(tile_rows * tile_columns), batch);
  kernel<<<grid, Chosen::kThreads, kShared, policy.stream>>>(in, out, rows, columns, in_pitch ? in_pitch : columns,
                                                            out_pitch ? out_pitch : rows,
                                                            static_cast<unsigned>(tile_columns));
  return cudaGetLastError();
}

template <class T>
cudaError_t transpose_in_place(const Policy& policy, T* matrix, long long side, int batch = 1, long long pitch = 0) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16, "elements of up to 16 bytes");
  Workspace workspace(policy);
  WB_ACQUIRE(workspace);
  constexpr int kSide = 32;
  if (side < 0 || batch < 0 || batch > 65535) return cudaErrorInvalidValue;
  if (side == 0 || batch == 0) return cudaSuccess;
  unsigned tiles = static_cast<unsigned>(ceil_div(side, static_cast<long long>(kSide)));
  if (tiles > 65535) return cudaErrorInvalidValue;
  constexpr size_t kShared = 2 * kSide * (kSide + 1) * sizeof(T);
  detail::transpose_square<kSide, T>
      <<<dim3(tiles, tiles, batch), kSide * 8, kShared, policy.stream>>>(matrix, side, pitch ? pitch : side);
  return cudaGetLastError();
}

}  // namespace warpbeam
