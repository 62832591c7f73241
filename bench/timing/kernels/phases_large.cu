// Long cooperative work: hundreds of barriers of a block, of a grid and of clusters; a sort, a scan and a solver each in one block.
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

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sort_in_block(unsigned* data, int n) {
  extern __shared__ unsigned s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = data[blockIdx.x * n + i];
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
        int a = 2 * i - (i & (j - 1)), b = a + j;
        bool up = (a & k) == 0;
        unsigned x = s[a], y = s[b];
        if (up == (x > y)) {
          s[a] = y;
          s[b] = x;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[blockIdx.x * n + i] = s[i];
}

__global__ void diffuse(float* a, float* b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    const float* from = s % 2 ? b : a;
    float* to = s % 2 ? a : b;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) to[i] = 0.5f * from[i] + 0.25f * (from[i ? i - 1 : 0] + from[i < n - 1 ? i + 1 : i]);
    grid.sync();
  }
}

__global__ void power_iteration(const float* matrix, float* vector, int n, int steps) {
  __shared__ float v[256], next[256], norm;
  v[threadIdx.x] = 1;
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += matrix[k * n + threadIdx.x] * v[k];
    next[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
      float part = 0;
      for (int k = threadIdx.x; k < n; k += 32) part += next[k] * next[k];
      for (int d = 16; d; d /= 2) part += __shfl_xor_sync(~0u, part, d);
      if (threadIdx.x == 0) norm = rsqrtf(part + 1e-9f);
    }
    __syncthreads();
    v[threadIdx.x] = next[threadIdx.x] * norm;
    __syncthreads();
  }
  vector[blockIdx.x * n + threadIdx.x] = v[threadIdx.x];
}

__global__ void scan_one_block(const int* in, int* out, int n) {
  __shared__ int sums[32];
  __shared__ int carry;
  if (threadIdx.x == 0) carry = 0;
  __syncthreads();
  for (int base = 0; base < n; base += 1024) {
    int v = in[base + threadIdx.x], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
      int o = __shfl_up_sync(~0u, v, d);
      if (lane >= d) v += o;
    }
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
      int s = sums[lane];
      for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(~0u, s, d);
        if (lane >= d) s += o;
      }
      sums[lane] = s;
    }
    __syncthreads();
    out[base + threadIdx.x] = v + carry + (warp ? sums[warp - 1] : 0);
    __syncthreads();
    if (threadIdx.x == 0) carry += sums[31];
    __syncthreads();
  }
}

int main() {
  const int n = 1 << 18;
  std::vector<unsigned> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 2654435761u;
  unsigned *a, *b;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMemset(b, 0, n * 4));
  CHECK(cudaMemcpy(a, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE sort_in_block<<<16, 512, 8192 * 4>>>(a, 8192);
  CHECK(cudaMemset(a, 0, n * 4));
  int count = n, steps = 60;
  void* arguments[] = {&a, &b, &count, &steps};
  THRICE CHECK(cudaLaunchCooperativeKernel((void*)diffuse, dim3(264), dim3(256), arguments, 0, nullptr));
  THRICE power_iteration<<<4, 256>>>((float*)a, (float*)b, 256, 30);
  THRICE scan_one_block<<<1, 1024>>>((int*)a, (int*)b, n);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
