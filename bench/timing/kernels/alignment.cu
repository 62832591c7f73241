// Alignment of sequences: Needleman and Wunsch by tiles along diagonals, Smith and Waterman a pair a thread, counts of k-mers.
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

const int kTile = 16;

__global__ void diagonal(int* score, const int* similarity, int n, int index, int first) {
  __shared__ int s[kTile + 1][kTile + 1], r[kTile][kTile];
  const int bx = first + blockIdx.x, by = index - bx, t = threadIdx.x, base = by * kTile * n + bx * kTile;
  for (int y = 0; y < kTile; ++y) r[y][t] = similarity[base + (y + 1) * n + t + 1];
  s[t + 1][0] = score[base + (t + 1) * n];
  if (t == 0) s[0][0] = score[base];
  s[0][t + 1] = score[base + t + 1];
  __syncthreads();
  for (int m = 0; m < 2 * kTile - 1; ++m) {
    int y = m - t;
    if (y >= 0 && y < kTile) s[y + 1][t + 1] = max(s[y][t] + r[y][t], max(s[y + 1][t], s[y][t + 1]) - 10);
    __syncthreads();
  }
  for (int y = 0; y < kTile; ++y) score[base + (y + 1) * n + t + 1] = s[y + 1][t + 1];
}

__global__ void smith_waterman(const char* queries, const char* target, int* best, int length, int target_length) {
  short row[32], gap[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 32; ++k) row[k] = gap[k] = 0;
  int highest = 0;
  for (int j = 0; j < target_length; ++j) {
    int diagonal = 0, up = 0, c = target[j];
#pragma unroll
    for (int k = 0; k < 32; ++k) {
      int match = diagonal + (queries[k * gridDim.x * blockDim.x + i] == c ? 5 : -3);
      gap[k] = max(gap[k] - 1, row[k] - 4);
      diagonal = row[k];
      int v = max(max(match, int(gap[k])), max(up, 0));
      up = max(v - 4, up - 1);
      row[k] = v;
      highest = max(highest, v);
    }
  }
  best[i] = highest;
}

__global__ void kmers(const char* text, unsigned* counts, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + k > n) return;
  unsigned code = 0;
  for (int j = 0; j < k; ++j) code = code * 4 + (text[i + j] & 3);
  atomicAdd(&counts[code], 1u);
}

int main() {
  const int n = 1025, blocks = 64;
  std::vector<int> host(n * n);
  for (int i = 0; i < n * n; ++i) host[i] = i * 2654435761u % 21 - 10;
  int *score, *similarity;
  char* text;
  unsigned* counts;
  CHECK(cudaMalloc(&score, n * n * 4));
  CHECK(cudaMalloc(&similarity, n * n * 4));
  CHECK(cudaMalloc(&text, 1 << 20));
  CHECK(cudaMalloc(&counts, 1 << 18));
  CHECK(cudaMemcpy(similarity, host.data(), n * n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(text, host.data(), 1 << 20, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(score, 0, n * n * 4));
  CHECK(cudaMemset(counts, 0, 1 << 18));
  for (int index : {0, 3, 15, 40, 63, 90, 126}) THRICE {
      const int first = index < blocks ? 0 : index - blocks + 1, count = index < blocks ? index + 1 : 2 * blocks - 1 - index;
      diagonal<<<count, kTile>>>(score, similarity, n, index, first);
    }
  THRICE smith_waterman<<<32, 64>>>(text, text + (1 << 17), (int*)counts, 32, 100);
  THRICE kmers<<<(1 << 19) / 256, 256>>>(text, counts, 1 << 19, 8);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
