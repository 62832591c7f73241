// Barriers in shared memory, clusters and their shared memory, bulk copies: what inline PTX and the headers make of
// them, and what bad use gets.
#include <cooperative_groups.h>
#include <cuda_awbarrier_primitives.h>

#include <cstdint>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <vector>

namespace cg = cooperative_groups;

static int failures = 0;
static void expect(bool good, const char* what) {
  if (!good) std::printf("wrong: %s\n", what);
  failures += !good;
}

// Two halves of a block hand a value to and fro.
__global__ void ping_pong(int* out) {
  __shared__ __mbarrier_t to, back;
  __shared__ int value;
  const int t = threadIdx.x;
  if (t == 0) {
    __mbarrier_init(&to, 32);
    __mbarrier_init(&back, 32);
    value = 0;
  }
  __syncthreads();
  for (int k = 0; k < 10; k++) {
    if (t < 32) {
      if (t == 0) value++;
      __mbarrier_arrive(&to);
      while (!__mbarrier_try_wait_parity(&back, k & 1)) {
      }
    } else {
      while (!__mbarrier_test_wait_parity(&to, k & 1)) {
      }
      if (t == 32) value *= 2;
      __mbarrier_arrive(&back);
    }
  }
  __syncthreads();
  if (t == 0) *out = value;
}

__global__ void __cluster_dims__(4, 1, 1) ring(int* out) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned int rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  if (threadIdx.x == 0) mine = -1;
  cluster.sync();
  if (threadIdx.x == 0) *cluster.map_shared_rank(&mine, next) = (int)(blockIdx.x * 10);
  cluster.sync();
  if (threadIdx.x == 0)
    out[blockIdx.x] = mine + (int)cluster.query_shared_rank(cluster.map_shared_rank(&mine, next)) * 1000;
  cluster.sync();
}

// One block sends to all of its cluster; each waits on a barrier of its own.
__global__ void __cluster_dims__(2, 1, 1) multicast(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ alignas(8) uint64_t bar;
  cg::cluster_group cluster = cg::this_cluster();
  const uint32_t b = (uint32_t)__cvta_generic_to_shared(&bar), t = (uint32_t)__cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(b) : "memory");
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], "
        "%3;" ::"r"(t),
        "l"(in), "r"(b), "h"((short)3)
        : "memory");
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(b)
                 : "memory");
  if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
  cluster.sync();
}

__global__ void atomics(int* counts, float* sum) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> seen;
  if (threadIdx.x == 0) seen = 0;
  __syncthreads();
  seen.fetch_add(2, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
  __syncthreads();
  int old = 100;
  if (threadIdx.x == 0) {
    counts[blockIdx.x] = seen.load();
    counts[2 + blockIdx.x] = seen.compare_exchange_strong(old, 7) ? 1 : old;
  }
}

__global__ void library(double* out) {
  cuda::std::array<int, 3> a = {1, 2, 3};
  auto t = cuda::std::make_tuple(a[0], 2.5, a[2]);
  cuda::std::complex<double> z(1, 2);
  z *= cuda::std::complex<double>(3, -1);
  out[0] = cuda::std::get<1>(t) + a.size();
  out[1] = z.real();
  out[2] = z.imag();
  out[3] = cuda::std::numeric_limits<float>::max();
}

__device__ cuda::counting_semaphore<cuda::thread_scope_device> gate(1);
__device__ cuda::latch<cuda::thread_scope_device> everybody(4);
__global__ void one_at_a_time(int* value) {
  if (threadIdx.x == 0) {
    gate.acquire();
    *value = *(volatile int*)value + 1;
    gate.release();
    everybody.arrive_and_wait();
  }
}

__global__ void never_arrives() {
  __shared__ __mbarrier_t bar;
  if (threadIdx.x == 0) __mbarrier_init(&bar, 33);
  __syncthreads();
  __mbarrier_arrive(&bar);
  while (!__mbarrier_try_wait_parity(&bar, 0)) {
  }
}
__global__ void not_initialised(int* out) {
  __shared__ __mbarrier_t bar;
  bar = 0;
  *out = (int)__mbarrier_arrive(&bar);
}
__global__ void __cluster_dims__(2, 1, 1) no_such_block(int* out) {
  __shared__ int x;
  *out = *cg::this_cluster().map_shared_rank(&x, 5);
}

// A program goes on after a kernel that failed only with a device made anew.
template <class Launch>
static cudaError_t outcome(Launch launch) {
  launch();
  const cudaError_t status = cudaDeviceSynchronize();
  cudaDeviceReset();
  return status;
}

int main() {
  int* out;
  float* sum;
  double* numbers;
  int host[128];
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&sum, sizeof(float));
  cudaMalloc(&numbers, 4 * sizeof(double));

  ping_pong<<<1, 64>>>(out);
  cudaMemcpy(host, out, 4, cudaMemcpyDeviceToHost);
  expect(host[0] == 2046, "two halves of a block hand a value to and fro");

  ring<<<8, 32>>>(out);
  cudaMemcpy(host, out, 32, cudaMemcpyDeviceToHost);
  for (int b = 0; b < 8; b++)
    expect(host[b] == (b / 4 * 4 + (b + 3) % 4) * 10 + (b + 1) % 4 * 1000,
           "each block of a cluster writes into the next one's memory");

  int in[64];
  for (int i = 0; i < 64; i++) in[i] = i * i;
  int* din;
  cudaMalloc(&din, sizeof in);
  cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice);
  multicast<<<2, 64>>>(din, out);
  cudaMemcpy(host, out, 512, cudaMemcpyDeviceToHost);
  bool same = true;
  for (int i = 0; i < 128; i++) same = same && host[i] == in[i % 64];
  expect(same, "a copy to all blocks of a cluster");

  cudaMemset(sum, 0, sizeof(float));
  atomics<<<2, 64>>>(out, sum);
  float total;
  cudaMemcpy(host, out, 16, cudaMemcpyDeviceToHost);
  cudaMemcpy(&total, sum, 4, cudaMemcpyDeviceToHost);
  expect(host[0] == 128 && host[1] == 128 && host[2] == 128 && host[3] == 128 && total == 64,
         "cuda::atomic and cuda::atomic_ref");

  library<<<1, 1>>>(numbers);
  double d[4];
  cudaMemcpy(d, numbers, sizeof d, cudaMemcpyDeviceToHost);
  expect(d[0] == 5.5 && d[1] == 5 && d[2] == 5 && d[3] == 3.4028234663852886e38, "cuda::std");

  cudaMemset(out, 0, 4);
  one_at_a_time<<<4, 32>>>(out);
  cudaMemcpy(host, out, 4, cudaMemcpyDeviceToHost);
  expect(host[0] == 4, "a semaphore lets one through at a time, a latch waits for all");

  expect(cudaGetLastError() == cudaSuccess, "nothing failed so far");
  ring<<<6, 32>>>(out);
  expect(cudaGetLastError() == cudaErrorInvalidClusterSize, "a grid that is no multiple of the cluster");
  expect(outcome([] { never_arrives<<<1, 32>>>(); }) == cudaErrorLaunchFailure, "a wait that nothing ends is reported");
  cudaMalloc(&out, sizeof host);
  expect(outcome([&] { not_initialised<<<1, 1>>>(out); }) == cudaErrorIllegalInstruction,
         "an mbarrier that was not initialised");
  cudaMalloc(&out, sizeof host);
  expect(outcome([&] { no_such_block<<<2, 1>>>(out); }) != cudaSuccess, "a block that the cluster does not have");
  std::printf("%s\n", failures ? "FAIL" : "PASS");
  return failures != 0;
}
