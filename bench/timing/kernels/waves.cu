// Waves and particles: FDTD of a plane, springs and cloth, particles deposited on a grid, gather of forces, a Verlet step.
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

__global__ void electric(float* ez, const float* hx, const float* hy, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx || y >= ny) return;
  int i = y * nx + x;
  ez[i] += 0.5f * (hy[i] - hy[i - 1] - hx[i] + hx[i - nx]);
}

__global__ void magnetic(const float* ez, float* hx, float* hy, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  hx[i] -= 0.5f * (ez[i + nx] - ez[i]);
  hy[i] += 0.5f * (ez[i + 1] - ez[i]);
}

__device__ float3 spring(float4 a, float4 b, float rest) {
  float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z, length = sqrtf(x * x + y * y + z * z) + 1e-6f, f = 20 * (length - rest) / length;
  return make_float3(f * x, f * y, f * z);
}

__global__ void cloth(const float4* in, const float4* before, float4* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * n + x;
  float4 p = in[i], q = before[i];
  float3 f = make_float3(0, -9.81f, 0);
  const int ox[8] = {1, -1, 0, 0, 1, 1, -1, -1}, oy[8] = {0, 0, 1, -1, 1, -1, 1, -1};
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    int px = x + ox[k], py = y + oy[k];
    if (px < 0 || py < 0 || px >= n || py >= n) continue;
    float3 s = spring(p, in[py * n + px], k < 4 ? 1.0f : 1.41421f);
    f.x += s.x, f.y += s.y, f.z += s.z;
  }
  const float dt2 = 1e-4f;
  out[i] = y == 0 ? p : make_float4(1.99f * p.x - 0.99f * q.x + dt2 * f.x, 1.99f * p.y - 0.99f * q.y + dt2 * f.y, 1.99f * p.z - 0.99f * q.z + dt2 * f.z, 1);
}

__global__ void deposit(const float2* particles, float* grid, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 p = particles[i];
  float gx = p.x * (width - 2), gy = p.y * (width - 2);
  int x = gx, y = gy;
  float fx = gx - x, fy = gy - y;
  atomicAdd(&grid[y * width + x], (1 - fx) * (1 - fy));
  atomicAdd(&grid[y * width + x + 1], fx * (1 - fy));
  atomicAdd(&grid[(y + 1) * width + x], (1 - fx) * fy);
  atomicAdd(&grid[(y + 1) * width + x + 1], fx * fy);
}

__global__ void push(float2* particles, float2* velocity, const float2* field, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 p = particles[i], v = velocity[i];
  float2 f = __ldg(&field[int(p.y * (width - 2)) * width + int(p.x * (width - 2))]);
  v.x += 0.01f * f.x;
  v.y += 0.01f * f.y;
  p.x += 0.01f * v.x;
  p.y += 0.01f * v.y;
  p.x -= floorf(p.x);
  p.y -= floorf(p.y);
  particles[i] = p;
  velocity[i] = v;
}

int main() {
  const int nx = 1024, ny = 512, n = 1 << 18, side = 256;
  std::vector<float2> host(n);
  for (int i = 0; i < n; ++i) host[i] = make_float2((i * 2654435761u >> 8) * 5.9e-8f, (i * 40503u % 65536) / 65536.0f);
  float *ez, *hx, *hy;
  float2 *particles, *velocity;
  CHECK(cudaMalloc(&ez, nx * ny * 8));
  CHECK(cudaMalloc(&hx, nx * ny * 4));
  CHECK(cudaMalloc(&hy, nx * ny * 4));
  CHECK(cudaMalloc(&particles, n * 8));
  CHECK(cudaMalloc(&velocity, n * 8));
  CHECK(cudaMemset(ez, 0, nx * ny * 8));
  CHECK(cudaMemset(hx, 0, nx * ny * 4));
  CHECK(cudaMemset(hy, 0, nx * ny * 4));
  CHECK(cudaMemset(velocity, 0, n * 8));
  CHECK(cudaMemcpy(particles, host.data(), n * 8, cudaMemcpyHostToDevice));
  THRICE {
    magnetic<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(ez, hx, hy, nx, ny);
    electric<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(ez, hx, hy, nx, ny);
  }
  THRICE deposit<<<n / 256, 256>>>(particles, ez, n, side);
  THRICE push<<<n / 256, 256>>>(particles, velocity, (float2*)ez, n, side);
  CHECK(cudaMemset(ez, 0, nx * ny * 8));
  THRICE cloth<<<dim3(side / 32, side / 8), dim3(32, 8)>>>((float4*)hx, (float4*)hy, (float4*)ez, side);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
