// All-pairs shortest paths: one launch per vertex, then the three-phase blocked form.
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

#define T 16
#define INF 1000000

__global__ void relax(int* d, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j < n) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

__global__ void phase1(int* d, int n, int p) {
  __shared__ int s[T][T];
  int x = threadIdx.x, y = threadIdx.y, at = (p * T + y) * n + p * T + x;
  s[y][x] = d[at];
  __syncthreads();
  for (int k = 0; k < T; k++) {
    int v = s[y][k] + s[k][x];
    __syncthreads();
    s[y][x] = min(s[y][x], v);
    __syncthreads();
  }
  d[at] = s[y][x];
}
__global__ void phase2(int* d, int n, int p) {
  if (blockIdx.x == p) return;
  __shared__ int pivot[T][T], mine[T][T];
  int x = threadIdx.x, y = threadIdx.y;
  bool row = blockIdx.y == 0;
  int at = row ? (p * T + y) * n + blockIdx.x * T + x : (blockIdx.x * T + y) * n + p * T + x;
  pivot[y][x] = d[(p * T + y) * n + p * T + x];
  mine[y][x] = d[at];
  __syncthreads();
  for (int k = 0; k < T; k++) {
    int v = row ? pivot[y][k] + mine[k][x] : mine[y][k] + pivot[k][x];
    __syncthreads();
    mine[y][x] = min(mine[y][x], v);
    __syncthreads();
  }
  d[at] = mine[y][x];
}
__global__ void phase3(int* d, int n, int p) {
  if (blockIdx.x == p || blockIdx.y == p) return;
  __shared__ int row[T][T], col[T][T];
  int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * T + y) * n + blockIdx.x * T + x;
  row[y][x] = d[(p * T + y) * n + blockIdx.x * T + x];
  col[y][x] = d[(blockIdx.y * T + y) * n + p * T + x];
  __syncthreads();
  int v = d[at];
  for (int k = 0; k < T; k++) v = min(v, col[y][k] + row[k][x]);
  d[at] = v;
}

int main() {
  const int n = 96;
  std::vector<int> d(n * n, INF), a(n * n), b(n * n);
  unsigned s = 3;
  for (int i = 0; i < n; i++) {
    d[i * n + i] = 0;
    for (int e = 0; e < 4; e++) {
      s = s * 1664525u + 1013904223u;
      d[i * n + (s >> 8) % n] = i == (int)((s >> 8) % n) ? 0 : 1 + (s >> 26);
    }
  }
  int *da, *db;
  CHECK(cudaMalloc(&da, n * n * 4));
  CHECK(cudaMalloc(&db, n * n * 4));
  CHECK(cudaMemcpy(da, d.data(), n * n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, da, n * n * 4, cudaMemcpyDeviceToDevice));
  for (int k = 0; k < n; k++) relax<<<dim3((n + 63) / 64, n), 64>>>(da, n, k);
  for (int p = 0; p < n / T; p++) {
    phase1<<<1, dim3(T, T)>>>(db, n, p);
    phase2<<<dim3(n / T, 2), dim3(T, T)>>>(db, n, p);
    phase3<<<dim3(n / T, n / T), dim3(T, T)>>>(db, n, p);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(a.data(), da, n * n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(b.data(), db, n * n * 4, cudaMemcpyDeviceToHost));
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (d[i * n + k] + d[k * n + j] < d[i * n + j]) d[i * n + j] = d[i * n + k] + d[k * n + j];
  int bad = 0, far = 0;
  for (int i = 0; i < n * n; i++) bad += a[i] != d[i], bad += b[i] != d[i], far = d[i] < INF && d[i] > far ? d[i] : far;
  printf("floyd_warshall: farthest pair %d, %d wrong, %s\n", far, bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
