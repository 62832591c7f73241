// In tiles that fit the first cache: one side of a transpose strides through memory, and a tile uses each of its lines
// completely.
#include "reference/reference.h"

namespace reference {

void transpose(const float* __restrict in, float* __restrict out, int rows, int columns) {
  constexpr int kTile = 32;
#pragma omp parallel for collapse(2) schedule(static)
  for (int top = 0; top < rows; top += kTile)
    for (int left = 0; left < columns; left += kTile) {
      const int bottom = top + kTile < rows ? top + kTile : rows;
      const int right = left + kTile < columns ? left + kTile : columns;
      for (int x = left; x < right; ++x)
        for (int y = top; y < bottom; ++y)
          out[static_cast<size_t>(x) * rows + y] = in[static_cast<size_t>(y) * columns + x];
    }
}

}  // namespace reference
