// Transposes a matrix: copies, naive by rows and by columns, through tiles, padded, unrolled, in diagonal order.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

const int kTile = 32, kRows = 8;

__global__ void copy_rows(float* out, const float* in, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) out[y * nx + x] = in[y * nx + x];
}

__global__ void naive_rows(float* out, const float* in, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) out[x * ny + y] = in[y * nx + x];
}

__global__ void naive_columns(float* out, const float* in, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) out[y * nx + x] = in[x * ny + y];
}

template <int Pad>
__global__ void tiled(float* out, const float* in, int nx, int ny) {
  __shared__ float tile[kTile][kTile + Pad];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * nx + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) out[(y + j) * ny + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void diagonal(float* out, const float* in, int nx, int ny) {
  __shared__ float tile[kTile][kTile + 1];
  int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x;
  int x = bx * kTile + threadIdx.x, y = by * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * nx + x];
  __syncthreads();
  x = by * kTile + threadIdx.x;
  y = bx * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) out[(y + j) * ny + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void unrolled_by_four(float* out, const float* in, int nx, int ny) {
  int x = blockIdx.x * blockDim.x * 4 + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int from = y * nx + x, to = x * ny + y;
  if (x + 3 * blockDim.x < nx && y < ny) {
    out[to] = in[from];
    out[to + ny * blockDim.x] = in[from + blockDim.x];
    out[to + ny * 2 * blockDim.x] = in[from + 2 * blockDim.x];
    out[to + ny * 3 * blockDim.x] = in[from + 3 * blockDim.x];
  }
}

int main() {
  const int nx = 2048, ny = 2048;
  std::vector<float> host(nx * ny);
  for (size_t i = 0; i < host.size(); ++i) host[i] = float(i % 1000);
  float *in, *out;
  CHECK(cudaMalloc(&in, nx * ny * sizeof(float)));
  CHECK(cudaMalloc(&out, nx * ny * sizeof(float)));
  CHECK(cudaMemcpy(in, host.data(), nx * ny * sizeof(float), cudaMemcpyHostToDevice));
  const dim3 small(16, 16), square(nx / 16, ny / 16), tile(kTile, kRows), tiles(nx / kTile, ny / kTile);
  THRICE copy_rows<<<square, small>>>(out, in, nx, ny);
  THRICE naive_rows<<<square, small>>>(out, in, nx, ny);
  THRICE naive_columns<<<square, small>>>(out, in, nx, ny);
  THRICE unrolled_by_four<<<dim3(nx / 64, ny / 16), small>>>(out, in, nx, ny);
  THRICE tiled<0><<<tiles, tile>>>(out, in, nx, ny);
  THRICE tiled<1><<<tiles, tile>>>(out, in, nx, ny);
  THRICE diagonal<<<tiles, tile>>>(out, in, nx, ny);
  THRICE naive_rows<<<dim3(512 / 32, 512 / 8), dim3(32, 8)>>>(out, in, 512, 512);
  THRICE tiled<1><<<dim3(512 / kTile, 512 / kTile), tile>>>(out, in, 512, 512);
  CHECK(cudaMemcpy(host.data(), out, nx * ny * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
