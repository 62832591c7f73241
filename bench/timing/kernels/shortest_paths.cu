// Shortest paths: Floyd and Warshall naive and by tiles, Bellman and Ford over edges, a wave over a grid with obstacles.
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

__global__ void floyd(int* d, int n, int k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  d[y * n + x] = min(d[y * n + x], d[y * n + k] + d[k * n + x]);
}

__global__ void floyd_row(int* d, int n, int k) {
  __shared__ int through;
  if (threadIdx.x == 0) through = d[blockIdx.y * n + k];
  __syncthreads();
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int v = through + d[k * n + x];
  if (v < d[blockIdx.y * n + x]) d[blockIdx.y * n + x] = v;
}

__global__ void floyd_tile(int* d, int n, int tile) {
  __shared__ int a[32][33], b[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, t = tile * 32;
  for (int r = threadIdx.y; r < 32; r += 8) {
    a[r][threadIdx.x] = d[(blockIdx.y * 32 + r) * n + t + threadIdx.x];
    b[r][threadIdx.x] = d[(t + r) * n + x];
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) {
    int best = d[(blockIdx.y * 32 + r) * n + x];
#pragma unroll 8
    for (int k = 0; k < 32; ++k) best = min(best, a[r][k] + b[k][threadIdx.x]);
    d[(blockIdx.y * 32 + r) * n + x] = best;
  }
}

__global__ void bellman(const int4* edges, int* d, int count, int* changed) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  int4 edge = edges[e];
  int from = d[edge.x];
  if (from < 1 << 28 && from + edge.z < d[edge.y]) {
    if (atomicMin(&d[edge.y], from + edge.z) > from + edge.z) *changed = 1;
  }
}

__global__ void wave(const unsigned char* wall, const int* in, int* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * width + x;
  if (wall[i]) return;
  int v = in[i];
  if (x > 0) v = min(v, in[i - 1] + 1);
  if (x < width - 1) v = min(v, in[i + 1] + 1);
  if (y > 0) v = min(v, in[i - width] + 1);
  if (y < height - 1) v = min(v, in[i + width] + 1);
  out[i] = v;
}

int main() {
  const int n = 512, count = 1 << 18;
  std::vector<int> matrix(n * n);
  std::vector<int4> edges(count);
  for (int i = 0; i < n * n; ++i) matrix[i] = 1 + int(i * 2654435761u >> 22);
  for (int e = 0; e < count; ++e) edges[e] = make_int4(e * 40503u % 65536, e * 2654435761u >> 16, 1 + e % 100, 0);
  int *d, *v;
  int4* d_edges;
  CHECK(cudaMalloc(&d, n * n * 4));
  CHECK(cudaMalloc(&v, 1 << 22));
  CHECK(cudaMalloc(&d_edges, count * 16));
  CHECK(cudaMemcpy(d, matrix.data(), n * n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_edges, edges.data(), count * 16, cudaMemcpyHostToDevice));
  THRICE floyd<<<dim3(32, 32), dim3(16, 16)>>>(d, n, round);
  THRICE floyd_row<<<dim3(2, n), 256>>>(d, n, round + 3);
  THRICE floyd_tile<<<dim3(16, 16), dim3(32, 8)>>>(d, n, round);
  CHECK(cudaMemset(v, 0x20, 1 << 22));
  CHECK(cudaMemset(v, 0, 4));
  for (int k = 0; k < 6; ++k) bellman<<<count / 256, 256>>>(d_edges, v, count, v + 100000);
  CHECK(cudaMemset(d_edges, 0, 1 << 20));
  for (int k = 0; k < 3; ++k) wave<<<dim3(16, 64), dim3(32, 8)>>>((unsigned char*)d_edges, k % 2 ? v : d, k % 2 ? d : v, 512, 512);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
