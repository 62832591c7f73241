// Clusters, and flags of newer kinds: cuda::atomic, cuda::barrier. An argument picks the case.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/ptx>
#include "cases.h"
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) neighbour(const int* in, int* out, int sync) {
  __shared__ int s[64];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x, other = cluster.block_rank() ^ 1;
  s[t] = in[blockIdx.x * 64 + t];  // expect cluster_unsynced race_raw
  if (sync) cluster.sync();
  else __syncthreads();
  int* theirs = cluster.map_shared_rank(s, other);
  out[blockIdx.x * 64 + t] = theirs[63 - t];
  cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) past_end(int* out, int n) {
  __shared__ int s[64];
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = 1;
  cluster.sync();
  int* theirs = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = theirs[threadIdx.x + n];  // expect cluster_past_end out_of_bounds
  cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) shared_sum(const int* in, int* out, bool atomic, bool in_time = true) {
  __shared__ int sum;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) sum = 0;  // expect cluster_sum_set_for_block race_waw
  if (in_time) cluster.sync();
  else __syncthreads();
  int* first = cluster.map_shared_rank(&sum, 0);
  if (atomic) atomicAdd(first, in[threadIdx.x]);
  else *first += in[threadIdx.x];  // expect cluster_plain_sum race_raw
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) *out = sum;
}
// A message from block 0 to block 1.
template <bool kRelease, cuda::thread_scope kScope>
__global__ void message(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, kScope> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 42;  // expect message_relaxed race_raw; expect message_of_block_scope race_raw
    ready.store(1, kRelease ? cuda::memory_order_release : cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    *out = *data;
  }
}
__global__ void arrive_and_wait(const int* in, int* out, bool wait) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  s[t] = in[t];  // expect arrived_not_waited race_raw
  auto token = bar.arrive();
  if (wait) bar.wait(static_cast<decltype(token)&&>(token));
  out[t] = s[63 - t];
}
__global__ void barrier_not_visible(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, 64);
  __syncthreads();
  bar.arrive_and_wait();
  out[threadIdx.x] = 1;
}
__global__ void too_few_arrive(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, 65);
  __syncthreads();
  bar.arrive_and_wait();  // expect too_few_arrive deadlock
  out[threadIdx.x] = 1;
}
__global__ void ticket(int* next, int* serving, int* sum) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != mine) {}
    __threadfence();
    *sum += blockIdx.x;
    __threadfence();
    atomicAdd(serving, 1);
  }
}
// Red and black points are independent of each other.
__global__ void red_black(float* p, int n, int color) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1 && i % 2 == color) p[i] = (p[i - 1] + p[i + 1]) / 2;
}
__global__ void all_points(float* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) p[i] = (p[i - 1] + p[i + 1]) / 2;  // expect all_points race_raw
}
__global__ void relax(int* d, int n, int k) {
  int i = blockIdx.x, j = threadIdx.x;
  d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
__global__ void computes_long(volatile int* flag, int* out) {  // one block waits while the other computes
  if (blockIdx.x == 0) {
    while (*flag == 0) {}
    *out = 1;
  } else {
    unsigned x = 1;
    for (int k = 0; k < 1500000; ++k) x = x * 1664525u + 1013904223u;
    if (x) *flag = 1;
  }
}

__global__ void __cluster_dims__(2, 1, 1) leaves(const int* in, int* out, bool stays) {
  __shared__ int s[64];
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = in[threadIdx.x];
  cluster.sync();
  int* theirs = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = theirs[63 - threadIdx.x];  // expect cluster_left race_block_end
  if (stays) cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) leaves_a_sum(const int* in, int* out, bool stays) {
  __shared__ int sum;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) sum = 0;
  cluster.sync();
  if (cluster.block_rank() == 1) atomicAdd(cluster.map_shared_rank(&sum, 0), in[threadIdx.x]);  // expect cluster_left_sum race_block_end
  if (stays) {
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) *out = sum;
  }
}
// Block 0 stays until block 1 has said that it is done.
__global__ void __cluster_dims__(2, 1, 1) told_by_flag(const int* in, int* out) {
  __shared__ int s[64], done;
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x == 0) done = 0;
  cluster.sync();
  if (cluster.block_rank() == 1) {
    out[threadIdx.x] = cluster.map_shared_rank(s, 0)[63 - threadIdx.x];
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(*cluster.map_shared_rank(&done, 0));
    if (threadIdx.x == 0) flag.store(1, cuda::memory_order_release);
  } else if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(done);
    while (!flag.load(cuda::memory_order_acquire)) {}
  }
}

