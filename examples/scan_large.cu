// scan_large: prefix sums of any length. First one kernel launch per tree level, then blocks that scan their own part
// and a recursive scan of the block sums.
// Look at the recursion in `exclusive_scan`: the block sums are an array like any other.
#include <cuda_runtime.h>

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

constexpr int kThreads = 128, kBlockElements = 2 * kThreads;

// A launch per level needs no barrier: a kernel sees everything the kernel before it wrote.
__global__ void up_sweep(int* data, int n, int d) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, half = 1 << d, full = 2 * half;
  if (k >= n || (k + 1) % full != 0) return;
  data[k] += data[k - half];
}
__global__ void down_sweep(int* data, int n, int d) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, half = 1 << d, full = 2 * half;
  if (k >= n || (k + 1) % full != 0) return;
  int left = data[k - half];
  data[k - half] = data[k];
  data[k] += left;
}
__global__ void naive_step(int* out, const int* in, int n, int offset) {  // ping-pong between two arrays
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) out[k] = k >= offset ? in[k] + in[k - offset] : in[k];
}

__global__ void scan_blocks(int* out, const int* in, int* block_sums, int n) {
  __shared__ int temp[kBlockElements];
  int t = threadIdx.x, base = blockIdx.x * kBlockElements;
  temp[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
  temp[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
  int offset = 1;
  for (int d = kThreads; d > 0; d >>= 1, offset *= 2) {
    __syncthreads();
    if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
  }
  if (t == 0) {
    block_sums[blockIdx.x] = temp[kBlockElements - 1];
    temp[kBlockElements - 1] = 0;
  }
  for (int d = 1; d < kBlockElements; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1, left = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += left;
    }
  }
  __syncthreads();
  if (base + 2 * t < n) out[base + 2 * t] = temp[2 * t];
  if (base + 2 * t + 1 < n) out[base + 2 * t + 1] = temp[2 * t + 1];
}
__global__ void add_block_sums(int* data, const int* sums, int n) {
  int i = blockIdx.x * kBlockElements + threadIdx.x;
  if (i < n) data[i] += sums[blockIdx.x];
  if (i + kThreads < n) data[i + kThreads] += sums[blockIdx.x];
}

static void exclusive_scan(int* d_out, const int* d_in, int n) {
  int blocks = (n + kBlockElements - 1) / kBlockElements, *d_sums;
  CHECK(cudaMalloc(&d_sums, blocks * sizeof(int)));
  scan_blocks<<<blocks, kThreads>>>(d_out, d_in, d_sums, n);
  if (blocks > 1) {
    exclusive_scan(d_sums, d_sums, blocks);
    add_block_sums<<<blocks, kThreads>>>(d_out, d_sums, n);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaFree(d_sums));
}

int main(int argc, char** argv) {
  int wrong = 0;
  for (int n : {argc > 1 ? std::atoi(argv[1]) : 200001, 1, 256, 257, 5000}) {
    std::vector<int> in(n), out(n), expected(n, 0);
    for (int i = 0; i < n; ++i) in[i] = (i * 31 + 7) % 19 - 6;
    for (int i = 1; i < n; ++i) expected[i] = expected[i - 1] + in[i - 1];
    int padded = 1, levels = 0;
    while (padded < n) padded *= 2, ++levels;
    int *d_a, *d_b;
    CHECK(cudaMalloc(&d_a, padded * sizeof(int)));
    CHECK(cudaMalloc(&d_b, padded * sizeof(int)));
    const int grid = (padded + 255) / 256;

    for (int version = 0; version < 3; ++version) {
      CHECK(cudaMemset(d_a, 0, padded * sizeof(int)));
      CHECK(cudaMemcpy(d_a, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
      int* result = d_a;
      if (version == 0) {  // work-efficient, one launch per level
        for (int d = 0; d < levels; ++d) up_sweep<<<grid, 256>>>(d_a, padded, d);
        CHECK(cudaMemset(d_a + padded - 1, 0, sizeof(int)));
        for (int d = levels - 1; d >= 0; --d) down_sweep<<<grid, 256>>>(d_a, padded, d);
      } else if (version == 1) {  // naive and inclusive; exclusive is the same, one place to the right
        int* other = d_b;
        for (int offset = 1; offset < n; offset *= 2) {
          naive_step<<<grid, 256>>>(other, result, n, offset);
          int* t = result;
          result = other;
          other = t;
        }
      } else {
        exclusive_scan(d_b, d_a, n);
        result = d_b;
      }
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(out.data(), result, n * sizeof(int), cudaMemcpyDeviceToHost));
      int bad = 0;
      for (int i = 0; i < n; ++i) bad += out[i] != expected[i] + (version == 1 ? in[i] : 0);
      const char* names[] = {"a launch per level", "naive, inclusive", "scan of block sums"};
      std::printf("%7d elements, %-19s last %d, %d wrong\n", n, names[version], out[n - 1], bad);
      wrong += bad;
    }
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
  }
  std::printf("scan_large: %s\n", wrong ? "FAILED" : "all lengths and versions right");
  return wrong != 0;
}
