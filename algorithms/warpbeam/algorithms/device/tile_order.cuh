// The order in which tiles of a matrix are visited.
#pragma once

#include "../config.cuh"

namespace warpbeam::detail {

struct TileOrigin {
  long long row, column;
};

// Squares of kSquare x kSquare tiles follow one another along the rows of tiles; inside a square, rows of tiles do.
template <class Tuning>
__device__ TileOrigin transpose_tile(long long index, long long tile_rows, long long tile_columns) {
  constexpr long long kSquare = Tuning::kSquare;
  long long band = index / (tile_columns * kSquare);
  long long in_band = index - band * tile_columns * kSquare;
  long long band_rows = min(kSquare, tile_rows - band * kSquare);
  long long square = in_band / (band_rows * kSquare);
  long long in_square = in_band - square * band_rows * kSquare;
  long long square_columns = min(kSquare, tile_columns - square * kSquare);
  return {(band * kSquare + in_square / square_columns) * Tuning::kRows,
          (square * kSquare + in_square % square_columns) * Tuning::kColumns};
}

}  // namespace warpbeam::detail
