// Loops that lanes leave at different times, and that gather and scatter on their way: rows of a sparse matrix of very
// different lengths, rows that end early, neighbours that are marked.
#include <cstdio>
#include <vector>

#define CHECK(x) if (!(x)) { std::printf("line %d: %s\n", __LINE__, #x); return 1; }

__global__ void row_sums(const int* begin, const int* columns, const long long* x, long long* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  long long sum = 0;
  for (int e = begin[row]; e < begin[row + 1]; ++e) sum = sum * 3 + x[columns[e]];
  y[row] = sum;
}

// How far each row goes until it meets an odd column, and which that is.
__global__ void first_odd(const int* begin, const int* columns, int* steps, int* found, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int e = begin[row], last = -1;
  bool odd = false;
  while (e < begin[row + 1]) {
    last = columns[e++];
    if (last & 1) {
      odd = true;
      break;
    }
  }
  steps[row] = e - begin[row];
  found[row] = odd ? last : -last;
}

__global__ void mark(const int* begin, const int* columns, const char* chosen, int* marks, int* any, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && chosen[row]) {
    for (int e = begin[row]; e < begin[row + 1]; ++e)
      if (marks[columns[e]] == -1) {
        marks[columns[e]] = 7;
        *any = 1;
      }
  }
}

int main() {
  const int rows = 1000;
  std::vector<int> begin(1), columns;
  unsigned draw = 1;
  const auto next = [&] { return (draw = draw * 1664525u + 1013904223u) >> 8; };
  for (int row = 0; row < rows; ++row) {
    const int length = row % 37 == 5 ? 300 : next() % 9;
    for (int k = 0; k < length; ++k) columns.push_back(next() % 4 ? 2 * (next() % (rows / 2)) : next() % rows);
    begin.push_back(static_cast<int>(columns.size()));
  }
  std::vector<long long> x(rows), y(rows), sums(rows);
  std::vector<char> chosen(rows);
  for (int k = 0; k < rows; ++k) x[k] = 1000003ll * next(), chosen[k] = next() % 5 == 0;
  int *d_begin, *d_columns, *d_steps, *d_found, *d_marks, *d_any;
  long long *d_x, *d_y;
  char* d_chosen;
  cudaMalloc(&d_begin, begin.size() * 4);
  cudaMalloc(&d_columns, columns.size() * 4);
  cudaMalloc(&d_steps, rows * 4);
  cudaMalloc(&d_found, rows * 4);
  cudaMalloc(&d_marks, rows * 4);
  cudaMalloc(&d_any, 4);
  cudaMalloc(&d_x, rows * 8);
  cudaMalloc(&d_y, rows * 8);
  cudaMalloc(&d_chosen, rows);
  cudaMemcpy(d_begin, begin.data(), begin.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_columns, columns.data(), columns.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, x.data(), rows * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(d_chosen, chosen.data(), rows, cudaMemcpyHostToDevice);
  cudaMemset(d_marks, 0xff, rows * 4);
  cudaMemset(d_any, 0, 4);
  row_sums<<<(rows + 95) / 96, 96>>>(d_begin, d_columns, d_x, d_y, rows);
  first_odd<<<(rows + 127) / 128, 128>>>(d_begin, d_columns, d_steps, d_found, rows);
  mark<<<(rows + 127) / 128, 128>>>(d_begin, d_columns, d_chosen, d_marks, d_any, rows);
  std::vector<int> steps(rows), found(rows), marks(rows);
  int any = 0;
  cudaMemcpy(y.data(), d_y, rows * 8, cudaMemcpyDeviceToHost);
  cudaMemcpy(steps.data(), d_steps, rows * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(found.data(), d_found, rows * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(marks.data(), d_marks, rows * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(&any, d_any, 4, cudaMemcpyDeviceToHost);
  CHECK(cudaGetLastError() == cudaSuccess);
  std::vector<int> expected(rows, -1);
  for (int row = 0; row < rows; ++row) {
    long long sum = 0;
    int e = begin[row], last = -1;
    bool odd = false;
    for (int k = begin[row]; k < begin[row + 1]; ++k) {
      sum = sum * 3 + x[columns[k]];
      if (chosen[row]) expected[columns[k]] = 7;
    }
    while (e < begin[row + 1] && !odd) odd = (last = columns[e++]) & 1;
    CHECK(y[row] == sum);
    CHECK(steps[row] == e - begin[row]);
    CHECK(found[row] == (odd ? last : -last));
  }
  CHECK(marks == expected && any == 1);
  return 0;
}
