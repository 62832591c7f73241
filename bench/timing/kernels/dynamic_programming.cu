// Tables filled row by row: a knapsack, longest common subsequences, path counts, an optimal order of products, a Viterbi path.
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

__global__ void knapsack(const int* before, int* now, int weight, int value, int capacity) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w <= capacity) now[w] = w >= weight ? max(before[w], before[w - weight] + value) : before[w];
}

__global__ void common_subsequence(const char* a, const char* b, int* out, int length) {
  __shared__ int line[3][513];
  const int t = threadIdx.x + 1;
  const char* x = a + blockIdx.x * length;
  for (int k = 0; k < 3; ++k) line[k][t] = line[k][0] = 0;
  __syncthreads();
  for (int d = 2; d <= 2 * length; ++d) {
    int i = t, j = d - t;
    if (j >= 1 && j <= length) {
      int* now = line[d % 3];
      const int *one = line[(d + 2) % 3], *two = line[(d + 1) % 3];
      now[i] = x[i - 1] == b[j - 1] ? two[i - 1] + 1 : max(one[i], one[i - 1]);
    }
    __syncthreads();
  }
  if (t == length) out[blockIdx.x] = line[2 * length % 3][length];
}

__global__ void chain_order(float* cost, const float* size, int n, int span) {
  int i = blockIdx.x;
  float best = 1e30f;
  for (int k = i + threadIdx.x; k < i + span; k += 32)
    best = fminf(best, cost[i * n + k] + cost[(k + 1) * n + i + span] + size[i] * size[k + 1] * size[i + span + 1]);
  for (int d = 16; d; d /= 2) best = fminf(best, __shfl_xor_sync(~0u, best, d));
  if (threadIdx.x == 0) cost[i * n + i + span] = best;
}

__global__ void viterbi(const float* transition, const float* emission, const unsigned char* seen, unsigned char* from, float* last, int steps) {
  __shared__ float probability[2][64];
  const int s = threadIdx.x;
  probability[0][s] = 0;
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    float best = -1e30f;
    int which = 0;
    for (int p = 0; p < 64; ++p) {
      float v = probability[step % 2][p] + transition[p * 64 + s];
      if (v > best) {
        best = v;
        which = p;
      }
    }
    probability[(step + 1) % 2][s] = best + emission[(seen[step] & 15) * 64 + s];
    from[(size_t(blockIdx.x) * steps + step) * 64 + s] = which;
    __syncthreads();
  }
  last[blockIdx.x * 64 + s] = probability[steps % 2][s];
}

__global__ void grid_paths(const int* cost, int* total, int width, int rows) {
  __shared__ int line[1026];
  const int t = threadIdx.x + 1;
  line[t] = cost[threadIdx.x];
  if (t == 1) line[0] = line[1025] = 1 << 29;
  __syncthreads();
  for (int r = 1; r < rows; ++r) {
    int v = min(line[t], min(line[t - 1], line[t + 1])) + cost[r * width + threadIdx.x];
    __syncthreads();
    line[t] = v;
    __syncthreads();
  }
  total[threadIdx.x] = line[t];
}

int main() {
  const int n = 1 << 20;
  std::vector<unsigned char> host(n * 4);
  for (size_t i = 0; i < host.size(); ++i) host[i] = i * 2654435761u >> 29;
  int *a, *b;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMemcpy(a, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(b, 0, n * 4));
  for (int item = 0; item < 4; ++item) THRICE knapsack<<<100000 / 256 + 1, 256>>>(item % 2 ? b : a, item % 2 ? a : b, 100 + item * 37, item, 100000);
  CHECK(cudaMemcpy(a, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE common_subsequence<<<64, 512>>>((char*)a, (char*)a + 100000, b, 512);
  for (int span : {4, 60, 200}) THRICE chain_order<<<256 - span, 32>>>((float*)b, (float*)b, 256, span);
  THRICE viterbi<<<66, 64>>>((float*)b, (float*)b + 4096, (unsigned char*)a, (unsigned char*)(b + 100000), (float*)a + 500000, 100);
  THRICE grid_paths<<<1, 1024>>>(a, b, 1024, 256);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
