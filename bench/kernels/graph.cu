// Breadth-first search and the sparse matrix-vector product, on a graph in compressed sparse rows whose degrees follow
// a power law: a few vertices have most of the edges.
#include "cpu/work.h"
#include "reference/reference.h"

// One level: every vertex of the level before visits its neighbours.
__global__ void bfs_level(const int* row_begin, const int* columns, int vertices, int* level, int current,
                          int* any_new) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices && level[v] == current - 1) {
    for (int e = row_begin[v]; e < row_begin[v + 1]; ++e) {
      int neighbour = columns[e];
      if (level[neighbour] == -1) {
        level[neighbour] = current;
        *any_new = 1;
      }
    }
  }
}

__global__ void spmv(const int* row_begin, const int* columns, const float* values, const float* x, float* y,
                     int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0;
    for (int e = row_begin[row]; e < row_begin[row + 1]; ++e) sum += values[e] * x[columns[e]];
    y[row] = sum;
  }
}

namespace bench {
namespace {

struct Graph {
  std::vector<int> row_begin, columns;
};

// Edges between vertices drawn by recursive choice of quadrants (R-MAT), in both directions.
Graph power_law_graph(int scale, int edges_per_vertex) {
  const size_t vertices = size_t{1} << scale, edges = vertices * edges_per_vertex;
  std::vector<std::pair<int, int>> list;
  list.reserve(2 * edges);
  for (size_t e = 0; e < edges; ++e) {
    unsigned from = 0, to = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const uint32_t draw = mix(e * scale + bit) % 100;
      from = 2 * from + (draw >= 76);
      to = 2 * to + (draw >= 57 && draw < 76) + (draw >= 95);
    }
    // Numbers of vertices say nothing about their degree.
    const int a = static_cast<int>((from * 2654435761u) & (vertices - 1));
    const int b = static_cast<int>((to * 2654435761u) & (vertices - 1));
    if (a == b) continue;
    list.emplace_back(a, b);
    list.emplace_back(b, a);
  }
  Graph graph;
  graph.row_begin.assign(vertices + 1, 0);
  for (auto [a, b] : list) ++graph.row_begin[a + 1];
  for (size_t v = 0; v < vertices; ++v) graph.row_begin[v + 1] += graph.row_begin[v];
  graph.columns.resize(list.size());
  std::vector<int> at(graph.row_begin.begin(), graph.row_begin.end() - 1);
  for (auto [a, b] : list) graph.columns[at[a]++] = b;
  return graph;
}

template <class T>
HostArray<T> host_array(const std::vector<T>& data) {
  HostArray<T> array(data.size());
  std::memcpy(array.data(), data.data(), data.size() * sizeof(T));
  return array;
}

struct GraphWork : Work {
  explicit GraphWork(bool quick)
      : graph(power_law_graph(quick ? 14 : 20, 8)),
        vertices(static_cast<int>(graph.row_begin.size()) - 1),
        row_begin(host_array(graph.row_begin)),
        columns(host_array(graph.columns)),
        d_row_begin(row_begin),
        d_columns(columns) {}

  Graph graph;
  int vertices;
  HostArray<int> row_begin, columns;
  DeviceArray<int> d_row_begin, d_columns;
};

struct Bfs : GraphWork {
  explicit Bfs(bool quick)
      : GraphWork(quick), level(vertices), start(vertices), d_level(vertices), d_start(vertices), d_any(1) {
    // From the vertex with the most neighbours, so that the search reaches the large component.
    for (int v = 0; v < vertices; ++v) {
      start[v] = -1;
      if (row_begin[v + 1] - row_begin[v] > row_begin[source + 1] - row_begin[source]) source = v;
    }
    start[source] = 0;
    d_start.upload(start);
  }
  void ours() override {
    BENCH_CHECK(cudaMemcpyAsync(d_level.data(), d_start.data(), vertices * sizeof(int), cudaMemcpyDeviceToDevice));
    int any = 1;
    for (int current = 1; any; ++current) {
      d_any.clear();
      bfs_level<<<blocks_for(vertices, 256), 256>>>(d_row_begin.data(), d_columns.data(), vertices, d_level.data(),
                                                    current, d_any.data());
      BENCH_CHECK(cudaMemcpy(&any, d_any.data(), sizeof any, cudaMemcpyDeviceToHost));
    }
  }
  void reference() override { ::reference::bfs(row_begin.data(), columns.data(), vertices, source, level.data()); }
  std::string difference() override { return compare_exactly(d_level.download(), level.data(), vertices); }

  HostArray<int> level, start;
  DeviceArray<int> d_level, d_start, d_any;
  int source = 0;
};

struct Spmv : GraphWork {
  explicit Spmv(bool quick)
      : GraphWork(quick),
        values(columns.size()),
        x(vertices),
        y(vertices),
        d_values(columns.size()),
        d_x(vertices),
        d_y(vertices) {
    for (size_t k = 0; k < values.size(); ++k) values[k] = unit(k);
    for (int k = 0; k < vertices; ++k) x[k] = unit(k + 77);
    d_values.upload(values);
    d_x.upload(x);
  }
  void ours() override {
    spmv<<<blocks_for(vertices, 256), 256>>>(d_row_begin.data(), d_columns.data(), d_values.data(), d_x.data(),
                                             d_y.data(), vertices);
  }
  void reference() override {
    ::reference::spmv(row_begin.data(), columns.data(), values.data(), x.data(), y.data(), vertices);
  }
  std::string difference() override { return compare_closely(d_y.download(), y.data(), vertices, 1e-3, 1); }

  HostArray<float> values, x, y;
  DeviceArray<float> d_values, d_x, d_y;
};

}  // namespace

std::unique_ptr<Work> make_bfs(bool quick) { return std::make_unique<Bfs>(quick); }
std::unique_ptr<Work> make_spmv(bool quick) { return std::make_unique<Spmv>(quick); }

}  // namespace bench