// A store that tells the barrier of the block that waits for it; or one that tells nobody.
__global__ void __cluster_dims__(2, 1, 1) tells_neighbour(int* out, bool waits) {
  namespace ptx = cuda::ptx;
  __shared__ uint32_t word;
  __shared__ uint64_t bar;
  const uint32_t other = cg::this_cluster().block_rank() ^ 1;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 4);
  }
  cg::this_cluster().sync();
  if (threadIdx.x == 0) ptx::st_async(ptx::mapa(ptx::space_cluster, &word, other), other + 40, ptx::mapa(ptx::space_cluster, &bar, other));
  if (waits)
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
  else
    __nanosleep(1000);
  out[blockIdx.x * 32 + threadIdx.x] = word;  // expect cluster_word_too_early race_raw
  cg::this_cluster().sync();
}

// Between two barriers of the cluster each block has barriers of its own, and as many as it likes.
__global__ void __cluster_dims__(4, 1, 1) ring(int* out, bool other_buffer) {
  __shared__ int buffer[2][64];
  auto cluster = cg::this_cluster();
  const int t = threadIdx.x, rank = cluster.block_rank();
  buffer[0][t] = rank * 64 + t;
  buffer[1][t] = 0;
  cluster.sync();
  for (int k = 0; k < 5; ++k) {
    const int v = cluster.map_shared_rank(buffer[k & 1], (rank + 1) % 4)[t];
    if (rank & 1) __syncthreads();
    buffer[other_buffer ? (k + 1) & 1 : k & 1][t] = v;  // expect ring_in_one_buffer race_war
    if (rank == 2)
      for (int j = 0; j < 3; ++j) __syncthreads();
    cluster.sync();
  }
  out[blockIdx.x * 64 + t] = buffer[1][t];
}
// What comes between arriving and waiting is ordered with nothing.
enum class Split { Good, StoresLate, ReadsEarly, Relaxed, RelaxedBehindFence };
__global__ void __cluster_dims__(2, 1, 1) arrives_first(int* out, Split how) {
  namespace ptx = cuda::ptx;
  __shared__ int s[64], own[64];
  auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  int* theirs = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  s[t] = t;
  cluster.sync();
  s[t] = t + 1;  // expect split_relaxed race_raw
  if (how == Split::RelaxedBehindFence) __threadfence();
  if (how >= Split::Relaxed) ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  else ptx::barrier_cluster_arrive();
  if (how == Split::StoresLate) s[t] = 0;  // expect split_stores_late race_raw
  own[t] = t * 2;
  if (how == Split::ReadsEarly) own[t] = theirs[t];  // expect split_reads_early race_raw
  if (cluster.block_rank() == 0) {
    __syncthreads();
    out[1000 + t] = own[63 - t];
  }
  ptx::barrier_cluster_wait();
  out[blockIdx.x * 64 + t] = theirs[63 - t] + own[t];
  cluster.sync();
}
// One block ends; the other goes on to meet its cluster, which by then is it alone.
__global__ void __cluster_dims__(2, 1, 1) one_goes_on(int* out) {
  __shared__ int s[64];
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x;
  cluster.sync();
  if (cluster.block_rank() == 1) return;
  for (int k = 0; k < 3; ++k) {
    s[63 - threadIdx.x] += 1;
    cluster.sync();
    s[threadIdx.x] += 1;
    cluster.sync();
  }
  out[threadIdx.x] = s[threadIdx.x];
}

