// Noise of gradients and values, fractal sums, marbles, a fluid's advection, starfields by hash.
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

__device__ unsigned hash(unsigned x, unsigned y) {
  unsigned h = x * 374761393u + y * 668265263u;
  h = (h ^ h >> 13) * 1274126177u;
  return h ^ h >> 16;
}

__device__ float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }

__device__ float gradient(int x, int y, float fx, float fy) {
  unsigned h = hash(x, y) & 7;
  float u = h < 4 ? fx : fy, v = h < 4 ? fy : fx;
  return (h & 1 ? -u : u) + (h & 2 ? -2 * v : 2 * v);
}

__device__ float perlin(float x, float y) {
  int ix = floorf(x), iy = floorf(y);
  float fx = x - ix, fy = y - iy, u = fade(fx), v = fade(fy);
  float a = gradient(ix, iy, fx, fy), b = gradient(ix + 1, iy, fx - 1, fy), c = gradient(ix, iy + 1, fx, fy - 1), d = gradient(ix + 1, iy + 1, fx - 1, fy - 1);
  return (a + u * (b - a)) * (1 - v) + (c + u * (d - c)) * v;
}

__global__ void octaves(float* out, int width, int count) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0, scale = 1, frequency = 0.01f;
  for (int o = 0; o < count; ++o) {
    sum += scale * perlin(x * frequency, y * frequency);
    scale *= 0.5f;
    frequency *= 2;
  }
  out[y * width + x] = sum;
}

__global__ void marble(uchar4* out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float v = 0.5f + 0.5f * __sinf(x * 0.05f + 4 * perlin(x * 0.02f, y * 0.02f));
  out[y * width + x] = make_uchar4(255 * v, 200 * v, 180 * sqrtf(v), 255);
}

__global__ void advect(const float2* velocity, const float* in, float* out, int width, int height, float dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float2 v = velocity[y * width + x];
  float px = fminf(fmaxf(x - dt * v.x, 0.0f), width - 1.001f), py = fminf(fmaxf(y - dt * v.y, 0.0f), height - 1.001f);
  int ix = px, iy = py;
  float fx = px - ix, fy = py - iy;
  const float* p = in + iy * width + ix;
  out[y * width + x] = (p[0] * (1 - fx) + p[1] * fx) * (1 - fy) + (p[width] * (1 - fx) + p[width + 1] * fx) * fy;
}

__global__ void swirl(float2* velocity, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  velocity[y * width + x] = make_float2(10 * __sinf(y * 0.05f), 10 * __cosf(x * 0.05f));
}

__global__ void cells(float* out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float best = 1e30f;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      int cx = x / 32 + dx, cy = y / 32 + dy;
      unsigned h = hash(cx, cy);
      float px = cx * 32 + (h & 31) - x, py = cy * 32 + (h >> 5 & 31) - y;
      best = fminf(best, px * px + py * py);
    }
  out[y * width + x] = sqrtf(best);
}

int main() {
  const int width = 512, height = 512;
  float *a, *b;
  float2* velocity;
  CHECK(cudaMalloc(&a, width * height * 4));
  CHECK(cudaMalloc(&b, width * height * 4));
  CHECK(cudaMalloc(&velocity, width * height * 8));
  const dim3 block(32, 8), grid(width / 32, height / 8);
  THRICE octaves<<<grid, block>>>(a, width, 4);
  THRICE octaves<<<dim3(4, 16), block>>>(a, 128, 8);
  THRICE marble<<<dim3(width / 16, height / 16), dim3(16, 16)>>>((uchar4*)b, width);
  THRICE swirl<<<grid, block>>>(velocity, width);
  THRICE {
    advect<<<grid, block>>>(velocity, a, b, width, height, 0.5f);
    std::swap(a, b);
  }
  THRICE cells<<<grid, block>>>(b, width);
  float one;
  CHECK(cudaMemcpy(&one, a + 1000, 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", one);
  return 0;
}
