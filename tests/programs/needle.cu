// Needleman-Wunsch alignment: blocks along anti-diagonals, threads along anti-diagonals inside a block.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

#define B 16

__device__ __host__ int maximum(int a, int b, int c) {
  int k = a <= b ? b : a;
  return k <= c ? c : k;
}

__global__ void needle(const int* reference, int* m, int cols, int penalty, int diag, int width, bool upper) {
  int bx = blockIdx.x, tx = threadIdx.x;
  int bix = upper ? bx : bx + width - diag, biy = upper ? diag - 1 - bx : width - bx - 1;
  int base = cols * B * biy + B * bix;
  __shared__ int temp[B + 1][B + 1];
  __shared__ int ref[B][B];
  if (tx == 0) temp[0][0] = m[base];
  for (int ty = 0; ty < B; ty++) ref[ty][tx] = reference[base + cols + 1 + cols * ty + tx];
  temp[tx + 1][0] = m[base + cols * (tx + 1)];
  temp[0][tx + 1] = m[base + tx + 1];
  __syncthreads();
  for (int k = 0; k < B; k++) {
    if (tx <= k) {
      int x = tx + 1, y = k - tx + 1;
      temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int k = B - 2; k >= 0; k--) {
    if (tx <= k) {
      int x = tx + B - k, y = B - tx;
      temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < B; ty++) m[base + cols + 1 + cols * ty + tx] = temp[ty + 1][tx + 1];
}

int main() {
  const int n = 128, cols = n + 1, penalty = 10, width = n / B;
  std::vector<int> m(cols * cols, 0), ref(cols * cols, 0), want;
  unsigned s = 7;
  for (int i = 1; i < cols; i++)
    for (int j = 1; j < cols; j++) ref[i * cols + j] = (int)((s = s * 1664525u + 1013904223u) >> 28) % 14 - 4;
  for (int i = 1; i < cols; i++) m[i * cols] = -i * penalty, m[i] = -i * penalty;
  want = m;
  for (int i = 1; i < cols; i++)
    for (int j = 1; j < cols; j++)
      want[i * cols + j] = maximum(want[(i - 1) * cols + j - 1] + ref[i * cols + j], want[i * cols + j - 1] - penalty,
                                   want[(i - 1) * cols + j] - penalty);
  int *d_m, *d_ref;
  CHECK(cudaMalloc(&d_m, m.size() * sizeof(int)));
  CHECK(cudaMalloc(&d_ref, m.size() * sizeof(int)));
  CHECK(cudaMemcpy(d_m, m.data(), m.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_ref, ref.data(), m.size() * sizeof(int), cudaMemcpyHostToDevice));
  for (int i = 1; i <= width; i++) needle<<<i, B>>>(d_ref, d_m, cols, penalty, i, width, true);
  for (int i = width - 1; i >= 1; i--) needle<<<i, B>>>(d_ref, d_m, cols, penalty, i, width, false);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(m.data(), d_m, m.size() * sizeof(int), cudaMemcpyDeviceToHost));
  int bad = 0;
  for (size_t i = 0; i < m.size(); i++) bad += m[i] != want[i];
  printf("needle: score %d, %d wrong, %s\n", m.back(), bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
