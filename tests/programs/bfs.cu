// Breadth-first search over a CSR graph, level by level, two kernels per level.
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

struct Node {
  int starting;
  int no_of_edges;
};

__global__ void Kernel(Node* g_nodes, int* g_edges, bool* g_mask, bool* g_updating, bool* g_visited, int* g_cost,
                       int n) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n && g_mask[tid]) {
    g_mask[tid] = false;
    for (int i = g_nodes[tid].starting; i < (g_nodes[tid].no_of_edges + g_nodes[tid].starting); i++) {
      int id = g_edges[i];
      if (!g_visited[id]) {
        g_cost[id] = g_cost[tid] + 1;
        g_updating[id] = true;
      }
    }
  }
}

__global__ void Kernel2(bool* g_mask, bool* g_updating, bool* g_visited, bool* g_over, int n) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n && g_updating[tid]) {
    g_mask[tid] = true;
    g_visited[tid] = true;
    *g_over = true;
    g_updating[tid] = false;
  }
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 4096;
  std::vector<Node> nodes(n);
  std::vector<int> edges;
  unsigned s = 3;
  for (int i = 0; i < n; i++) {
    nodes[i].starting = (int)edges.size();
    s = s * 1664525u + 1013904223u;
    nodes[i].no_of_edges = 1 + (s >> 28) % 5;
    for (int e = 0; e < nodes[i].no_of_edges; e++) {
      s = s * 1664525u + 1013904223u;
      edges.push_back((s >> 8) % n);
    }
  }
  bool *h_mask = new bool[n](), *h_upd = new bool[n](), *h_vis = new bool[n]();
  std::vector<int> cost(n, -1), ref(n, -1);
  h_mask[0] = h_vis[0] = true;
  cost[0] = ref[0] = 0;
  std::queue<int> q;
  q.push(0);
  while (!q.empty()) {
    int v = q.front();
    q.pop();
    for (int e = nodes[v].starting; e < nodes[v].starting + nodes[v].no_of_edges; e++)
      if (ref[edges[e]] < 0) ref[edges[e]] = ref[v] + 1, q.push(edges[e]);
  }
  Node* d_nodes;
  int *d_edges, *d_cost;
  bool *d_mask, *d_upd, *d_vis, *d_over;
  CHECK(cudaMalloc(&d_nodes, n * sizeof(Node)));
  CHECK(cudaMalloc(&d_edges, edges.size() * sizeof(int)));
  CHECK(cudaMalloc(&d_cost, n * sizeof(int)));
  CHECK(cudaMalloc(&d_mask, n));
  CHECK(cudaMalloc(&d_upd, n));
  CHECK(cudaMalloc(&d_vis, n));
  CHECK(cudaMalloc(&d_over, 1));
  CHECK(cudaMemcpy(d_nodes, nodes.data(), n * sizeof(Node), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_cost, cost.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_mask, h_mask, n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_upd, h_upd, n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_vis, h_vis, n, cudaMemcpyHostToDevice));
  int k = 0;
  bool stop;
  do {
    stop = false;
    CHECK(cudaMemcpy(d_over, &stop, sizeof(bool), cudaMemcpyHostToDevice));
    Kernel<<<(n + 255) / 256, 256>>>(d_nodes, d_edges, d_mask, d_upd, d_vis, d_cost, n);
    Kernel2<<<(n + 255) / 256, 256>>>(d_mask, d_upd, d_vis, d_over, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&stop, d_over, sizeof(bool), cudaMemcpyDeviceToHost));
    k++;
  } while (stop);
  CHECK(cudaMemcpy(cost.data(), d_cost, n * sizeof(int), cudaMemcpyDeviceToHost));
  int bad = 0, reached = 0;
  for (int i = 0; i < n; i++) bad += cost[i] != ref[i], reached += cost[i] >= 0;
  delete[] h_mask;
  delete[] h_upd;
  delete[] h_vis;
  printf("bfs: %d of %d nodes reached in %d rounds, %s\n", reached, n, k, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
