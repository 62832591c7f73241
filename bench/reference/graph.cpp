#include <vector>

#include "reference/reference.h"

namespace reference {

// Level by level from a queue of the vertices reached last. A vertex is taken by whoever changes its level first.
void bfs(const int* row_begin, const int* columns, int vertices, int source, int* level) {
#pragma omp parallel for simd schedule(static)
  for (int v = 0; v < vertices; ++v) level[v] = -1;
  level[source] = 0;
  std::vector<int> frontier{source}, next;
  for (int depth = 1; !frontier.empty(); ++depth) {
    next.clear();
#pragma omp parallel
    {
      std::vector<int> own;
#pragma omp for schedule(dynamic, 256) nowait
      for (size_t k = 0; k < frontier.size(); ++k) {
        const int v = frontier[k];
        for (int e = row_begin[v]; e < row_begin[v + 1]; ++e) {
          const int w = columns[e];
          int unseen = -1;
          if (__atomic_load_n(&level[w], __ATOMIC_RELAXED) == -1 &&
              __atomic_compare_exchange_n(&level[w], &unseen, depth, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            own.push_back(w);
        }
      }
#pragma omp critical
      next.insert(next.end(), own.begin(), own.end());
    }
    frontier.swap(next);
  }
}

void spmv(const int* __restrict row_begin, const int* __restrict columns, const float* __restrict values,
          const float* __restrict x, float* __restrict y, int rows) {
#pragma omp parallel for schedule(dynamic, 1024)
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int e = row_begin[row]; e < row_begin[row + 1]; ++e) sum += values[e] * x[columns[e]];
    y[row] = sum;
  }
}

}  // namespace reference
