// Heat in a volume and waves in a plane: seven points from global memory, planes that move through registers, nine points a line, Gauss-Seidel in two colours.
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

__global__ void seven_points(const float* in, float* out, int nx, int ny, int nz, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, l = blockIdx.z;
  if (i < 1 || j < 1 || l < 1 || i >= nx - 1 || j >= ny - 1 || l >= nz - 1) return;
  int p = (l * ny + j) * nx + i;
  out[p] = in[p] + k * (in[p - 1] + in[p + 1] + in[p - nx] + in[p + nx] + in[p - nx * ny] + in[p + nx * ny] - 6.0f * in[p]);
}

__global__ void moving_planes(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz, float k) {
  __shared__ float plane[10][34];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1, i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y, size = nx * ny;
  int p = j * nx + i;
  float below = 0, here = in[p], above = in[p + size];
  for (int l = 1; l < nz - 1; l++) {
    p += size;
    below = here;
    here = above;
    above = in[p + size];
    __syncthreads();
    plane[ty][tx] = here;
    if (threadIdx.x == 0 && i > 0) plane[ty][0] = in[p - 1];
    if (threadIdx.x == 31 && i < nx - 1) plane[ty][33] = in[p + 1];
    if (threadIdx.y == 0 && j > 0) plane[0][tx] = in[p - nx];
    if (threadIdx.y == 7 && j < ny - 1) plane[9][tx] = in[p + nx];
    __syncthreads();
    if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1)
      out[p] = here + k * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above - 6.0f * here);
  }
}

__global__ void nine_wide_wave(const float* now, const float* before, float* next, int nx, int ny, float c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 4 || j < 4 || i >= nx - 4 || j >= ny - 4) return;
  const float w[5] = {-2.84722f, 1.6f, -0.2f, 0.02539f, -0.00178f};
  int p = j * nx + i;
  float sum = 2 * w[0] * now[p];
  for (int r = 1; r <= 4; r++) sum += w[r] * (now[p - r] + now[p + r] + now[p - r * nx] + now[p + r * nx]);
  next[p] = 2 * now[p] - before[p] + c * sum;
}

__global__ void red_black(double* u, const double* f, int n, int colour, double h2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i < n - 1 && j < n - 1 && (i + j) % 2 == colour)
    u[j * n + i] = 0.25 * (u[j * n + i - 1] + u[j * n + i + 1] + u[(j - 1) * n + i] + u[(j + 1) * n + i] - h2 * f[j * n + i]);
}

__global__ void residual(const double* u, const double* f, double* largest, int n, double h2) {
  __shared__ double best[256];
  int t = threadIdx.y * 16 + threadIdx.x, i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
  double r = 0;
  if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
    r = fabs(f[j * n + i] - (u[j * n + i - 1] + u[j * n + i + 1] + u[(j - 1) * n + i] + u[(j + 1) * n + i] - 4 * u[j * n + i]) / h2);
  best[t] = r;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) best[t] = fmax(best[t], best[t + s]);
    __syncthreads();
  }
  if (t == 0) largest[blockIdx.y * gridDim.x + blockIdx.x] = best[0];
}

int main() {
  const int nx = 160, n = nx * nx * nx, side = 1024;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 17 * 0.1f;
  float *a, *b, *c;
  double *u, *f, *r;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMalloc(&c, n * 4));
  CHECK(cudaMalloc(&u, side * side * 8));
  CHECK(cudaMalloc(&f, side * side * 8));
  CHECK(cudaMalloc(&r, 4096 * 8));
  CHECK(cudaMemcpy(a, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(u, 0, side * side * 8));
  CHECK(cudaMemset(f, 0, side * side * 8));
  THRICE seven_points<<<dim3(nx / 32, nx / 4, nx), dim3(32, 4)>>>(a, b, nx, nx, nx, 0.1f);
  THRICE moving_planes<<<dim3(nx / 32, nx / 8), dim3(32, 8)>>>(a, b, nx, nx, nx, 0.1f);
  THRICE nine_wide_wave<<<dim3(2048 / 32, 2000 / 8), dim3(32, 8)>>>(a, b, c, 2048, 2000, 0.1f);
  THRICE {
    red_black<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(u, f, side, 0, 1e-6);
    red_black<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(u, f, side, 1, 1e-6);
  }
  THRICE residual<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(u, f, r, side, 1e-6);
  CHECK(cudaMemcpy(host.data(), c, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
