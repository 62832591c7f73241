// All pairs of 4096 bodies, a long simulation of paths, a deep Mandelbrot set, a long search in few blocks.
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

__global__ void potentials(const float4* bodies, float* out, int n) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 own = bodies[i];
  float sum = 0;
  for (int t = 0; t < n; t += 256) {
    tile[threadIdx.x] = bodies[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 256; ++j) {
      float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
      sum += tile[j].w * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    }
    __syncthreads();
  }
  out[i] = sum;
}

__global__ void walks(unsigned long long* hits, int steps) {
  unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 1;
  float x = 0, y = 0;
  unsigned found = 0;
  for (int i = 0; i < steps; ++i) {
    s = s * 1664525u + 1013904223u;
    float angle = (s >> 8) * 3.7450704e-7f;
    x += __cosf(angle);
    y += __sinf(angle);
    found += x * x + y * y < 25;
  }
  atomicAdd(hits, (unsigned long long)found);
}

__global__ void deep(int* out, int width, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float cx = -0.7436f + (i % width) * 4e-6f, cy = 0.1318f + (i / width) * 4e-6f, x = 0, y = 0;
  int n = 0;
  while (n < limit && x * x + y * y < 4) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    ++n;
  }
  out[i] = n;
}

__global__ void queens(int* out, int n, int depth) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned columns = 0, left = 0, right = 0, all = (1u << n) - 1;
  int code = id, found = 0;
  for (int r = 0; r < depth; ++r) {
    unsigned bit = 1u << code % n;
    code /= n;
    if ((columns | left | right) & bit) {
      out[id] = 0;
      return;
    }
    columns |= bit;
    left = (left | bit) << 1;
    right = (right | bit) >> 1;
  }
  unsigned stack_c[12], stack_l[12], stack_r[12], open[12];
  int level = 0;
  stack_c[0] = columns, stack_l[0] = left, stack_r[0] = right, open[0] = all & ~(columns | left | right);
  while (level >= 0) {
    unsigned bits = open[level];
    if (!bits) {
      --level;
      continue;
    }
    unsigned bit = bits & -bits;
    open[level] = bits ^ bit;
    if (level + depth == n - 1) {
      ++found;
      continue;
    }
    unsigned c = stack_c[level] | bit, l = (stack_l[level] | bit) << 1, r = (stack_r[level] | bit) >> 1;
    ++level;
    stack_c[level] = c, stack_l[level] = l, stack_r[level] = r, open[level] = all & ~(c | l | r);
  }
  out[id] = found;
}

int main() {
  const int n = 4096;
  std::vector<float4> host(n);
  for (int i = 0; i < n; ++i) host[i] = make_float4(i % 17, i % 29, i % 37, 1);
  float4* bodies;
  int* out;
  CHECK(cudaMalloc(&bodies, n * 16));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemset(out, 0, 1 << 20));
  CHECK(cudaMemcpy(bodies, host.data(), n * 16, cudaMemcpyHostToDevice));
  THRICE potentials<<<n / 256, 256>>>(bodies, (float*)out, n);
  THRICE walks<<<66, 256>>>((unsigned long long*)out, 500);
  THRICE deep<<<128 * 128 / 128, 128>>>(out, 128, 1500);
  THRICE queens<<<11 * 11 * 11 / 121, 121>>>(out, 11, 3);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
