// Bellman-Ford, PageRank, connected components by hooking, triangle counting, topological levels and colouring.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void relax(const int* from, const int* to, const int* weight, int m, int* dist, int* changed) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= m) return;
  int d = ((volatile int*)dist)[from[e]];
  if (d != INT_MAX && d + weight[e] < atomicMin(&dist[to[e]], d + weight[e])) *changed = 1;
}
__global__ void push_rank(const int* ptr, const int* adj, int n, const float* rank, float* next) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float share = rank[v] / (ptr[v + 1] - ptr[v]);
  for (int e = ptr[v]; e < ptr[v + 1]; e++) atomicAdd(&next[adj[e]], share);
}
__global__ void damp(float* rank, float* next, int n, float* delta) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float r = 0.15f / n + 0.85f * next[v];
  atomicAdd(delta, fabsf(r - rank[v]));
  rank[v] = r;
  next[v] = 0;
}
__global__ void hook(const int* from, const int* to, int m, int* parent, bool* changed) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= m) return;
  int a = parent[from[e]], b = parent[to[e]];
  if (a == b) return;
  *changed = true;
  atomicMin(&parent[max(a, b)], min(a, b));
}
__global__ void shortcut(int* parent, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  volatile int* p = parent;
  while (p[v] != p[p[v]]) p[v] = p[p[v]];
}
__global__ void triangles(const int* ptr, const int* adj, int n, unsigned long long* count) {
  int v = blockIdx.x, found = 0;
  for (int e = ptr[v] + threadIdx.x; e < ptr[v + 1]; e += blockDim.x) {
    int u = adj[e], i = ptr[v], j = ptr[u];
    if (u <= v) continue;
    while (i < ptr[v + 1] && j < ptr[u + 1]) {
      if (adj[i] < adj[j])
        i++;
      else if (adj[i] > adj[j])
        j++;
      else {
        if (adj[i] > u) found++;
        i++, j++;
      }
    }
  }
  for (int o = 16; o; o >>= 1) found += __shfl_down_sync(~0u, found, o);
  if (threadIdx.x == 0) atomicAdd(count, (unsigned long long)found);
}
__global__ void color(const int* ptr, const int* adj, int n, const unsigned* priority, volatile int* colors, int round,
                      int* left) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || colors[v] >= 0) return;
  for (int e = ptr[v]; e < ptr[v + 1]; e++) {
    int u = adj[e], c = colors[u];
    if (u != v && (c < 0 || c == round) && priority[u] > priority[v]) {
      atomicAdd(left, 1);
      return;
    }
  }
  colors[v] = round;
}

template <class T>
static T* up(const std::vector<T>& v) {
  T* d;
  CHECK(cudaMalloc(&d, v.size() * sizeof(T)));
  CHECK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}
template <class T>
static T one(const T* d) {
  T h;
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
  return h;
}

