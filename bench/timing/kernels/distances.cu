// All distances among points, nearest neighbours by brute force, pairs within a radius through a grid of cells.
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

__global__ void distance_matrix(const float* a, const float* b, float* out, int n, int dimensions) {
  __shared__ float ta[16][17], tb[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int d0 = 0; d0 < dimensions; d0 += 16) {
    ta[threadIdx.y][threadIdx.x] = a[row * dimensions + d0 + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(blockIdx.x * 16 + threadIdx.y) * dimensions + d0 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 16; ++d) {
      float x = ta[threadIdx.y][d] - tb[threadIdx.x][d];
      sum += x * x;
    }
    __syncthreads();
  }
  out[row * n + column] = sqrtf(sum);
}

__global__ void nearest(const float4* points, const float4* queries, int* out, int n) {
  __shared__ float4 tile[256];
  const float4 q = queries[blockIdx.x * blockDim.x + threadIdx.x];
  float best[4] = {1e30f, 1e30f, 1e30f, 1e30f};
  int which[4] = {};
  for (int t = 0; t < n; t += 256) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x) tile[i] = points[t + i];
    __syncthreads();
    for (int i = 0; i < 256; ++i) {
      float x = tile[i].x - q.x, y = tile[i].y - q.y, z = tile[i].z - q.z, d = x * x + y * y + z * z;
      if (d < best[3]) {
        best[3] = d;
        which[3] = t + i;
#pragma unroll
        for (int k = 3; k > 0; --k)
          if (best[k] < best[k - 1]) {
            float f = best[k];
            best[k] = best[k - 1];
            best[k - 1] = f;
            int w = which[k];
            which[k] = which[k - 1];
            which[k - 1] = w;
          }
      }
    }
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = which[0] + which[1] + which[2] + which[3];
}

__global__ void cell_counts(const float4* points, int* counts, int n, int cells) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = points[i];
  atomicAdd(&counts[(int(p.z * cells) * cells + int(p.y * cells)) * cells + int(p.x * cells)], 1);
}

__global__ void neighbours(const float4* points, const int* starts, int* out, int n, int cells, float radius) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = points[i];
  int cx = p.x * cells, cy = p.y * cells, cz = p.z * cells, found = 0;
  for (int z = max(cz - 1, 0); z <= min(cz + 1, cells - 1); ++z)
    for (int y = max(cy - 1, 0); y <= min(cy + 1, cells - 1); ++y)
      for (int x = max(cx - 1, 0); x <= min(cx + 1, cells - 1); ++x) {
        int cell = (z * cells + y) * cells + x;
        for (int j = starts[cell]; j < starts[cell + 1]; ++j) {
          float dx = points[j].x - p.x, dy = points[j].y - p.y, dz = points[j].z - p.z;
          found += dx * dx + dy * dy + dz * dz < radius * radius;
        }
      }
  out[i] = found;
}

int main() {
  const int n = 1 << 14, cells = 16;
  std::vector<float4> host(n);
  std::vector<int> starts(cells * cells * cells + 1);
  for (int c = 0; c < cells * cells * cells; ++c) {
    starts[c] = c * 4;
    for (int k = 0; k < 4; ++k)
      host[4 * c + k] = make_float4((c % cells + 0.2f * k) / cells, (c / cells % cells + 0.5f) / cells, (c / cells / cells + 0.1f * k) / cells, 1);
  }
  starts.back() = n;
  float4* points;
  int *d_starts, *out;
  float* matrix;
  CHECK(cudaMalloc(&points, n * 16));
  CHECK(cudaMalloc(&d_starts, starts.size() * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMalloc(&matrix, 512 * 512 * 4));
  CHECK(cudaMemcpy(points, host.data(), n * 16, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_starts, starts.data(), starts.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, n * 4));
  THRICE distance_matrix<<<dim3(32, 32), dim3(16, 16)>>>((float*)points, (float*)points + 8192, matrix, 512, 64);
  THRICE nearest<<<32, 64>>>(points, points + 2048, out, 2048);
  THRICE cell_counts<<<n / 256, 256>>>(points, out, n, cells);
  THRICE neighbours<<<n / 128, 128>>>(points, d_starts, out, n, cells, 0.05f);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
