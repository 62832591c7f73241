// Breadth-first search level by level over a synthetic graph, by vertices and by a queue; a PageRank step; labels.
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

__global__ void by_vertex(const int* offsets, const int* edges, int* level, int depth, int n, int* changed) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != depth) return;
  for (int e = offsets[v]; e < offsets[v + 1]; ++e)
    if (level[edges[e]] < 0) {
      level[edges[e]] = depth + 1;
      *changed = 1;
    }
}

__global__ void by_queue(const int* offsets, const int* edges, int* level, int depth, const int* queue, int count, int* next, int* next_count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int v = queue[i];
  for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
    int w = edges[e];
    if (atomicCAS(&level[w], -1, depth + 1) == -1) next[atomicAdd(next_count, 1)] = w;
  }
}

__global__ void rank(const int* offsets, const int* edges, const float* from, float* to, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0;
  for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
    int w = edges[e];
    sum += from[w] / (offsets[w + 1] - offsets[w]);
  }
  to[v] = 0.15f / n + 0.85f * sum;
}

__global__ void labels(const int* offsets, const int* edges, int* label, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int best = label[v];
  for (int e = offsets[v]; e < offsets[v + 1]; ++e) best = min(best, label[edges[e]]);
  if (best < label[v]) atomicMin(&label[v], best);
}

int main() {
  const int n = 1 << 17;
  std::vector<int> offsets(n + 1), edges;
  unsigned state = 7;
  for (int v = 0; v < n; ++v) {
    state = state * 1664525u + 1013904223u;
    const int degree = 2 + (state >> 24) % 13 + ((state >> 16 & 255) == 0 ? 200 : 0);
    for (int k = 0; k < degree; ++k) {
      state = state * 1664525u + 1013904223u;
      edges.push_back(k % 2 ? int((state >> 8) % n) : (v + int(state >> 28)) % n);
    }
    offsets[v + 1] = int(edges.size());
  }
  int *d_offsets, *d_edges, *level, *queue, *count;
  float* ranks;
  CHECK(cudaMalloc(&d_offsets, (n + 1) * 4));
  CHECK(cudaMalloc(&d_edges, edges.size() * 4));
  CHECK(cudaMalloc(&level, n * 4));
  CHECK(cudaMalloc(&queue, 2 * n * 4));
  CHECK(cudaMalloc(&count, 4));
  CHECK(cudaMalloc(&ranks, 2 * n * 4));
  CHECK(cudaMemcpy(d_offsets, offsets.data(), (n + 1) * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_edges, edges.data(), edges.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(level, -1, n * 4));
  CHECK(cudaMemset(level, 0, 4));
  for (int depth = 0;; ++depth) {
    int changed = 0;
    CHECK(cudaMemset(count, 0, 4));
    by_vertex<<<n / 256, 256>>>(d_offsets, d_edges, level, depth, n, count);
    CHECK(cudaMemcpy(&changed, count, 4, cudaMemcpyDeviceToHost));
    if (!changed) break;
  }
  CHECK(cudaMemset(level, -1, n * 4));
  CHECK(cudaMemset(level, 0, 4));
  CHECK(cudaMemset(queue, 0, 4));
  int size = 1, *from = queue, *to = queue + n;
  for (int depth = 0; size; ++depth) {
    CHECK(cudaMemset(count, 0, 4));
    by_queue<<<(size + 127) / 128, 128>>>(d_offsets, d_edges, level, depth, from, size, to, count);
    CHECK(cudaMemcpy(&size, count, 4, cudaMemcpyDeviceToHost));
    std::swap(from, to);
  }
  CHECK(cudaMemset(ranks, 0, 2 * n * 4));
  THRICE rank<<<n / 256, 256>>>(d_offsets, d_edges, ranks, ranks + n, n);
  THRICE labels<<<n / 128, 128>>>(d_offsets, d_edges, level, n);
  int one;
  CHECK(cudaMemcpy(&one, level + 100, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", one);
  return 0;
}