struct Data {
  int *in, *out, *flag;
  Data() {
    cudaMalloc(&in, 65536);
    cudaMalloc(&out, 65536);
    cudaMalloc(&flag, 8);
    int* host = (int*)malloc(65536);
    for (int k = 0; k < 16384; ++k) host[k] = k == k / 64 * 65 ? 0 : 1 + k * 7 % 50;
    cudaMemcpy(in, host, 65536, cudaMemcpyHostToDevice);
    free(host);
    cudaMemset(out, 0, 65536);
    cudaMemset(flag, 0, 8);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(flag);
  }
};
CASE(cluster_unsynced) { Data d; neighbour<<<4, 64>>>(d.in, d.out, 0); }
CASE(cluster_synced) { Data d; neighbour<<<4, 64>>>(d.in, d.out, 1); }
CASE(cluster_past_end) { Data d; past_end<<<2, 64>>>(d.out, 1); }
CASE(cluster_inside) { Data d; past_end<<<2, 64>>>(d.out, 0); }
CASE(cluster_plain_sum) { Data d; shared_sum<<<2, 64>>>(d.in, d.out, false); }
CASE(cluster_atomic_sum) { Data d; shared_sum<<<2, 64>>>(d.in, d.out, true); }
CASE(cluster_sum_set_for_block) { Data d; shared_sum<<<2, 64>>>(d.in, d.out, true, false); }
CASE(cluster_told_word) { Data d; tells_neighbour<<<2, 32>>>(d.out, true); }
CASE(cluster_word_too_early) { Data d; tells_neighbour<<<2, 32>>>(d.out, false); }
CASE(cluster_left) { Data d; leaves<<<4, 64>>>(d.in, d.out, false); }
CASE(cluster_stayed) { Data d; leaves<<<4, 64>>>(d.in, d.out, true); }
CASE(cluster_left_sum) { Data d; leaves_a_sum<<<2, 64>>>(d.in, d.out, false); }
CASE(cluster_stayed_for_sum) { Data d; leaves_a_sum<<<2, 64>>>(d.in, d.out, true); }
CASE(cluster_told_by_flag) { Data d; told_by_flag<<<2, 64>>>(d.in, d.out); }
CASE(message_released) { Data d; message<true, cuda::thread_scope_device><<<2, 1>>>(d.in, d.flag, d.out); }
CASE(message_relaxed) { Data d; message<false, cuda::thread_scope_device><<<2, 1>>>(d.in, d.flag, d.out); }
CASE(message_of_block_scope) { Data d; message<true, cuda::thread_scope_block><<<2, 1>>>(d.in, d.flag, d.out); }
CASE(arrived_and_waited) { Data d; arrive_and_wait<<<1, 64>>>(d.in, d.out, true); }
CASE(arrived_not_waited) { Data d; arrive_and_wait<<<1, 64>>>(d.in, d.out, false); }
CASE(barrier_reused) { Data d; barrier_not_visible<<<2, 64>>>(d.out); }
CASE(too_few_arrive) { Data d; too_few_arrive<<<1, 64>>>(d.out); }
CASE(ticket_lock) { Data d; ticket<<<16, 32>>>(d.flag, d.flag + 1, d.out); }
CASE(red_black) { Data d; red_black<<<4, 64>>>((float*)d.out, 256, 0); red_black<<<4, 64>>>((float*)d.out, 256, 1); }
CASE(all_points) { Data d; cudaMemcpy(d.out, d.in, 65536, cudaMemcpyDeviceToDevice); all_points<<<4, 64>>>((float*)d.out, 256); }
CASE(shortest_paths) { Data d; for (int k = 0; k < 64; ++k) relax<<<64, 64>>>(d.in, 64, k); }
CASE(waits_while_other_computes) { Data d; computes_long<<<2, 1>>>(d.flag, d.out); }
CASE(ring_in_two_buffers) { Data d; ring<<<8, 64>>>(d.out, true); }
CASE(ring_in_one_buffer) { Data d; ring<<<8, 64>>>(d.out, false); }
CASE(split_good) { Data d; arrives_first<<<4, 64>>>(d.out, Split::Good); }
CASE(split_stores_late) { Data d; arrives_first<<<4, 64>>>(d.out, Split::StoresLate); }
CASE(split_reads_early) { Data d; arrives_first<<<4, 64>>>(d.out, Split::ReadsEarly); }
CASE(split_relaxed) { Data d; arrives_first<<<4, 64>>>(d.out, Split::Relaxed); }
CASE(split_relaxed_behind_fence) { Data d; arrives_first<<<4, 64>>>(d.out, Split::RelaxedBehindFence); }
CASE(one_goes_on) { Data d; one_goes_on<<<4, 64>>>(d.out); }
