// Five- and nine-point stencils on a plane, Jacobi steps of the heat equation, in global and shared memory.
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

__global__ void five_points(const float* in, float* out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
    out[y * nx + x] = in[y * nx + x] + 0.2f * (in[y * nx + x - 1] + in[y * nx + x + 1] + in[(y - 1) * nx + x] + in[(y + 1) * nx + x] - 4 * in[y * nx + x]);
}

__global__ void five_points_shared(const float* in, float* out, int nx, int ny) {
  __shared__ float tile[18][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  tile[ty][tx] = in[y * nx + x];
  if (threadIdx.x == 0) tile[ty][0] = x > 0 ? in[y * nx + x - 1] : 0;
  if (threadIdx.x == 31) tile[ty][33] = x < nx - 1 ? in[y * nx + x + 1] : 0;
  if (threadIdx.y == 0) tile[0][tx] = y > 0 ? in[(y - 1) * nx + x] : 0;
  if (threadIdx.y == 15) tile[17][tx] = y < ny - 1 ? in[(y + 1) * nx + x] : 0;
  __syncthreads();
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
    out[y * nx + x] = tile[ty][tx] + 0.2f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - 4 * tile[ty][tx]);
}

__global__ void nine_points(const float* __restrict__ in, float* __restrict__ out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += in[(y + dy) * nx + x + dx];
  out[y * nx + x] = sum / 9;
}

__global__ void column_of_rows(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < 1 || x >= nx - 1) return;
  int y = blockIdx.y * rows, last = min(y + rows, ny - 1);
  if (y == 0) y = 1;
  float above = in[(y - 1) * nx + x], here = in[y * nx + x];
  for (; y < last; ++y) {
    float below = in[(y + 1) * nx + x];
    out[y * nx + x] = here + 0.2f * (in[y * nx + x - 1] + in[y * nx + x + 1] + above + below - 4 * here);
    above = here;
    here = below;
  }
}

int main() {
  const int nx = 1024, ny = 1024;
  float *a, *b;
  CHECK(cudaMalloc(&a, nx * ny * sizeof(float)));
  CHECK(cudaMalloc(&b, nx * ny * sizeof(float)));
  CHECK(cudaMemset(a, 0, nx * ny * sizeof(float)));
  CHECK(cudaMemset(b, 0, nx * ny * sizeof(float)));
  THRICE {
    five_points<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(a, b, nx, ny);
    five_points<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(b, a, nx, ny);
  }
  THRICE five_points<<<dim3(nx / 8, ny / 32), dim3(8, 32)>>>(a, b, nx, ny);
  THRICE five_points_shared<<<dim3(nx / 32, ny / 16), dim3(32, 16)>>>(a, b, nx, ny);
  THRICE nine_points<<<dim3(nx / 64, ny / 4), dim3(64, 4)>>>(a, b, nx, ny);
  THRICE column_of_rows<<<dim3(nx / 128, 32), 128>>>(a, b, nx, ny, ny / 32);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
