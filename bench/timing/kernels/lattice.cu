// A lattice-Boltzmann step in two layouts, an Ising model in two colours, a percolation.
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

const int kDirections = 9;
__constant__ int ex[kDirections] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int ey[kDirections] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

template <bool Together>
__global__ void step(const float* in, float* out, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, cells = nx * ny;
  float f[kDirections], density = 0, ux = 0, uy = 0;
#pragma unroll
  for (int k = 0; k < kDirections; ++k) {
    const int from = (y - ey[k] + ny) % ny * nx + (x - ex[k] + nx) % nx;
    f[k] = Together ? in[from * kDirections + k] : in[k * cells + from];
    density += f[k];
    ux += f[k] * ex[k];
    uy += f[k] * ey[k];
  }
  ux /= density, uy /= density;
  const float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int k = 0; k < kDirections; ++k) {
    const float w = k == 0 ? 4.0f / 9 : k < 5 ? 1.0f / 9 : 1.0f / 36, eu = 3 * (ex[k] * ux + ey[k] * uy);
    const float value = f[k] + 0.6f * (w * density * (1 + eu + 0.5f * eu * eu - square) - f[k]);
    const int to = y * nx + x;
    if (Together) out[to * kDirections + k] = value;
    else out[k * cells + to] = value;
  }
}

__global__ void ising(signed char* spins, int n, int colour, unsigned seed) {
  int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2, y = blockIdx.y * blockDim.y + threadIdx.y;
  x += (y + colour) % 2;
  if (x >= n || y >= n) return;
  int i = y * n + x, sum = spins[y * n + (x + 1) % n] + spins[y * n + (x + n - 1) % n] + spins[(y + 1) % n * n + x] + spins[(y + n - 1) % n * n + x];
  int cost = 2 * spins[i] * sum;
  unsigned r = (i ^ seed) * 2654435761u;
  r ^= r >> 15;
  r *= 2246822519u;
  r ^= r >> 13;
  if (cost <= 0 || r * 2.3283064e-10f < __expf(-0.44f * cost)) spins[i] = -spins[i];
}

__global__ void fill(float* f, signed char* spins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    f[i] = 0.1f + i % 13 * 0.01f;
    if (i < 1 << 20) spins[i] = i * 2654435761u >> 31 ? 1 : -1;
  }
}

int main() {
  const int nx = 512, ny = 256, n = nx * ny * kDirections;
  float *a, *b;
  signed char* spins;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMalloc(&spins, 1 << 20));
  fill<<<528, 256>>>(a, spins, n);
  THRICE {
    step<false><<<dim3(nx / 128, ny), 128>>>(a, b, nx, ny);
    std::swap(a, b);
  }
  THRICE {
    step<true><<<dim3(nx / 128, ny), 128>>>(a, b, nx, ny);
    std::swap(a, b);
  }
  THRICE step<false><<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(a, b, nx, ny);
  THRICE {
    ising<<<dim3(1024 / 64, 1024 / 8), dim3(32, 8)>>>(spins, 1024, 0, round);
    ising<<<dim3(1024 / 64, 1024 / 8), dim3(32, 8)>>>(spins, 1024, 1, round + 77);
  }
  signed char one;
  CHECK(cudaMemcpy(&one, spins + 1000, 1, cudaMemcpyDeviceToHost));
  std::printf("%d\n", one);
  return 0;
}
