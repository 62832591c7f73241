// Fractals of other kinds: Newton's basins, a burning ship, a Sierpinski carpet, a bulb marched by distance, Buddhabrot counts.
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

__global__ void newton(unsigned char* out, int width, int height) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float x = (px - width / 2) * 4.0f / width, y = (py - height / 2) * 4.0f / height + 1e-3f;
  int n = 0;
  for (; n < 60; ++n) {
    float x2 = x * x - y * y, y2 = 2 * x * y, d = 3 * (x2 * x2 + y2 * y2);
    float x3 = x2 * x - y2 * y - 1, y3 = x2 * y + y2 * x;
    float sx = (x3 * x2 + y3 * y2) / d, sy = (y3 * x2 - x3 * y2) / d;
    x -= sx;
    y -= sy;
    if (sx * sx + sy * sy < 1e-10f) break;
  }
  out[py * width + px] = n;
}

__global__ void ship(unsigned char* out, int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float cx = (i % width) * 3.0f / width - 2.2f, cy = (i / width) * 2.0f / height - 1.5f, x = 0, y = 0;
  int n = 0;
  do {
    float t = x * x - y * y + cx;
    y = 2 * fabsf(x * y) + cy;
    x = t;
  } while (++n < 120 && x * x + y * y < 16);
  out[i] = n;
}

__global__ void carpet(unsigned char* out, int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * size + x;
  unsigned char solid = 1;
  for (; x > 0 || y > 0; x /= 3, y /= 3)
    if (x % 3 == 1 && y % 3 == 1) {
      solid = 0;
      break;
    }
  out[i] = solid;
}

__global__ void bulb(float* out, int width, int height) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float dx = px * 2.4f / width - 1.2f, dy = py * 2.4f / height - 1.2f, travelled = 0;
  for (int step = 0; step < 24; ++step) {
    float zx = dx, zy = dy, zz = travelled - 2, dr = 1, r = 0;
    for (int k = 0; k < 5; ++k) {
      r = sqrtf(zx * zx + zy * zy + zz * zz);
      if (r > 2) break;
      float theta = acosf(zz / r) * 8, phi = atan2f(zy, zx) * 8, power = __powf(r, 7.0f);
      dr = power * 8 * dr + 1;
      power *= r;
      zx = power * __sinf(theta) * __cosf(phi) + dx;
      zy = power * __sinf(theta) * __sinf(phi) + dy;
      zz = power * __cosf(theta) + travelled - 2;
    }
    float distance = 0.5f * __logf(r + 1e-6f) * r / dr;
    if (distance < 0.001f || travelled > 4) break;
    travelled += fmaxf(distance, 0.001f);
  }
  out[py * width + px] = travelled;
}

__global__ void orbits(unsigned* counts, int width, int rounds) {
  unsigned s = blockIdx.x * blockDim.x + threadIdx.x;
  s = s * 2654435761u + 1;
  s ^= s >> 15;
  float cx = (s & 0xffff) * 3.0f / 65536 - 2.2f, cy = (s >> 16) * 2.6f / 65536 - 1.3f, x = 0, y = 0;
  for (int n = 0; n < rounds; ++n) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    if (x * x + y * y > 4) break;
    int px = min(int((x + 2) * width / 4), width - 1), py = min(int((y + 2) * width / 4), width - 1);
    atomicAdd(&counts[py * width + px], 1u);
  }
}

int main() {
  const int width = 512, height = 256;
  unsigned* out;
  CHECK(cudaMalloc(&out, 1 << 22));
  CHECK(cudaMemset(out, 0, 1 << 22));
  THRICE newton<<<dim3(width / 16, height / 16), dim3(16, 16)>>>((unsigned char*)out, width, height);
  THRICE ship<<<width * height / 128, 128>>>((unsigned char*)out, width, height);
  THRICE carpet<<<dim3(729 / 27, 729 / 27), dim3(27, 27)>>>((unsigned char*)out, 729);
  THRICE bulb<<<dim3(4, 16), dim3(32, 8)>>>((float*)out, 128, 128);
  THRICE orbits<<<128, 256>>>(out, 1024, 100);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
