// Seven-point stencils in a volume: one point a thread, planes in registers, planes in shared memory; a wave equation of order eight.
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

__global__ void one_point(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  int i = (z * ny + y) * nx + x;
  out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny]);
}

__global__ void planes_in_registers(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  float below = in[i], here = in[i + nx * ny];
  for (int z = 1; z < nz - 1; ++z) {
    i += nx * ny;
    float above = in[i + nx * ny];
    out[i] = 0.4f * here + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + below + above);
    below = here;
    here = above;
  }
}

__global__ void planes_in_shared(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz) {
  __shared__ float plane[10][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int i = y * nx + x;
  float below = in[i], here = in[i + nx * ny];
  for (int z = 1; z < nz - 1; ++z) {
    i += nx * ny;
    float above = in[i + nx * ny];
    __syncthreads();
    plane[ty][tx] = here;
    if (threadIdx.x == 0 && x > 0) plane[ty][0] = in[i - 1];
    if (threadIdx.x == 31 && x < nx - 1) plane[ty][33] = in[i + 1];
    if (threadIdx.y == 0 && y > 0) plane[0][tx] = in[i - nx];
    if (threadIdx.y == 7 && y < ny - 1) plane[9][tx] = in[i + nx];
    __syncthreads();
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
      out[i] = 0.4f * here + 0.1f * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above);
    below = here;
    here = above;
  }
}

__global__ void wave(const float* u, float* previous, int nx, int ny, int nz) {
  const float c[5] = {-2.847f, 1.6f, -0.2f, 0.0254f, -0.0018f};
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 4 || y < 4 || x >= nx - 4 || y >= ny - 4) return;
  for (int z = 4; z < nz - 4; ++z) {
    int i = (z * ny + y) * nx + x;
    float sum = 3 * c[0] * u[i];
#pragma unroll
    for (int k = 1; k <= 4; ++k)
      sum += c[k] * (u[i - k] + u[i + k] + u[i - k * nx] + u[i + k * nx] + u[i - k * nx * ny] + u[i + k * nx * ny]);
    previous[i] = 2 * u[i] - previous[i] + 0.1f * sum;
  }
}

int main() {
  const int nx = 128, ny = 128, nz = 64;
  float *a, *b;
  CHECK(cudaMalloc(&a, nx * ny * nz * sizeof(float)));
  CHECK(cudaMalloc(&b, nx * ny * nz * sizeof(float)));
  CHECK(cudaMemset(a, 0, nx * ny * nz * sizeof(float)));
  CHECK(cudaMemset(b, 0, nx * ny * nz * sizeof(float)));
  THRICE one_point<<<dim3(nx / 32, ny / 4, nz / 2), dim3(32, 4, 2)>>>(a, b, nx, ny, nz);
  THRICE one_point<<<dim3(nx / 8, ny / 8, nz / 8), dim3(8, 8, 8)>>>(a, b, nx, ny, nz);
  THRICE planes_in_registers<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(a, b, nx, ny, nz);
  THRICE planes_in_shared<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(a, b, nx, ny, nz);
  THRICE wave<<<dim3(nx / 32, ny / 4), dim3(32, 4)>>>(a, b, nx, ny, nz);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
