// Sorting: bitonic in global and shared memory, a pass of a radix sort, odd-even transposition, merging of runs.
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

__global__ void bitonic_step(unsigned* data, int j, int k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ j;
  if (partner > i) {
    unsigned a = data[i], b = data[partner];
    bool up = (i & k) == 0;
    if (up == (a > b)) {
      data[i] = b;
      data[partner] = a;
    }
  }
}

__global__ void bitonic_block(unsigned* data) {
  __shared__ unsigned s[1024];
  const int t = threadIdx.x, base = blockIdx.x * 1024;
  s[t] = data[base + t];
  s[t + 512] = data[base + t + 512];
  for (int k = 2; k <= 1024; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      int i = 2 * t - (t & (j - 1));
      bool up = (i & k) == 0;
      unsigned a = s[i], b = s[i + j];
      if (up == (a > b)) {
        s[i] = b;
        s[i + j] = a;
      }
    }
  __syncthreads();
  data[base + t] = s[t];
  data[base + t + 512] = s[t + 512];
}

__global__ void radix_count(const unsigned* data, unsigned* counts, int shift, int blocks) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&local[data[blockIdx.x * blockDim.x + threadIdx.x] >> shift & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * blocks + blockIdx.x] = local[threadIdx.x];
}

__global__ void scan_one_block(unsigned* data, int n) {
  __shared__ unsigned sums[1024];
  const int t = threadIdx.x, each = (n + 1023) / 1024;
  unsigned sum = 0;
  for (int k = 0; k < each; ++k)
    if (t * each + k < n) sum += data[t * each + k];
  sums[t] = sum;
  __syncthreads();
  for (int d = 1; d < 1024; d *= 2) {
    unsigned v = t >= d ? sums[t - d] : 0;
    __syncthreads();
    sums[t] += v;
    __syncthreads();
  }
  unsigned running = sums[t] - sum;
  for (int k = 0; k < each; ++k)
    if (t * each + k < n) {
      unsigned v = data[t * each + k];
      data[t * each + k] = running;
      running += v;
    }
}

__global__ void radix_scatter(const unsigned* in, unsigned* out, const unsigned* offsets, int shift, int blocks) {
  __shared__ unsigned warp_counts[8][16];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (lane < 16) warp_counts[warp][lane] = 0;
  __syncwarp();
  unsigned v = in[blockIdx.x * blockDim.x + t], digit = v >> shift & 15;
  unsigned same = __match_any_sync(0xffffffff, digit), rank = __popc(same & ((1u << lane) - 1));
  if (rank == 0) warp_counts[warp][digit] = __popc(same);
  __syncthreads();
  unsigned before = 0;
  for (int w = 0; w < warp; ++w) before += warp_counts[w][digit];
  out[offsets[digit * blocks + blockIdx.x] + before + rank] = v;
}

__global__ void odd_even(unsigned* data, int n) {
  __shared__ unsigned s[256];
  const int t = threadIdx.x;
  s[t] = data[blockIdx.x * n + t];
  for (int phase = 0; phase < n; ++phase) {
    __syncthreads();
    int i = 2 * t + phase % 2;
    if (i + 1 < n && s[i] > s[i + 1]) {
      unsigned v = s[i];
      s[i] = s[i + 1];
      s[i + 1] = v;
    }
  }
  __syncthreads();
  data[blockIdx.x * n + t] = s[t];
}

__global__ void merge_runs(const unsigned* in, unsigned* out, int run, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int pair = i / (2 * run) * 2 * run, inside = i - pair;
  bool left = inside < run;
  const unsigned* other = in + pair + (left ? run : 0);
  unsigned v = in[i];
  int low = 0, high = run;
  while (low < high) {
    int middle = (low + high) / 2;
    if (left ? other[middle] < v : other[middle] <= v) low = middle + 1;
    else high = middle;
  }
  out[pair + (left ? inside : inside - run) + low] = v;
}

int main() {
  const int n = 1 << 17;
  std::vector<unsigned> host(n);
  unsigned state = 1;
  for (auto& v : host) v = state = state * 1664525u + 1013904223u;
  unsigned *a, *b, *counts;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMalloc(&counts, 16 * (n / 256) * 4));
  CHECK(cudaMemcpy(a, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE bitonic_block<<<n / 1024, 512>>>(a);
  for (int j : {65536, 4096, 32, 1}) THRICE bitonic_step<<<n / 256, 256>>>(a, j, n);
  CHECK(cudaMemcpy(a, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE {
    radix_count<<<n / 256, 256>>>(a, counts, 4 * round, n / 256);
    scan_one_block<<<1, 1024>>>(counts, 16 * (n / 256));
    radix_scatter<<<n / 256, 256>>>(a, b, counts, 4 * round, n / 256);
    std::swap(a, b);
  }
  THRICE odd_even<<<64, 256>>>(b, 256);
  bitonic_block<<<n / 1024, 512>>>(a);
  THRICE merge_runs<<<n / 256, 256>>>(a, b, 1024, n);
  CHECK(cudaMemcpy(host.data(), b, n * 4, cudaMemcpyDeviceToHost));
  std::printf("%u\n", host[5]);
  return 0;
}
