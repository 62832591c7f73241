// transpose_shared: rows in, rows out, and the turning done in a shared tile.
// Look at the tile's width: 32 columns put a whole tile column into one bank; one or two columns of padding spread it.
// What `./warpbeam profile` counts, for a whole matrix (the second one has ragged edges):
//   gst_efficiency of naive: 12.5 12.5
//   gst_efficiency of void tiled<32>: 100 65.775661
//   shared_load_transactions_per_request of void tiled<32>: 16 13.4
//   shared_load_transactions_per_request of void tiled<33>: 2 1.980392
//   shared_load_transactions_per_request of void tiled<34>: 1 1
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

constexpr int kX = 32, kY = 16, kPad = 2;

__global__ void naive(float* out, const float* in, int nx, int ny) {
  unsigned ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) out[ix * ny + iy] = in[iy * nx + ix];
}

// The tile is rectangular, so the threads of a block are renumbered to walk the transposed tile row by row.
template <int kWidth>
__global__ void tiled(float* out, const float* in, int nx, int ny) {
  __shared__ float tile[kY][kWidth];
  unsigned ix = blockIdx.x * kX + threadIdx.x, iy = blockIdx.y * kY + threadIdx.y;
  unsigned id = threadIdx.y * kX + threadIdx.x, row = id / kY, column = id % kY;
  if (ix < nx && iy < ny) tile[threadIdx.y][threadIdx.x] = in[iy * nx + ix];
  __syncthreads();
  unsigned ox = blockIdx.y * kY + column, oy = blockIdx.x * kX + row;
  if (ox < ny && oy < nx) out[oy * ny + ox] = tile[column][row];
}

__global__ void tiled_dynamic(float* out, const float* in, int nx, int ny) {
  extern __shared__ float dynamic_tile[];
  unsigned ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned width = blockDim.x + kPad, id = threadIdx.y * blockDim.x + threadIdx.x;
  unsigned row = id / blockDim.y, column = id % blockDim.y;
  if (ix < nx && iy < ny) dynamic_tile[threadIdx.y * width + threadIdx.x] = in[iy * nx + ix];
  __syncthreads();
  unsigned ox = blockIdx.y * blockDim.y + column, oy = blockIdx.x * blockDim.x + row;
  if (ox < ny && oy < nx) out[oy * ny + ox] = dynamic_tile[column * width + row];
}

// Each block turns two neighbouring tiles.
__global__ void tiled_unrolled(float* out, const float* in, int nx, int ny) {
  __shared__ float tile[kY][2 * kX + kPad];
  unsigned ix = blockIdx.x * kX * 2 + threadIdx.x, iy = blockIdx.y * kY + threadIdx.y;
  unsigned id = threadIdx.y * kX + threadIdx.x, row = id / kY, column = id % kY;
  if (iy < ny && ix < nx) tile[threadIdx.y][threadIdx.x] = in[iy * nx + ix];
  if (iy < ny && ix + kX < nx) tile[threadIdx.y][threadIdx.x + kX] = in[iy * nx + ix + kX];
  __syncthreads();
  unsigned ox = blockIdx.y * kY + column, oy = blockIdx.x * kX * 2 + row;
  if (ox < ny && oy < nx) out[oy * ny + ox] = tile[column][row];
  if (ox < ny && oy + kX < nx) out[(oy + kX) * ny + ox] = tile[column][row + kX];
}

// The square tile everybody draws first, for integers.
constexpr int kSquare = 16;
template <int kWidth>
__global__ void square(int* out, const int* in, int n, int m) {
  __shared__ int tile[kSquare * kWidth];
  int bx = blockIdx.x * kSquare, by = blockIdx.y * kSquare, tx = threadIdx.x, ty = threadIdx.y;
  tile[ty * kWidth + tx] = in[(by + ty) * m + bx + tx];
  __syncthreads();
  out[(bx + ty) * n + by + tx] = tile[tx * kWidth + ty];
}

using Kernel = void (*)(float*, const float*, int, int);
using IntKernel = void (*)(int*, const int*, int, int);

int main(int argc, char** argv) {
  int wrong = 0;
  const int sizes[][2] = {{argc > 1 ? std::atoi(argv[1]) : 256, argc > 2 ? std::atoi(argv[2]) : 192}, {101, 67}};
  for (const auto& size : sizes) {
    const int nx = size[0], ny = size[1], n = nx * ny;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; ++i) in[i] = (float)i;
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, n * sizeof(float)));
    CHECK(cudaMalloc(&d_out, n * sizeof(float)));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    const struct {
      const char* name;
      Kernel kernel;
      int unroll;
      size_t shared;
    } versions[] = {
        {"naive", naive, 1, 0},
        {"tile", tiled<kX>, 1, 0},
        {"tile, padded by one", tiled<kX + 1>, 1, 0},
        {"tile, padded by two", tiled<kX + kPad>, 1, 0},
        {"dynamic tile, padded", tiled_dynamic, 1, kY * (kX + kPad) * sizeof(float)},
        {"two tiles, padded", tiled_unrolled, 2, 0},
    };
    for (const auto& v : versions) {
      dim3 block(kX, kY), grid((nx + kX * v.unroll - 1) / (kX * v.unroll), (ny + kY - 1) / kY);
      CHECK(cudaMemset(d_out, 0xff, n * sizeof(float)));
      v.kernel<<<grid, block, v.shared>>>(d_out, d_in, nx, ny);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
      int bad = 0;
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) bad += !(out[x * ny + y] == in[y * nx + x]);
      std::printf("%3d x %3d  %-22s %d wrong\n", nx, ny, v.name, bad);
      wrong += bad;
    }
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
  }

  const int m = 96, n = 64;
  std::vector<int> in(n * m), out(n * m);
  for (int i = 0; i < n * m; ++i) in[i] = i * 3 + 1;
  int *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * m * sizeof(int)));
  CHECK(cudaMalloc(&d_out, n * m * sizeof(int)));
  CHECK(cudaMemcpy(d_in, in.data(), n * m * sizeof(int), cudaMemcpyHostToDevice));
  for (IntKernel kernel : {(IntKernel)square<16>, (IntKernel)square<17>}) {
    CHECK(cudaMemset(d_out, 0, n * m * sizeof(int)));
    kernel<<<dim3(m / kSquare, n / kSquare), dim3(kSquare, kSquare)>>>(d_out, d_in, n, m);
    CHECK(cudaMemcpy(out.data(), d_out, n * m * sizeof(int), cudaMemcpyDeviceToHost));
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < m; ++x) wrong += out[x * n + y] != in[y * m + x];
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  std::printf("transpose_shared: %s\n", wrong ? "FAILED" : "all tiles turned right");
  return wrong != 0;
}