int main() {
  const int n = 600, groups = 4;
  std::vector<std::vector<int>> g(n);
  unsigned s = 7;
  auto rnd = [&](int k) { return (int)((s = s * 1664525u + 1013904223u) >> 8) % k; };
  for (int v = 0; v < n; v++)  // edges stay within v % groups
    for (int k = 0; k < 4; k++) {
      int u = rnd(n / groups) * groups + v % groups;
      if (u != v) g[v].push_back(u), g[u].push_back(v);
    }
  std::vector<int> ptr(1, 0), adj, from, to, weight;
  for (int v = 0; v < n; v++) {
    std::sort(g[v].begin(), g[v].end());
    g[v].erase(std::unique(g[v].begin(), g[v].end()), g[v].end());
    for (int u : g[v]) adj.push_back(u), from.push_back(v), to.push_back(u), weight.push_back(1 + (v * 7 + u * 3) % 20);
    ptr.push_back((int)adj.size());
  }
  const int m = (int)adj.size(), gn = (n + 127) / 128, gm = (m + 127) / 128;
  int *d_ptr = up(ptr), *d_adj = up(adj), *d_from = up(from), *d_to = up(to), *d_w = up(weight), bad = 0;

  std::vector<int> dist(n, INT_MAX);
  dist[0] = 0;
  int *d_dist = up(dist), *d_flag = up(std::vector<int>(1, 0)), rounds = 0;
  do {
    CHECK(cudaMemset(d_flag, 0, 4));
    relax<<<gm, 128>>>(d_from, d_to, d_w, m, d_dist, d_flag);
  } while (one(d_flag) && ++rounds < n);
  for (bool change = true; change;) {
    change = false;
    for (int e = 0; e < m; e++)
      if (dist[from[e]] != INT_MAX && dist[from[e]] + weight[e] < dist[to[e]])
        dist[to[e]] = dist[from[e]] + weight[e], change = true;
  }
  std::vector<int> got(n);
  CHECK(cudaMemcpy(got.data(), d_dist, n * 4, cudaMemcpyDeviceToHost));
  bad += got != dist;
  printf("shortest paths: %s\n", got == dist ? "ok" : "WRONG");

  float *d_rank = up(std::vector<float>(n, 1.0f / n)), *d_next = up(std::vector<float>(n, 0.0f)),
        *d_delta = up(std::vector<float>(1, 0.0f)), delta;
  int iterations = 0;
  do {
    CHECK(cudaMemset(d_delta, 0, 4));
    push_rank<<<gn, 128>>>(d_ptr, d_adj, n, d_rank, d_next);
    damp<<<gn, 128>>>(d_rank, d_next, n, d_delta);
    delta = one(d_delta);
  } while (delta > 1e-5f && ++iterations < 100);
  std::vector<float> rank(n);
  CHECK(cudaMemcpy(rank.data(), d_rank, n * 4, cudaMemcpyDeviceToHost));
  double total = 0, worst = 0;
  for (float r : rank) total += r;
  for (int v = 0; v < n; v++) {  // the fixed point
    double r = 0.15 / n;
    for (int u : g[v]) r += 0.85 * rank[u] / g[u].size();
    worst = fmax(worst, fabs(r - rank[v]));
  }
  bad += !(fabs(total - 1) < 1e-3) || !(worst < 1e-5) || iterations >= 100;
  printf("page rank: sum %.3f\n", total);

  std::vector<int> parent(n);
  std::iota(parent.begin(), parent.end(), 0);
  int* d_parent = up(parent);
  bool *d_changed, changed;
  CHECK(cudaMalloc(&d_changed, 1));
  do {
    CHECK(cudaMemset(d_changed, 0, 1));
    hook<<<gm, 128>>>(d_from, d_to, m, d_parent, d_changed);
    shortcut<<<gn, 128>>>(d_parent, n);
    changed = one(d_changed);
  } while (changed);
  CHECK(cudaMemcpy(parent.data(), d_parent, n * 4, cudaMemcpyDeviceToHost));
  int components = 0;
  for (int v = 0; v < n; v++) {
    components += parent[v] == v;
    for (int u : g[v]) bad += parent[u] != parent[v];
    bad += parent[v] % groups != v % groups;
  }
  printf("components: %d\n", components);

  unsigned long long *d_count = up(std::vector<unsigned long long>(1, 0)), want = 0;
  triangles<<<n, 32>>>(d_ptr, d_adj, n, d_count);
  for (int v = 0; v < n; v++)
    for (int u : g[v])
      if (u > v)
        for (int w : g[u])
          if (w > u && std::binary_search(g[v].begin(), g[v].end(), w)) want++;
  unsigned long long count = one(d_count);
  bad += count != want;
  printf("triangles: %llu\n", count);

  std::vector<unsigned> priority(n);
  for (unsigned i = 0; i < (unsigned)n; i++) priority[i] = i * 2654435761u;
  unsigned* d_priority = up(priority);
  int *d_colors = up(std::vector<int>(n, -1)), round = 0, left;
  do {
    CHECK(cudaMemset(d_flag, 0, 4));
    color<<<gn, 128>>>(d_ptr, d_adj, n, d_priority, d_colors, round, d_flag);
    left = one(d_flag);
  } while (left && ++round < n);
  std::vector<int> colors(n);
  CHECK(cudaMemcpy(colors.data(), d_colors, n * 4, cudaMemcpyDeviceToHost));
  for (int v = 0; v < n; v++) {
    bad += colors[v] < 0;
    for (int u : g[v]) bad += colors[u] == colors[v];
  }
  printf("graph_algorithms: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
