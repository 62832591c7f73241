// The transpose straight from global memory, and through a tile of shared memory with a padded row.
#include "cpu/work.h"
#include "reference/reference.h"

#define TILE 32
#define ROWS 8

__global__ void transpose_naive(float* out, const float* in, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) out[x * ny + y] = in[y * nx + x];
}

__global__ void transpose_padded(float* out, const float* in, int nx, int ny) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * nx + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) out[(y + j) * ny + x] = tile[threadIdx.x][threadIdx.y + j];
}

namespace bench {
namespace {

struct Transpose : Work {
  Transpose(bool quick, bool padded)
      : n(quick ? 1024 : 4096), padded(padded), in(n * n), out(n * n), d_in(n * n), d_out(n * n) {
    for (size_t k = 0; k < n * n; ++k) in[k] = unit(k);
    d_in.upload(in);
  }
  void ours() override {
    const int side = static_cast<int>(n);
    if (padded)
      transpose_padded<<<dim3(n / TILE, n / TILE), dim3(TILE, ROWS)>>>(d_out.data(), d_in.data(), side, side);
    else
      transpose_naive<<<dim3(n / 32, n / 16), dim3(32, 16)>>>(d_out.data(), d_in.data(), side, side);
  }
  void reference() override { ::reference::transpose(in.data(), out.data(), static_cast<int>(n), static_cast<int>(n)); }
  std::string difference() override { return compare_exactly(d_out.download(), out.data(), n * n); }

  size_t n;
  bool padded;
  HostArray<float> in, out;
  DeviceArray<float> d_in, d_out;
};

}  // namespace

std::unique_ptr<Work> make_transpose_naive(bool quick) { return std::make_unique<Transpose>(quick, false); }
std::unique_ptr<Work> make_transpose_padded(bool quick) { return std::make_unique<Transpose>(quick, true); }

}  // namespace bench
