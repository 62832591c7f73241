// build: -arch=sm_90
// Whole lines at a time: one thread orders a bulk copy of several kilobytes and goes on; the barrier in shared memory counts
// the bytes that arrive. What to see: two buffers in turns, one instruction per tile instead of a load and a store per
// thread, and the way back out of shared memory as a bulk copy as well.
#include <cstdint>
#include <cstdio>
#include <cuda/barrier>
#include <utility>
#include <vector>

using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::device::experimental;

constexpr int kTile = 512, kThreads = 128;

__global__ void negate(const int* in, int* out, int tiles) {
  __shared__ alignas(16) int buffer[2][kTile];
  __shared__ Barrier ready[2];
  if (threadIdx.x == 0) {
    init(&ready[0], kThreads);
    init(&ready[1], kThreads);
    ptx::fence_proxy_async_shared_cta();  // the copies see the barriers as they are now
  }
  __syncthreads();
  Barrier::arrival_token token[2];
  const auto fetch = [&](int k) {
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk_global_to_shared(buffer[k % 2], in + k * kTile, sizeof(int) * kTile, ready[k % 2]);
      token[k % 2] = cuda::device::barrier_arrive_tx(ready[k % 2], 1, sizeof(int) * kTile);
    } else {
      token[k % 2] = ready[k % 2].arrive();
    }
  };
  if (tiles > 0) fetch(0);
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) {
      if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read<0>();  // the buffer's last way out has been read
      __syncthreads();
      fetch(k + 1);
    }
    ready[k % 2].wait(std::move(token[k % 2]));
    for (int i = threadIdx.x; i < kTile; i += kThreads) buffer[k % 2][i] = -buffer[k % 2][i];
    ptx::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk_shared_to_global(out + k * kTile, buffer[k % 2], sizeof(int) * kTile);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read<0>();  // shared memory goes away with the block
}

int main() {
  const int tiles = 9, n = tiles * kTile;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i - 1000;
  int *in, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  negate<<<1, kThreads>>>(in, out, tiles);
  cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  int wrong = cudaGetLastError() != cudaSuccess;
  for (int i = 0; i < n; ++i) wrong += host[i] != 1000 - i;
  std::printf("%d tiles of %zu bytes, %d wrong\n%s\n", tiles, sizeof(int) * kTile, wrong, wrong ? "FAIL" : "PASS");
  cudaFree(in);
  cudaFree(out);
  return wrong != 0;
}
