// transpose_global: two copies and six transposes that use global memory only.
// Look at the two offsets in each kernel: one walks along rows (neighbouring threads, neighbouring words), the other
// down columns (neighbouring threads, a whole row apart). The copies bound what a transpose can reach.
// What `./warpbeam profile` counts, for blocks of 16 x 16 and then of 8 x 32 threads:
//   gld_efficiency of copy_row: 100 100
//   gld_efficiency of copy_column: 25 50
//   gst_efficiency of naive_row: 25 50
//   gst_efficiency of naive_column: 100 100
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void copy_row(float* out, const float* in, int nx, int ny) {
  unsigned ix = blockDim.x * blockIdx.x + threadIdx.x, iy = blockDim.y * blockIdx.y + threadIdx.y;
  if (ix < nx && iy < ny) out[iy * nx + ix] = in[iy * nx + ix];
}

__global__ void copy_column(float* out, const float* in, int nx, int ny) {
  unsigned ix = blockDim.x * blockIdx.x + threadIdx.x, iy = blockDim.y * blockIdx.y + threadIdx.y;
  if (ix < nx && iy < ny) out[ix * ny + iy] = in[ix * ny + iy];
}

__global__ void naive_row(float* out, const float* in, int nx, int ny) {
  unsigned ix = blockDim.x * blockIdx.x + threadIdx.x, iy = blockDim.y * blockIdx.y + threadIdx.y;
  if (ix < nx && iy < ny) out[ix * ny + iy] = in[iy * nx + ix];
}

__global__ void naive_column(float* out, const float* in, int nx, int ny) {
  unsigned ix = blockDim.x * blockIdx.x + threadIdx.x, iy = blockDim.y * blockIdx.y + threadIdx.y;
  if (ix < nx && iy < ny) out[iy * nx + ix] = in[ix * ny + iy];
}

__global__ void unroll4_row(float* out, const float* in, int nx, int ny) {
  unsigned ix = blockDim.x * blockIdx.x * 4 + threadIdx.x, iy = blockDim.y * blockIdx.y + threadIdx.y;
  unsigned ti = iy * nx + ix, to = ix * ny + iy;
  if (ix + 3 * blockDim.x < nx && iy < ny) {
    out[to] = in[ti];
    out[to + ny * blockDim.x] = in[ti + blockDim.x];
    out[to + ny * 2 * blockDim.x] = in[ti + 2 * blockDim.x];
    out[to + ny * 3 * blockDim.x] = in[ti + 3 * blockDim.x];
  }
}

__global__ void unroll4_column(float* out, const float* in, int nx, int ny) {
  unsigned ix = blockDim.x * blockIdx.x * 4 + threadIdx.x, iy = blockDim.y * blockIdx.y + threadIdx.y;
  unsigned ti = iy * nx + ix, to = ix * ny + iy;
  if (ix + 3 * blockDim.x < nx && iy < ny) {
    out[ti] = in[to];
    out[ti + blockDim.x] = in[to + blockDim.x * ny];
    out[ti + 2 * blockDim.x] = in[to + 2 * blockDim.x * ny];
    out[ti + 3 * blockDim.x] = in[to + 3 * blockDim.x * ny];
  }
}

// Diagonal block coordinates: blocks that run together touch tiles in different columns.
__global__ void diagonal_row(float* out, const float* in, int nx, int ny) {
  unsigned block_y = blockIdx.x, block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
  unsigned ix = blockDim.x * block_x + threadIdx.x, iy = blockDim.y * block_y + threadIdx.y;
  if (ix < nx && iy < ny) out[ix * ny + iy] = in[iy * nx + ix];
}

__global__ void diagonal_column(float* out, const float* in, int nx, int ny) {
  unsigned block_y = blockIdx.x, block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
  unsigned ix = blockDim.x * block_x + threadIdx.x, iy = blockDim.y * block_y + threadIdx.y;
  if (ix < nx && iy < ny) out[iy * nx + ix] = in[ix * ny + iy];
}

static void transpose_host(float* out, const float* in, int nx, int ny) {
  for (int iy = 0; iy < ny; ++iy)
    for (int ix = 0; ix < nx; ++ix) out[ix * ny + iy] = in[iy * nx + ix];
}

// A transpose that reads columns of an nx-by-ny matrix writes rows of it: it undoes transpose_host.
enum class Does { Copy, Transpose, TransposeBack };
using Kernel = void (*)(float*, const float*, int, int);

int main(int argc, char** argv) {
  const int nx = argc > 1 ? std::atoi(argv[1]) : 256, ny = argc > 2 ? std::atoi(argv[2]) : 256;
  const int n = nx * ny;
  std::vector<float> in(n), out(n), transposed(n), back(n);
  for (int i = 0; i < n; ++i) in[i] = (float)(i % 65536) * 0.5f;
  transpose_host(transposed.data(), in.data(), nx, ny);
  transpose_host(back.data(), in.data(), ny, nx);
  float *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * sizeof(float)));
  CHECK(cudaMalloc(&d_out, n * sizeof(float)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));

  const struct {
    const char* name;
    Kernel kernel;
    Does does;
    int unroll;
  } versions[] = {
      {"copy rows", copy_row, Does::Copy, 1},
      {"copy columns", copy_column, Does::Copy, 1},
      {"naive, reads rows", naive_row, Does::Transpose, 1},
      {"naive, reads columns", naive_column, Does::TransposeBack, 1},
      {"unrolled, reads rows", unroll4_row, Does::Transpose, 4},
      {"unrolled, reads columns", unroll4_column, Does::TransposeBack, 4},
      {"diagonal, reads rows", diagonal_row, Does::Transpose, 1},
      {"diagonal, reads columns", diagonal_column, Does::TransposeBack, 1},
  };
  int wrong = 0;
  for (dim3 block : {dim3(16, 16), dim3(8, 32)}) {
    for (const auto& v : versions) {
      // Diagonal coordinates cover the matrix only when the grid of blocks is square.
      dim3 shape = v.kernel == diagonal_row || v.kernel == diagonal_column ? dim3(16, 16) : block;
      dim3 grid((nx + shape.x * v.unroll - 1) / (shape.x * v.unroll), (ny + shape.y - 1) / shape.y);
      CHECK(cudaMemset(d_out, 0xff, n * sizeof(float)));
      v.kernel<<<grid, shape>>>(d_out, d_in, nx, ny);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
      const std::vector<float>& expected = v.does == Does::Copy ? in : v.does == Does::Transpose ? transposed : back;
      int bad = 0;
      for (int i = 0; i < n; ++i) bad += !(out[i] == expected[i]);
      std::printf("%-24s <<<(%u, %u), (%u, %u)>>> %d wrong\n", v.name, grid.x, grid.y, shape.x, shape.y, bad);
      wrong += bad;
    }
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  std::printf("transpose_global: %s\n", wrong ? "FAILED" : "all versions agree with the host");
  return wrong != 0;
}
