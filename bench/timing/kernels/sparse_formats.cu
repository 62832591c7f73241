// A sparse matrix times a vector: CSR by threads and by warps, ELLPACK, coordinates; and neighbours of a graph summed for features.
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

__global__ void csr_scalar(int rows, const int* ptr, const int* col, const float* val, const float* x, float* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float dot = 0;
    int start = ptr[row], end = ptr[row + 1];
    for (int jj = start; jj < end; jj++) dot += val[jj] * x[col[jj]];
    y[row] = dot;
  }
}

__global__ void csr_vector(int rows, const int* __restrict__ ptr, const int* __restrict__ col, const float* __restrict__ val,
                           const float* __restrict__ x, float* __restrict__ y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float sum = 0;
  for (int j = ptr[row] + lane; j < ptr[row + 1]; j += 32) sum += val[j] * x[col[j]];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
  if (lane == 0) y[row] = sum;
}

__global__ void ellpack(int rows, int width, const int* col, const float* val, const float* x, float* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; i++) {
    int c = col[i * rows + row];
    if (c >= 0) sum += val[i * rows + row] * x[c];
  }
  y[row] = sum;
}

__global__ void coordinates(int entries, const int* row, const int* col, const float* val, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < entries) atomicAdd(&y[row[i]], val[i] * x[col[i]]);
}

__global__ void gather_features(int nodes, const int* ptr, const int* col, const float* in, float* out) {
  int node = blockIdx.x, f = threadIdx.x;
  float sum = 0;
  for (int e = ptr[node]; e < ptr[node + 1]; e++) sum += in[col[e] * 64 + f];
  out[node * 64 + f] = sum / (ptr[node + 1] - ptr[node] + 1);
}

int main() {
  const int rows = 1 << 16, width = 24;
  std::vector<int> ptr(rows + 1), col, row, ell(rows * width, -1);
  std::vector<float> features(rows * 64, 0.5f);
  unsigned s = 1;
  for (int r = 0; r < rows; ++r) {
    const int count = 4 + (s >> 8) % 20;
    for (int j = 0; j < count; ++j) {
      s = s * 1664525u + 1013904223u;
      const int c = (j & 1) ? int((s >> 8) % rows) : (r + int((s >> 8) % 64)) % rows;
      ell[j * rows + r] = c;
      col.push_back(c);
      row.push_back(r);
    }
    ptr[r + 1] = int(col.size());
  }
  const int entries = int(col.size());
  int *dptr, *dcol, *drow, *dell;
  float *val, *x, *y, *in, *out;
  CHECK(cudaMalloc(&dptr, (rows + 1) * 4));
  CHECK(cudaMalloc(&dcol, entries * 4));
  CHECK(cudaMalloc(&drow, entries * 4));
  CHECK(cudaMalloc(&dell, rows * width * 4));
  CHECK(cudaMalloc(&val, rows * width * 4));
  CHECK(cudaMalloc(&x, rows * 4));
  CHECK(cudaMalloc(&y, rows * 4));
  CHECK(cudaMalloc(&in, rows * 64 * 4));
  CHECK(cudaMalloc(&out, rows * 64 * 4));
  CHECK(cudaMemcpy(dptr, ptr.data(), (rows + 1) * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dcol, col.data(), entries * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(drow, row.data(), entries * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dell, ell.data(), rows * width * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(val, features.data(), rows * width * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(x, features.data(), rows * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(in, features.data(), rows * 64 * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(y, 0, rows * 4));
  THRICE csr_scalar<<<rows / 256, 256>>>(rows, dptr, dcol, val, x, y);
  THRICE csr_vector<<<rows / 8, 256>>>(rows, dptr, dcol, val, x, y);
  THRICE ellpack<<<rows / 128, 128>>>(rows, width, dell, val, x, y);
  THRICE coordinates<<<(entries + 255) / 256, 256>>>(entries, drow, dcol, val, x, y);
  THRICE gather_features<<<rows, 64>>>(rows, dptr, dcol, in, out);
  std::vector<float> host(1024);
  CHECK(cudaMemcpy(host.data(), y, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
