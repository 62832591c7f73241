// Connected components by hooking and jumping, triangles counted by intersection, a greedy colouring.
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

__global__ void hook(const int2* edges, int* parent, int count, int* changed) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  int a = parent[edges[e].x], b = parent[edges[e].y];
  if (a != b) {
    atomicMin(&parent[max(a, b)], min(a, b));
    *changed = 1;
  }
}

__global__ void jump(int* parent, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int p = parent[v];
  while (p != parent[p]) p = parent[p];
  parent[v] = p;
}

__global__ void triangles(const int* offsets, const int* neighbours, unsigned long long* total, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  unsigned found = 0;
  for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
    int w = neighbours[e];
    if (w <= v) continue;
    int i = offsets[v], j = offsets[w];
    while (i < offsets[v + 1] && j < offsets[w + 1]) {
      int a = neighbours[i], b = neighbours[j];
      found += a == b && a > w;
      i += a <= b;
      j += b <= a;
    }
  }
  atomicAdd(total, (unsigned long long)found);
}

__global__ void colour(const int* offsets, const int* neighbours, int* colours, int n, int round) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || colours[v] >= 0) return;
  unsigned own = v * 2654435761u;
  bool highest = true;
  for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
    int w = neighbours[e];
    if (w != v && (colours[w] < 0 || colours[w] == round) && w * 2654435761u > own) highest = false;
  }
  if (highest) colours[v] = round;
}

int main() {
  const int side = 256, n = side * side;
  std::vector<int> offsets(n + 1), neighbours;
  std::vector<int2> edges;
  for (int v = 0; v < n; ++v) {
    const int x = v % side, y = v / side;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if ((dx || dy) && x + dx >= 0 && x + dx < side && y + dy >= 0 && y + dy < side && ((v * 7 + (v + dy * side + dx) * 7) % 5 || dx == 0)) {
          neighbours.push_back(v + dy * side + dx);
          edges.push_back(make_int2(v, v + dy * side + dx));
        }
    offsets[v + 1] = int(neighbours.size());
  }
  std::vector<int> parent(n);
  for (int v = 0; v < n; ++v) parent[v] = v;
  int *d_offsets, *d_neighbours, *d_parent, *changed;
  int2* d_edges;
  unsigned long long* total;
  CHECK(cudaMalloc(&d_offsets, (n + 1) * 4));
  CHECK(cudaMalloc(&d_neighbours, neighbours.size() * 4));
  CHECK(cudaMalloc(&d_edges, edges.size() * 8));
  CHECK(cudaMalloc(&d_parent, n * 4));
  CHECK(cudaMalloc(&changed, 4));
  CHECK(cudaMalloc(&total, 8));
  CHECK(cudaMemcpy(d_offsets, offsets.data(), (n + 1) * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_neighbours, neighbours.data(), neighbours.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_edges, edges.data(), edges.size() * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_parent, parent.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(total, 0, 8));
  const int count = int(edges.size());
  THRICE {
    hook<<<(count + 255) / 256, 256>>>(d_edges, d_parent, count, changed);
    jump<<<n / 256, 256>>>(d_parent, n);
  }
  THRICE triangles<<<n / 128, 128>>>(d_offsets, d_neighbours, total, n);
  CHECK(cudaMemset(d_parent, -1, n * 4));
  THRICE colour<<<n / 256, 256>>>(d_offsets, d_neighbours, d_parent, n, round);
  unsigned long long found;
  CHECK(cudaMemcpy(&found, total, 8, cudaMemcpyDeviceToHost));
  std::printf("%llu\n", found);
  return 0;
}
