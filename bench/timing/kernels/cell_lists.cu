// Particles in cells: which cell, how many in each, where each cell begins, forces of neighbours; and all pairs by tiles.
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

struct Body {
  float x, y, z, mass;
};

__global__ void count_cells(const Body* bodies, int* cell_of, int* counts, int n, int side) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body b = bodies[i];
  int cx = min(side - 1, int(b.x * side)), cy = min(side - 1, int(b.y * side)), cz = min(side - 1, int(b.z * side));
  int c = (cz * side + cy) * side + cx;
  cell_of[i] = c;
  atomicAdd(&counts[c], 1);
}

__global__ void scan_cells(const int* counts, int* starts, int* cursor, int cells) {
  __shared__ int sums[1024];
  int carry = 0;
  for (int base = 0; base < cells; base += 1024) {
    int v = counts[base + threadIdx.x];
    sums[threadIdx.x] = v;
    __syncthreads();
    for (int o = 1; o < 1024; o <<= 1) {
      int t = threadIdx.x >= o ? sums[threadIdx.x - o] : 0;
      __syncthreads();
      sums[threadIdx.x] += t;
      __syncthreads();
    }
    starts[base + threadIdx.x] = cursor[base + threadIdx.x] = carry + sums[threadIdx.x] - v;
    carry += sums[1023];
    __syncthreads();
  }
}

__global__ void place(const Body* bodies, const int* cell_of, int* cursor, Body* sorted, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sorted[atomicAdd(&cursor[cell_of[i]], 1)] = bodies[i];
}

__global__ void forces(const Body* sorted, const int* starts, const int* counts, float3* force, int n, int side, float cutoff) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body b = sorted[i];
  int cx = min(side - 1, int(b.x * side)), cy = min(side - 1, int(b.y * side)), cz = min(side - 1, int(b.z * side));
  float fx = 0, fy = 0, fz = 0;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        int x = cx + dx, y = cy + dy, z = cz + dz;
        if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) continue;
        int c = (z * side + y) * side + x, end = starts[c] + counts[c];
        for (int j = starts[c]; j < end; j++) {
          Body o = sorted[j];
          float rx = o.x - b.x, ry = o.y - b.y, rz = o.z - b.z, r2 = rx * rx + ry * ry + rz * rz;
          if (r2 < cutoff * cutoff && r2 > 0) {
            float inverse = rsqrtf(r2), w = o.mass * inverse * inverse * inverse;
            fx += rx * w;
            fy += ry * w;
            fz += rz * w;
          }
        }
      }
  force[i] = make_float3(fx, fy, fz);
}

__global__ void all_pairs(const float4* bodies, float3* force, int n) {
  __shared__ float4 tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float4 b = bodies[i];
  float3 f = {0, 0, 0};
  for (int t = 0; t < n; t += 128) {
    tile[threadIdx.x] = bodies[t + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; j++) {
      float rx = tile[j].x - b.x, ry = tile[j].y - b.y, rz = tile[j].z - b.z;
      float inverse = rsqrtf(rx * rx + ry * ry + rz * rz + 0.01f), w = tile[j].w * inverse * inverse * inverse;
      f.x += rx * w;
      f.y += ry * w;
      f.z += rz * w;
    }
    __syncthreads();
  }
  force[i] = f;
}

int main() {
  const int n = 1 << 17, side = 32, cells = side * side * side;
  std::vector<Body> host(n);
  unsigned s = 1;
  auto random = [&] { return float((s = s * 1664525u + 1013904223u) >> 8) / 16777216.0f; };
  for (Body& b : host) b = {random(), random(), random(), 1.0f};
  Body *bodies, *sorted;
  int *cell_of, *counts, *starts, *cursor;
  float3* force;
  CHECK(cudaMalloc(&bodies, n * sizeof(Body)));
  CHECK(cudaMalloc(&sorted, n * sizeof(Body)));
  CHECK(cudaMalloc(&force, n * sizeof(float3)));
  CHECK(cudaMalloc(&cell_of, n * 4));
  CHECK(cudaMalloc(&counts, cells * 4));
  CHECK(cudaMalloc(&starts, cells * 4));
  CHECK(cudaMalloc(&cursor, cells * 4));
  CHECK(cudaMemcpy(bodies, host.data(), n * sizeof(Body), cudaMemcpyHostToDevice));
  THRICE {
    CHECK(cudaMemset(counts, 0, cells * 4));
    count_cells<<<n / 256, 256>>>(bodies, cell_of, counts, n, side);
    scan_cells<<<1, 1024>>>(counts, starts, cursor, cells);
    place<<<n / 256, 256>>>(bodies, cell_of, cursor, sorted, n);
    forces<<<n / 128, 128>>>(sorted, starts, counts, force, n, side, 1.0f / side);
  }
  THRICE all_pairs<<<64, 128>>>(reinterpret_cast<float4*>(bodies), force, 8192);
  CHECK(cudaMemcpy(host.data(), force, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[7].x);
  return 0;
}
