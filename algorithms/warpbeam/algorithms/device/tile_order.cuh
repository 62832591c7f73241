// The order in which tiles of a matrix are visited.
#pragma once

#include "../config.cuh"

namespace warpbeam::detail {

struct TileOrigin {
  long long row, column;
};

// Squares of kSquare x kSquare tiles follow one another along the rows of tiles; inside a square, rows of tiles do.
template <class Tuning>
__device__ TileOrigin transpose_tile(unsigned index, unsigned tile_rows, unsigned tile_columns) {
  constexpr unsigned kSquare = Tuning::kSquare;
  unsigned row, column;
  if constexpr (kSquare == 1) {
    row = index / tile_columns;
    column = index % tile_columns;
  } else {
    unsigned band = index / (tile_columns * kSquare);
    unsigned in_band = index - band * tile_columns * kSquare;
    unsigned band_rows = min(kSquare, tile_rows - band * kSquare);
    unsigned square = in_band / (band_rows * kSquare);
    unsigned in_square = in_band - square * band_rows * kSquare;
    unsigned square_columns = min(kSquare, tile_columns - square * kSquare);
    row = band * kSquare + in_square / square_columns;
    column = square * kSquare + in_square % square_columns;
  }
  return {static_cast<long long>(row) * Tuning::kRows, static_cast<long long>(column) * Tuning::kColumns};
}

}  // namespace warpbeam::detail
