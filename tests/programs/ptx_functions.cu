// cuda::ptx: a bulk copy in and out, clusters, registers; asynchronous stores into the neighbour block; a multistage
// cuda::pipeline whose threads are producers or consumers; the host sides of cuda::atomic and cuda::barrier.
#include <cooperative_groups.h>

#include <cstdint>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/std/atomic>
#include <cuda/std/chrono>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

namespace ptx = cuda::ptx;

__global__ void double_in_shared(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t bar;
  if (threadIdx.x < 32 && ptx::elect_sync(~0u)) {
    ptx::mbarrier_init(&bar, 1);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, sizeof tile, &bar);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
  }
  tile[threadIdx.x] *= 2;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (ptx::get_sreg_tid_x() == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

__global__ void __cluster_dims__(2, 1, 1) tell_neighbour(int* out) {
  __shared__ uint32_t word;
  __shared__ uint64_t bar;
  const uint32_t rank = ptx::get_sreg_cluster_ctarank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 4);
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x == 0)
    ptx::st_async(ptx::mapa(ptx::space_cluster, &word, rank ^ 1), rank + 40,
                  ptx::mapa(ptx::space_cluster, &bar, rank ^ 1));
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
  }
  if (threadIdx.x == 0)
    out[rank] = (int)(word * 10 + ptx::getctarank(ptx::space_cluster, ptx::mapa(ptx::space_cluster, &word, rank ^ 1)));
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

__global__ void produce_and_consume(const int* in, int* out, int tiles) {
  __shared__ int stage[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  const bool producer = threadIdx.x < 32;
  auto pipe =
      cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  const int lane = threadIdx.x % 32;
  for (int k = 0; k < tiles; k++) {
    if (producer) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[k % 2][lane], &in[k * 32 + lane], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      out[k * 32 + lane] = stage[k % 2][31 - lane];
      pipe.consumer_release();
    }
  }
}

int main() {
  int in[192], out[192], wrong = 0;
  for (int i = 0; i < 192; i++) in[i] = i * i;
  int *din, *dout;
  cudaMalloc(&din, sizeof in);
  cudaMalloc(&dout, sizeof out);
  cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice);
  double_in_shared<<<1, 64>>>(din, dout);
  cudaMemcpy(out, dout, 256, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; i++) wrong += out[i] != 2 * in[i];
  tell_neighbour<<<2, 32>>>(dout);
  cudaMemcpy(out, dout, 8, cudaMemcpyDeviceToHost);
  wrong += out[0] != 411 || out[1] != 400;
  produce_and_consume<<<1, 64>>>(din, dout, 6);
  cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 192; i++) wrong += out[i] != in[i / 32 * 32 + 31 - i % 32];
  wrong += cudaGetLastError() != cudaSuccess;

  cuda::atomic<int> a(3);
  cuda::std::atomic<float> f(1.0f);
  cuda::barrier<cuda::thread_scope_system> b(1);
  a.fetch_add(2);
  a++;
  f.fetch_add(1.5f);
  b.arrive_and_wait();
  int expected = 6;
  wrong += !a.compare_exchange_strong(expected, 9) || a.load() != 9 || f.load() != 2.5f;
  static_assert(cuda::std::is_same<int, int>::value, "");
  std::printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
