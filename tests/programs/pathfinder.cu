// Dynamic programming on a grid, several rows per launch with shrinking valid ranges.
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

#define BLOCK 256
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void dynproc(int iteration, const int* wall, const int* src, int* dst, int cols, int start, int border) {
  __shared__ int prev[BLOCK];
  __shared__ int result[BLOCK];
  int tx = threadIdx.x, small = BLOCK - iteration * 2;
  int blkX = small * blockIdx.x - border, blkXmax = blkX + BLOCK - 1, xidx = blkX + tx;
  int validMin = blkX < 0 ? -blkX : 0;
  int validMax = blkXmax > cols - 1 ? BLOCK - 1 - (blkXmax - cols + 1) : BLOCK - 1;
  int W = tx - 1 < validMin ? validMin : tx - 1, E = tx + 1 > validMax ? validMax : tx + 1;
  bool isValid = tx >= validMin && tx <= validMax;
  if (xidx >= 0 && xidx <= cols - 1) prev[tx] = src[xidx];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (tx >= i + 1 && tx <= BLOCK - i - 2 && isValid) {
      computed = true;
      int shortest = MIN(prev[W], prev[tx]);
      shortest = MIN(shortest, prev[E]);
      result[tx] = shortest + wall[cols * (start + i) + xidx];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) dst[xidx] = result[tx];
}

int main() {
  const int cols = 5000, rows = 41, pyramid = 10;
  std::vector<int> wall(rows * cols), out(cols);
  unsigned s = 9;
  for (int& w : wall) w = (s = s * 1664525u + 1013904223u, s >> 24) % 10;
  int *d_wall, *d_res[2];
  CHECK(cudaMalloc(&d_wall, (rows - 1) * cols * sizeof(int)));
  CHECK(cudaMalloc(&d_res[0], cols * sizeof(int)));
  CHECK(cudaMalloc(&d_res[1], cols * sizeof(int)));
  CHECK(cudaMemcpy(d_res[0], wall.data(), cols * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_wall, wall.data() + cols, (rows - 1) * cols * sizeof(int), cudaMemcpyHostToDevice));
  int src = 0;
  for (int t = 0; t < rows - 1; t += pyramid, src = 1 - src) {
    int it = MIN(pyramid, rows - 1 - t), small = BLOCK - it * 2;
    dynproc<<<(cols + small - 1) / small, BLOCK>>>(it, d_wall, d_res[src], d_res[1 - src], cols, t, it);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_res[src], cols * sizeof(int), cudaMemcpyDeviceToHost));
  std::vector<int> a(wall.begin(), wall.begin() + cols), b(cols);
  for (int r = 1; r < rows; r++, a.swap(b))
    for (int x = 0; x < cols; x++) {
      int m = a[x];
      if (x > 0) m = MIN(m, a[x - 1]);
      if (x < cols - 1) m = MIN(m, a[x + 1]);
      b[x] = m + wall[r * cols + x];
    }
  int bad = 0;
  for (int x = 0; x < cols; x++) bad += out[x] != a[x];
  printf("pathfinder: first %d last %d, %d wrong, %s\n", out[0], out[cols - 1], bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
