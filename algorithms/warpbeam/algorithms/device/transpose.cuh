// Transposition of matrices of any shape with elements of 1 to 16 bytes, batched, and in place for square ones.
//
// A block carries one tile through shared memory, so that both its reads and its writes are long runs. An odd pitch
// keeps the column reads free of bank conflicts. Three things more bring it near the speed of a copy:
//   - tiles follow one another downwards, so that what is written at one time lies together in memory;
//   - a warp reads and writes 256 bytes of a row at once where rows consist of whole vectors of eight bytes;
//   - where rows of the result do not start on a sector boundary, each row of a tile is shifted to the next boundary,
//     at the price of a few rows more read: no sector is then written in two halves.
#pragma once

#include <algorithm>

#include "../config.cuh"
#include "../policy.cuh"
#include "../thread/vector.cuh"
#include "launch.cuh"
#include "transpose_bulk.cuh"

namespace warpbeam {

template <int kRowsV, int kColumnsV, int kThreadsV, int kBoundaryV>
struct TransposeTuning {
  static constexpr int kRows = kRowsV;  // of the tile read: the length of the runs written
  static constexpr int kColumns = kColumnsV;
  static constexpr int kThreads = kThreadsV;
  static constexpr int kBoundary = kBoundaryV;  // bytes to which runs are shifted when rows do not start evenly
};

namespace detail {

// A block per tile: rows of tiles in the grid's x, columns in y, matrices in z. kHalo extra rows are read so that row c
// of the result can start up to kHalo - 1 elements later.
template <class Tuning, int kHalo, class T>
__global__ void __launch_bounds__(Tuning::kThreads)
    transpose_tiles(const T* __restrict__ in, T* __restrict__ out, long long rows, long long columns,
                    long long in_pitch, long long out_pitch, long long in_step, long long out_step) {
  constexpr int kRows = Tuning::kRows;
  constexpr int kColumns = Tuning::kColumns;
  constexpr int kThreads = Tuning::kThreads;
  constexpr int kPitch = kColumns + 1;
  constexpr int kReadRows = kRows + kHalo;
  constexpr int kRowStep = kThreads / kColumns;  // rows read at once
  constexpr int kColumnStep = kThreads / kRows;  // columns written at once
  constexpr int kReads = (kReadRows + kRowStep - 1) / kRowStep;
  static_assert(kThreads % kRows == 0 && kThreads % kColumns == 0, "threads cover whole rows and columns of a tile");
  extern __shared__ __align__(128) unsigned char memory[];
  T* tile = reinterpret_cast<T*>(memory);

  in += blockIdx.z * in_step;
  out += blockIdx.z * out_step;
  const int read_column = threadIdx.x % kColumns;
  const int read_row = threadIdx.x / kColumns;
  const int write_row = threadIdx.x % kRows;
  const int write_column = threadIdx.x / kRows;
  const long long row0 = static_cast<long long>(blockIdx.x) * kRows;
  const long long column0 = static_cast<long long>(blockIdx.y) * kColumns;
  const bool inside = row0 + kReadRows <= rows && column0 + kColumns <= columns;

  const T* from = in + (row0 + read_row) * in_pitch + column0 + read_column;
  T* const put = tile + read_row * kPitch + read_column;
  T item[kReads];
#pragma unroll
  for (int i = 0; i < kReads; ++i) {
    const bool of_tile = kReadRows % kRowStep == 0 || read_row + i * kRowStep < kReadRows;
    if (of_tile && (inside || (row0 + read_row + i * kRowStep < rows && column0 + read_column < columns)))
      item[i] = *from;
    from += kRowStep * in_pitch;
  }
#pragma unroll
  for (int i = 0; i < kReads; ++i)
    if (kReadRows % kRowStep == 0 || read_row + i * kRowStep < kReadRows) put[i * kRowStep * kPitch] = item[i];
  __syncthreads();

  // How far each row of the result is shifted changes by the same amount from step to step.
  T* to = out + (column0 + write_column) * out_pitch + row0 + write_row;
  const T* const take = tile + write_row * kPitch + write_column;
  const long long step = kColumnStep * out_pitch;
  int shift = 0;
  const int turn = kHalo ? static_cast<int>(step % (kHalo ? kHalo : 1)) : 0;
  if constexpr (kHalo > 0)
    shift = static_cast<int>(0 - reinterpret_cast<uintptr_t>(to - write_row) / sizeof(T)) & (kHalo - 1);
  if (inside && (kHalo == 0 || row0 > 0)) {
#pragma unroll
    for (int i = 0; i < kColumns / kColumnStep; ++i) {
      to[shift] = take[shift * kPitch + i * kColumnStep];
      to += step;
      if constexpr (kHalo > 0) shift = (shift - turn) & (kHalo - 1);
    }
    return;
  }
  for (int i = 0; i < kColumns / kColumnStep; ++i) {
    if (column0 + write_column + i * kColumnStep < columns) {
      // Elements before the first boundary belong to the tile above; the first tile has nobody above.
      if (row0 == 0 && write_row < shift && write_row < rows) *to = take[i * kColumnStep];
      if (row0 + write_row + shift < rows) to[shift] = take[shift * kPitch + i * kColumnStep];
    }
    to += step;
    if constexpr (kHalo > 0) shift = (shift - turn) & (kHalo - 1);
  }
}

// Both matrices consist of whole vectors: threads read and write kVec elements at once. Element i of a row or column of
// the tile lies at place(i), so that what the threads of a warp touch at one time is in different banks. Sides and
// pitches are ints, since wider arithmetic costs 2 % to 4 %.
template <class Tuning, int kVec, class T>
__global__ void __launch_bounds__(Tuning::kThreads)
    transpose_vectors(const T* __restrict__ in, T* __restrict__ out, int rows, int columns, int in_pitch, int out_pitch,
                      long long in_step, long long out_step) {
  constexpr int kRows = Tuning::kRows;
  constexpr int kColumns = Tuning::kColumns;
  constexpr int kPitch = kColumns + 1;
  constexpr int kReaders = kColumns / kVec, kWriters = kRows / kVec;  // threads side by side
  constexpr int kRowStep = Tuning::kThreads / kReaders;               // rows read at once
  constexpr int kColumnStep = Tuning::kThreads / kWriters;            // columns written at once
  static_assert(kRows % kRowStep == 0 && kColumns % kColumnStep == 0, "threads cover whole rows and columns of a tile");
  using Elements = Vector<T, kVec>;
  extern __shared__ __align__(128) unsigned char memory[];
  T* tile = reinterpret_cast<T*>(memory);
  auto place = [](int i, int side) { return i % kVec * (side / kVec) + i / kVec; };

  const int read_column = threadIdx.x % kReaders, read_row = threadIdx.x / kReaders;
  const int write_row = threadIdx.x % kWriters, write_column = threadIdx.x / kWriters;
  const int row0 = blockIdx.x * kRows, column0 = blockIdx.y * kColumns;
  const bool inside = rows - row0 >= kRows && columns - column0 >= kColumns;

  const int column = column0 + read_column * kVec;
  const T* from = in + blockIdx.z * in_step + static_cast<size_t>(row0 + read_row) * in_pitch + column;
  Elements read[kRows / kRowStep];
#pragma unroll
  for (int i = 0; i < kRows / kRowStep; ++i)
    if (inside || (read_row + i * kRowStep < rows - row0 && column < columns))
      read[i] = *reinterpret_cast<const Elements*>(from + static_cast<size_t>(i) * kRowStep * in_pitch);
#pragma unroll
  for (int i = 0; i < kRows / kRowStep; ++i)
#pragma unroll
    for (int j = 0; j < kVec; ++j)
      tile[place(read_row + i * kRowStep, kRows) * kPitch + j * kReaders + read_column] = read[i].item[j];
  __syncthreads();

  const int row = row0 + write_row * kVec;
  T* to = out + blockIdx.z * out_step + static_cast<size_t>(column0 + write_column) * out_pitch + row;
#pragma unroll
  for (int i = 0; i < kColumns / kColumnStep; ++i) {
    const int c = write_column + i * kColumnStep;
    Elements written;
#pragma unroll
    for (int j = 0; j < kVec; ++j) written.item[j] = tile[(j * kWriters + write_row) * kPitch + place(c, kColumns)];
    if (inside || (row < rows && c < columns - column0))
      *reinterpret_cast<Elements*>(to + static_cast<size_t>(i) * kColumnStep * out_pitch) = written;
  }
}

// Square and in place: a block exchanges the two tiles that mirror each other.
template <int kSide, class T>
__global__ void __launch_bounds__(kSide * 8) transpose_square(T* matrix, long long side, long long pitch) {
  extern __shared__ __align__(128) unsigned char memory[];
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
    std::conditional_t<(sizeof(T) > 8), TransposeTuning<32, 32, 256, 32>, TransposeTuning<64, 64, 512, 32>>;

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
  const long long tile_rows = ceil_div(rows, static_cast<long long>(Chosen::kRows));
  const long long tile_columns = ceil_div(columns, static_cast<long long>(Chosen::kColumns));
  if (tile_rows > INT32_MAX) return cudaErrorInvalidValue;
  // A result whose rows all start on a sector needs no shifting, and very large elements gain nothing from it.
  constexpr int kSector = 32;
  constexpr int kHalo = sizeof(T) <= 8 ? Chosen::kBoundary / static_cast<int>(sizeof(T)) : 0;
  if (in_pitch == 0) in_pitch = columns;
  if (out_pitch == 0) out_pitch = rows;
  bool even = kHalo == 0 || (reinterpret_cast<uintptr_t>(out) % kSector == 0 && out_pitch * sizeof(T) % kSector == 0);
  auto kernel = even ? detail::transpose_tiles<Chosen, 0, T> : detail::transpose_tiles<Chosen, kHalo, T>;
  size_t shared = static_cast<size_t>(Chosen::kRows + (even ? 0 : kHalo)) * (Chosen::kColumns + 1) * sizeof(T);
  constexpr long long kMost = 65535;  // columns of tiles that a launch takes, by the size of the grid's y
  // Smaller elements than four bytes would meet in the banks, larger ones make long enough accesses.
  constexpr int kVec = 2;
  if constexpr (sizeof(T) == 4 && kVec * Chosen::kThreads <= Chosen::kRows * Chosen::kColumns) {
    auto whole = [](const T* matrix, long long side, long long pitch) {
      return is_aligned(matrix, kVec * sizeof(T)) && side % kVec == 0 && pitch % kVec == 0 &&
             pitch < INT32_MAX - Chosen::kRows;
    };
    if (even && tile_columns <= kMost && whole(in, columns, in_pitch) && whole(out, rows, out_pitch)) {
      const dim3 grid(static_cast<unsigned>(tile_rows), static_cast<unsigned>(tile_columns), batch);
      detail::transpose_vectors<Chosen, kVec, T><<<grid, Chosen::kThreads, shared, policy.stream>>>(
          in, out, static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(in_pitch),
          static_cast<int>(out_pitch), rows * in_pitch, columns * out_pitch);
      return cudaGetLastError();
    }
  }
  WB_RETURN_IF_FAILED(allow_shared(kernel, shared));
  for (long long first = 0; first < tile_columns; first += kMost) {
    const dim3 grid(static_cast<unsigned>(tile_rows), static_cast<unsigned>(std::min(kMost, tile_columns - first)),
                    batch);
    const long long column = first * Chosen::kColumns;
    kernel<<<grid, Chosen::kThreads, shared, policy.stream>>>(in + column, out + column * out_pitch, rows,
                                                              columns - column, in_pitch, out_pitch, rows * in_pitch,
                                                              columns * out_pitch);
    WB_RETURN_IF_FAILED(cudaGetLastError());
  }
  return cudaSuccess;
}

#if !WB_PORTABLE
// 4-byte elements whose rows start on 16 bytes, one matrix.
template <class Tuning = BulkTransposeTuning<128, 64, 256>>
cudaError_t transpose_bulk(const Policy& policy, const unsigned* in, unsigned* out, long long rows, long long columns,
                           long long in_pitch, long long out_pitch) {
  CUtensorMap map_in, map_out;
  constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  WB_RETURN_IF_FAILED(detail::make_swizzled_map(&map_in, kType, in, 4, rows, columns, in_pitch, Tuning::kRows));
  WB_RETURN_IF_FAILED(detail::make_swizzled_map(&map_out, kType, out, 4, columns, rows, out_pitch, Tuning::kColumns));
  const long long tile_rows = ceil_div(rows, static_cast<long long>(Tuning::kRows));
  const long long tile_columns = ceil_div(columns, static_cast<long long>(Tuning::kColumns));
  if (tile_rows > INT32_MAX || tile_columns > 65535) return cudaErrorInvalidValue;
  auto kernel = detail::transpose_bulk<Tuning>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, Tuning::kShared));
  const dim3 grid(static_cast<unsigned>(tile_rows), static_cast<unsigned>(tile_columns));
  kernel<<<grid, Tuning::kThreads, Tuning::kShared, policy.stream>>>(map_in, map_out);
  return cudaGetLastError();
}
#endif

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
