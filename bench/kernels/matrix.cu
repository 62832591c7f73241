// The tiled matrix product: a block computes a tile of C, each thread an element, from tiles in shared memory.
#include "cpu/work.h"
#include "reference/reference.h"

template <int TILE_WIDTH>
__global__ void matrix_product(const float* a, const float* b, float* c, int width) {
  __shared__ float tile_a[TILE_WIDTH][TILE_WIDTH];
  __shared__ float tile_b[TILE_WIDTH][TILE_WIDTH];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE_WIDTH + ty;
  int col = blockIdx.x * TILE_WIDTH + tx;
  float value = 0;
  for (int m = 0; m < width / TILE_WIDTH; ++m) {
    tile_a[ty][tx] = a[row * width + m * TILE_WIDTH + tx];
    tile_b[ty][tx] = b[(m * TILE_WIDTH + ty) * width + col];
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k) value += tile_a[ty][k] * tile_b[k][tx];
    __syncthreads();
  }
  c[row * width + col] = value;
}

namespace bench {
namespace {

template <int kTile>
struct MatrixProduct : Work {
  explicit MatrixProduct(bool quick)
      : n(quick ? 256 : 1024), a(n * n), b(n * n), c(n * n), d_a(n * n), d_b(n * n), d_c(n * n) {
    for (size_t k = 0; k < n * n; ++k) a[k] = unit(k), b[k] = unit(n * n + k);
    d_a.upload(a);
    d_b.upload(b);
  }
  void ours() override {
    matrix_product<kTile>
        <<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(d_a.data(), d_b.data(), d_c.data(), static_cast<int>(n));
  }
  void reference() override {
    (kTile == 16 ? ::reference::matrix_product_16 : ::reference::matrix_product_32)(a.data(), b.data(), c.data(),
                                                                                    static_cast<int>(n));
  }
  std::string difference() override { return compare_closely(d_c.download(), c.data(), n * n, 1e-4, 1); }
  double operations() const override { return 2.0 * n * n * n; }

  size_t n;
  HostArray<float> a, b, c;
  DeviceArray<float> d_a, d_b, d_c;
};

}  // namespace

std::unique_ptr<Work> make_matrix_16(bool quick) { return std::make_unique<MatrixProduct<16>>(quick); }
std::unique_ptr<Work> make_matrix_32(bool quick) { return std::make_unique<MatrixProduct<32>>(quick); }

}  // namespace bench
