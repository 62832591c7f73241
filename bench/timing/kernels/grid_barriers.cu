// Cooperative kernels: a reduction and Jacobi steps with barriers of the grid; groups of tiles.
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
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void reduce_in_one(const float* in, float* partial, float* out, int n) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  float sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i];
  sum = cg::reduce(tile, sum, cg::plus<float>());
  if (tile.thread_rank() == 0) partial[grid.thread_rank() / 32] = sum;
  grid.sync();
  if (grid.thread_rank() == 0) {
    float total = 0;
    for (int i = 0; i < int(grid.size() / 32); ++i) total += partial[i];
    *out = total;
  }
}

__global__ void jacobi(float* a, float* b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    for (int i = grid.thread_rank(); i < n * n; i += grid.size()) {
      int x = i % n, y = i / n;
      if (x > 0 && y > 0 && x < n - 1 && y < n - 1) b[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
    }
    grid.sync();
    float* t = a;
    a = b;
    b = t;
  }
}

template <int Size>
__global__ void tiles_of(const int* in, int* out) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = Size / 2; d > 0; d /= 2) v += tile.shfl_xor(v, d);
  if (tile.thread_rank() == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / Size] = v;
}

__global__ void coalesced_counter(const int* in, int* count) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(count, int(active.size()));
  }
}

int main() {
  const int n = 1 << 20;
  float *a, *b, *partial;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMalloc(&partial, 1 << 16));
  CHECK(cudaMemset(a, 0, n * 4));
  CHECK(cudaMemset(b, 0, n * 4));
  int count = n, side = 512, steps = 10;
  float* out = partial + 10000;
  void* reduce_arguments[] = {&a, &partial, &out, &count};
  THRICE CHECK(cudaLaunchCooperativeKernel((void*)reduce_in_one, dim3(132), dim3(256), reduce_arguments, 0, nullptr));
  void* jacobi_arguments[] = {&a, &b, &side, &steps};
  THRICE CHECK(cudaLaunchCooperativeKernel((void*)jacobi, dim3(132), dim3(256), jacobi_arguments, 0, nullptr));
  THRICE tiles_of<32><<<n / 256, 256>>>((int*)a, (int*)b);
  THRICE tiles_of<4><<<n / 256, 256>>>((int*)a, (int*)b);
  THRICE coalesced_counter<<<n / 512, 512>>>((int*)b, (int*)partial);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
