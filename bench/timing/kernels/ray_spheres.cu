// Rays and spheres: nearest hits in constant and global memory, reflections, a heightmap marched through.
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

struct Sphere {
  float x, y, z, radius, shade;
};

__constant__ Sphere scene[32];

__device__ float hit(const Sphere& s, float ox, float oy, float dx, float dy, float dz, float oz) {
  float cx = ox - s.x, cy = oy - s.y, cz = oz - s.z;
  float b = cx * dx + cy * dy + cz * dz, c = cx * cx + cy * cy + cz * cz - s.radius * s.radius, d = b * b - c;
  return d < 0 ? 1e30f : -b - sqrtf(d);
}

__global__ void orthographic(unsigned char* out, int width, int height) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float x = px * 2.0f / width - 1, y = py * 2.0f / height - 1, best = -1e30f, shade = 0;
  for (int i = 0; i < 32; ++i) {
    float dx = x - scene[i].x, dy = y - scene[i].y, square = scene[i].radius * scene[i].radius - dx * dx - dy * dy;
    if (square > 0) {
      float dz = sqrtf(square), t = dz + scene[i].z;
      if (t > best) {
        best = t;
        shade = scene[i].shade * dz / scene[i].radius;
      }
    }
  }
  out[py * width + px] = (unsigned char)(shade * 255);
}

__global__ void reflections(const Sphere* spheres, float* out, int width, int height, int count) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float ox = 0, oy = 0, oz = -3, dx = px * 2.0f / width - 1, dy = py * 2.0f / height - 1, dz = 1.5f;
  float inverse = rsqrtf(dx * dx + dy * dy + dz * dz), light = 0, weight = 1;
  dx *= inverse, dy *= inverse, dz *= inverse;
  for (int bounce = 0; bounce < 4; ++bounce) {
    int nearest = -1;
    float best = 1e29f;
    for (int i = 0; i < count; ++i) {
      float t = hit(spheres[i], ox, oy, dx, dy, dz, oz);
      if (t > 1e-3f && t < best) {
        best = t;
        nearest = i;
      }
    }
    if (nearest < 0) {
      light += weight * fmaxf(dy, 0.1f);
      break;
    }
    const Sphere s = spheres[nearest];
    ox += best * dx, oy += best * dy, oz += best * dz;
    float nx = (ox - s.x) / s.radius, ny = (oy - s.y) / s.radius, nz = (oz - s.z) / s.radius, dot = nx * dx + ny * dy + nz * dz;
    dx -= 2 * dot * nx, dy -= 2 * dot * ny, dz -= 2 * dot * nz;
    light += weight * s.shade * 0.5f;
    weight *= 0.5f;
  }
  out[py * width + px] = light;
}

__global__ void march(const float* height, float* out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i % size, y = 0, z = 40, slope = -0.2f - i / size * 0.002f;
  int steps = 0;
  while (y < size - 1 && z > height[int(y) * size + int(x)] && steps < 400) {
    y += 1;
    z += slope;
    ++steps;
  }
  out[i] = steps;
}

int main() {
  std::vector<Sphere> host(32);
  for (int i = 0; i < 32; ++i) host[i] = {(i * 37 % 64) / 32.0f - 1, (i * 23 % 64) / 32.0f - 1, (i * 11 % 64) / 32.0f, 0.1f + i % 5 * 0.05f, 0.3f + i % 7 * 0.1f};
  CHECK(cudaMemcpyToSymbol(scene, host.data(), sizeof(Sphere) * 32));
  Sphere* spheres;
  float *out, *height;
  CHECK(cudaMalloc(&spheres, sizeof(Sphere) * 32));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMalloc(&height, 256 * 256 * 4));
  CHECK(cudaMemcpy(spheres, host.data(), sizeof(Sphere) * 32, cudaMemcpyHostToDevice));
  std::vector<float> hills(256 * 256);
  for (int i = 0; i < 256 * 256; ++i) hills[i] = (i * 2654435761u >> 27) * 0.5f;
  CHECK(cudaMemcpy(height, hills.data(), hills.size() * 4, cudaMemcpyHostToDevice));
  THRICE orthographic<<<dim3(32, 32), dim3(16, 16)>>>((unsigned char*)out, 512, 512);
  THRICE reflections<<<dim3(8, 32), dim3(32, 8)>>>(spheres, out, 256, 256, 20);
  THRICE march<<<256 * 64 / 128, 128>>>(height, out, 256);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
