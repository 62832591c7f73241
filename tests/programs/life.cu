// Conway's game of life on a torus, with a glider that must come back one cell further.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#define SRC_SIZE 64

__global__ void step(const unsigned char* in, unsigned char* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int sum = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) sum += in[((y + dy + n) % n) * n + (x + dx + n) % n];
  unsigned char alive = in[y * n + x];
  out[y * n + x] = (alive && (sum == 2 || sum == 3)) || (!alive && sum == 3);
}

int main() {
  const int n = SRC_SIZE, generations = 4 * n;
  unsigned char board[n * n], result[n * n];
  memset(board, 0, sizeof board);
  const int glider[5][2] = {{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}};
  for (auto& g : glider) board[(g[1] + 5) * n + g[0] + 7] = 1;
  unsigned char *a, *b;
  if (cudaMalloc(&a, sizeof board) != cudaSuccess || cudaMalloc(&b, sizeof board) != cudaSuccess) return 1;
  cudaMemcpy(a, board, sizeof board, cudaMemcpyHostToDevice);
  cudaMemset(b, 9, sizeof board);
  dim3 block(16, 16), grid(n / 16, n / 16);
  int bad = 0;
  for (int g = 1; g <= generations; g++) {
    step<<<grid, block>>>(a, b, n);
    std::swap(a, b);
    if (g == 4) {  // after four generations the glider has moved one down and one right
      cudaMemcpy(result, a, sizeof result, cudaMemcpyDeviceToHost);
      for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) bad += result[((y + 1) % n) * n + (x + 1) % n] != board[y * n + x];
    }
  }
  cudaError_t e = cudaMemcpy(result, a, sizeof result, cudaMemcpyDeviceToHost);
  bad += e != cudaSuccess || memcmp(result, board, sizeof board) != 0;  // once around the torus
  for (int y = 4; y < 10; y++) {
    for (int x = 5; x < 13; x++) putchar(result[y * n + x] ? '#' : '.');
    putchar('\n');
  }
  printf("life: %d generations, %s\n", generations, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
