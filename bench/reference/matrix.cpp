// The matrix product in square tiles, as the kernels tile it: a tile of C stays in registers or the first cache while
// tiles of A and B go by.
#include <cstring>

#include "reference/reference.h"

namespace reference {
namespace {

template <int kTile>
void product(const float* __restrict a, const float* __restrict b, float* __restrict c, int n) {
#pragma omp parallel for collapse(2) schedule(static)
  for (int top = 0; top < n; top += kTile)
    for (int left = 0; left < n; left += kTile) {
      float sum[kTile][kTile] = {};
      for (int middle = 0; middle < n; middle += kTile) {
        float tile_b[kTile][kTile];
        for (int k = 0; k < kTile; ++k)
          std::memcpy(tile_b[k], &b[static_cast<size_t>(middle + k) * n + left], sizeof tile_b[k]);
        for (int y = 0; y < kTile; ++y) {
          const float* row = &a[static_cast<size_t>(top + y) * n + middle];
          for (int k = 0; k < kTile; ++k)
#pragma omp simd
            for (int x = 0; x < kTile; ++x) sum[y][x] += row[k] * tile_b[k][x];
        }
      }
      for (int y = 0; y < kTile; ++y) std::memcpy(&c[static_cast<size_t>(top + y) * n + left], sum[y], sizeof sum[y]);
    }
}

}  // namespace

void matrix_product_16(const float* a, const float* b, float* c, int n) { product<16>(a, b, c, n); }
void matrix_product_32(const float* a, const float* b, float* c, int n) { product<32>(a, b, c, n); }

}  // namespace reference
