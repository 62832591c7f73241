// Sparse matrix times vector: CSR with a thread and with a warp a row, ELL, coordinates with atomics.
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

__global__ void csr_scalar(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = offsets[r]; k < offsets[r + 1]; ++k) sum += values[k] * x[columns[k]];
  y[r] = sum;
}

__global__ void csr_vector(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int k = offsets[r] + lane; k < offsets[r + 1]; k += 32) sum += values[k] * x[columns[k]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (lane == 0) y[r] = sum;
}

__global__ void ell(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) {
    int c = columns[k * rows + r];
    if (c >= 0) sum += values[k * rows + r] * x[c];
  }
  y[r] = sum;
}

__global__ void coordinates(const int* row, const int* column, const float* values, const float* x, float* y, int count) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) atomicAdd(&y[row[k]], values[k] * x[column[k]]);
}

int main() {
  const int rows = 1 << 16, width = 16;
  std::vector<int> offsets(rows + 1), columns, row_of, ell_columns(rows * width, -1);
  std::vector<float> values;
  unsigned state = 3;
  for (int r = 0; r < rows; ++r) {
    state = state * 1664525u + 1013904223u;
    int length = 4 + (state >> 24) % 13;
    for (int k = 0; k < length; ++k) {
      state = state * 1664525u + 1013904223u;
      int c = k < 4 ? (r + k) % rows : int((state >> 10) % rows);
      columns.push_back(c);
      row_of.push_back(r);
      values.push_back(1.0f);
      ell_columns[k * rows + r] = c;
    }
    offsets[r + 1] = int(columns.size());
  }
  const int count = int(columns.size());
  int *d_offsets, *d_columns, *d_rows, *d_ell;
  float *d_values, *d_ell_values, *x, *y;
  CHECK(cudaMalloc(&d_offsets, (rows + 1) * 4));
  CHECK(cudaMalloc(&d_columns, count * 4));
  CHECK(cudaMalloc(&d_rows, count * 4));
  CHECK(cudaMalloc(&d_ell, rows * width * 4));
  CHECK(cudaMalloc(&d_values, count * 4));
  CHECK(cudaMalloc(&d_ell_values, rows * width * 4));
  CHECK(cudaMalloc(&x, rows * 4));
  CHECK(cudaMalloc(&y, rows * 4));
  CHECK(cudaMemcpy(d_offsets, offsets.data(), (rows + 1) * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_columns, columns.data(), count * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_rows, row_of.data(), count * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_ell, ell_columns.data(), rows * width * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_values, values.data(), count * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_ell_values, 0, rows * width * 4));
  CHECK(cudaMemset(x, 0, rows * 4));
  CHECK(cudaMemset(y, 0, rows * 4));
  THRICE csr_scalar<<<rows / 256, 256>>>(d_offsets, d_columns, d_values, x, y, rows);
  THRICE csr_vector<<<rows / 8, 256>>>(d_offsets, d_columns, d_values, x, y, rows);
  THRICE ell<<<rows / 128, 128>>>(d_ell, d_ell_values, x, y, rows, width);
  THRICE coordinates<<<(count + 255) / 256, 256>>>(d_rows, d_columns, d_values, x, y, count);
  CHECK(cudaDeviceSynchronize());
  std::printf("%d\n", count);
  return 0;
}
