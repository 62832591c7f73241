// build: -I..
// The ladder of transpositions, with two plain copies below it.
#include <warpbeam/algorithms/device/transpose.cuh>

#include "ladder.h"

constexpr int kSide = 32;
constexpr int kRows = 8;  // rows of threads that carry a tile of 32 rows

__device__ int column_of() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int row_of() { return blockIdx.y * blockDim.y + threadIdx.y; }

// Copies, for comparison: along rows every warp touches one line, along columns 32 of them (sectors per request).
__global__ void copy_rows(const float* in, float* out, int side) { out[row_of() * side + column_of()] = in[row_of() * side + column_of()]; }
__global__ void copy_columns(const float* in, float* out, int side) { out[column_of() * side + row_of()] = in[column_of() * side + row_of()]; }

// 1. Read along rows, write along columns: full lines in, one word per line out.
__global__ void read_rows(const float* in, float* out, int side) { out[column_of() * side + row_of()] = in[row_of() * side + column_of()]; }
// 2. The other way round: the caches forgive scattered reads more than scattered writes.
__global__ void read_columns(const float* in, float* out, int side) { out[row_of() * side + column_of()] = in[column_of() * side + row_of()]; }

// 3. Four elements per thread: more loads in flight for each thread's address arithmetic.
__global__ void unrolled(const float* in, float* out, int side) {
  int row = row_of(), column = blockIdx.x * (4 * blockDim.x) + threadIdx.x;
  for (int i = 0; i < 4; ++i) out[row * side + column + i * blockDim.x] = in[(column + i * blockDim.x) * side + row];
}

// 4. Blocks walk the matrix along diagonals: neighbouring blocks write to different memory partitions.
__global__ void diagonal(const float* in, float* out, int side) {
  int block_row = blockIdx.x, block_column = (blockIdx.x + blockIdx.y) % gridDim.x;
  int column = block_column * blockDim.x + threadIdx.x;
  for (int y = threadIdx.y; y < kSide; y += blockDim.y) {
    int row = block_row * kSide + y;
    out[row * side + column] = in[column * side + row];
  }
}

// 5. Through shared memory: full lines on both sides, but a column of the tile lies in one bank.
// 6. With a padded row the column spreads over all banks.
template <int kPitch>
__global__ void through_shared(const float* in, float* out, int side) {
  __shared__ float tile[kSide][kPitch];
  int x = blockIdx.x * kSide + threadIdx.x, y = blockIdx.y * kSide + threadIdx.y;
  for (int i = 0; i < kSide; i += kRows) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * side + x];
  __syncthreads();
  x = blockIdx.y * kSide + threadIdx.x, y = blockIdx.x * kSide + threadIdx.y;
  for (int i = 0; i < kSide; i += kRows) out[(y + i) * side + x] = tile[threadIdx.x][threadIdx.y + i];
}

// 7. Two tiles per block, padded: twice the bytes in flight per thread.
__global__ void unrolled_padded(const float* in, float* out, int side) {
  __shared__ float tile[2][kSide][kSide + 1];
  int x = blockIdx.x * (2 * kSide) + threadIdx.x, y = blockIdx.y * kSide + threadIdx.y;
  for (int t = 0; t < 2; ++t)
    for (int i = 0; i < kSide; i += kRows) tile[t][threadIdx.y + i][threadIdx.x] = in[(y + i) * side + x + t * kSide];
  __syncthreads();
  x = blockIdx.y * kSide + threadIdx.x, y = blockIdx.x * (2 * kSide) + threadIdx.y;
  for (int t = 0; t < 2; ++t)
    for (int i = 0; i < kSide; i += kRows) out[(y + i + t * kSide) * side + x] = tile[t][threadIdx.x][threadIdx.y + i];
}

// 8. Swizzled instead of padded: element (row, column) lies at column ^ row, no shared memory is wasted.
__global__ void swizzled(const float* in, float* out, int side) {
  __shared__ float tile[kSide][kSide];
  int x = blockIdx.x * kSide + threadIdx.x, y = blockIdx.y * kSide + threadIdx.y;
  for (int i = 0; i < kSide; i += kRows) tile[threadIdx.y + i][threadIdx.x ^ (threadIdx.y + i)] = in[(y + i) * side + x];
  __syncthreads();
  x = blockIdx.y * kSide + threadIdx.x, y = blockIdx.x * kSide + threadIdx.y;
  for (int i = 0; i < kSide; i += kRows) out[(y + i) * side + x] = tile[threadIdx.x][(threadIdx.y + i) ^ threadIdx.x];
}

int main() {
  const int side = ladder::kSmall ? 128 : 8192;
  const size_t count = static_cast<size_t>(side) * side;
  ladder::copy_ceiling("transpose", 4 * count);
  ladder::Array<float> in(ladder::random_values<float>(count, 1000)), out(count);
  auto host = in.host();
  auto right = [&](bool turned) {
    auto got = out.host();
    for (int y = 0; y < side; ++y)
      for (int x = y % 3; x < side; x += 3)
        if (got[static_cast<size_t>(y) * side + x] != (turned ? host[static_cast<size_t>(x) * side + y] : host[static_cast<size_t>(y) * side + x]))
          return false;
    return true;
  };
  auto climb = [&](const char* name, bool turned, const std::function<void()>& run) {
    out.poison();
    ladder::rung("transpose", name, 8.0 * count, "GB/s", run, [&] { return right(turned); });
  };
  const int n = side / kSide;
  const dim3 square(kSide, kSide), rows(kSide, kRows), grid(n, n);
  climb("copy by rows", false, [&] { copy_rows<<<grid, square>>>(in.data, out.data, side); });
  climb("copy by columns", false, [&] { copy_columns<<<grid, square>>>(in.data, out.data, side); });
  climb("1 read rows", true, [&] { read_rows<<<grid, square>>>(in.data, out.data, side); });
  climb("2 read columns", true, [&] { read_columns<<<grid, square>>>(in.data, out.data, side); });
  climb("3 unrolled", true, [&] { unrolled<<<dim3(n / 4, n), square>>>(in.data, out.data, side); });
  climb("4 diagonal", true, [&] { diagonal<<<grid, rows>>>(in.data, out.data, side); });
  climb("5 shared memory", true, [&] { through_shared<kSide><<<grid, rows>>>(in.data, out.data, side); });
  climb("6 padded", true, [&] { through_shared<kSide + 1><<<grid, rows>>>(in.data, out.data, side); });
  climb("7 unrolled padded", true, [&] { unrolled_padded<<<dim3(n / 2, n), rows>>>(in.data, out.data, side); });
  climb("8 swizzled", true, [&] { swizzled<<<grid, rows>>>(in.data, out.data, side); });
#if !WB_PORTABLE
  // 9. The copy engine carries the tiles and swizzles them on the way: threads only turn them in shared memory.
  climb("9 bulk copies", true, [&] {
    LADDER_CHECK(warpbeam::transpose_bulk(warpbeam::on(), reinterpret_cast<unsigned*>(in.data), reinterpret_cast<unsigned*>(out.data), side, side, side, side));
  });
#endif
  climb("10 the library", true, [&] { LADDER_CHECK(warpbeam::transpose(warpbeam::on(), in.data, out.data, side, side)); });
  return ladder::wrong ? 1 : 0;
}
