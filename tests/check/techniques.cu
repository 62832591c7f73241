// What programs build of atomics, groups of lanes and asynchronous copies, right and with one mistake. An argument picks the case.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include "cases.h"
namespace cg = cooperative_groups;

// Two kernels that run at the same time meet at a flag.
__global__ void give(int* flag, int* data, bool release) {
  *data = 7;  // expect kernels_meet_relaxed race_raw
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  ready.store(1, release ? cuda::memory_order_release : cuda::memory_order_relaxed);
}
__global__ void take(int* flag, const int* data, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  while (!ready.load(cuda::memory_order_acquire)) {}
  *out = *data;  // expect kernels_meet_relaxed race_raw
}
// Blocks that take work until there is none.
__global__ void take_work(const int* in, int* out, int* next, int n, bool all_have_read) {
  __shared__ int item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);  // expect work_taken_early race_war
    __syncthreads();  // expect work_taken_early barrier_divergence
    const int k = item;  // expect work_taken_early race_war
    if (all_have_read) __syncthreads();
    if (k >= n) return;
    out[k * 64 + threadIdx.x] = in[k * 64 + threadIdx.x] * 2;
  }
}
__global__ void count_labels(const int* in, int* out, int* count, bool atomic) {
  auto group = cg::labeled_partition(cg::coalesced_threads(), in[threadIdx.x] % 4);
  const int label = in[threadIdx.x] % 4;
  int base = 0;
  if (group.thread_rank() == 0) {
    if (atomic) base = atomicAdd(&count[label], group.size());
    else base = (count[label] += group.size()) - group.size();  // expect labels_plain race_raw
  }
  out[label * 256 + group.shfl(base, 0) + group.thread_rank()] = threadIdx.x;
}
__global__ void two_buffers(const int4* in, int* out, int n, int still_running, bool all_have_read) {
  __shared__ int4 buffer[2][32];
  const int t = threadIdx.x;
  int sum = 0;
  __pipeline_memcpy_async(&buffer[0][t], in + t, 16);
  __pipeline_commit();
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) __pipeline_memcpy_async(&buffer[(k + 1) & 1][t], in + (k + 1) * 32 + t, 16);  // expect copy_over_what_is_read race_war; expect waits_for_one_too_few race_raw
    __pipeline_commit();
    __pipeline_wait_prior(still_running);
    __syncthreads();
    sum += buffer[k & 1][31 - t].x;
    if (all_have_read) __syncthreads();
  }
  out[t] = sum;
}
// The columns of a row change places so that no two lanes meet in a bank.
__global__ void transpose_swizzled(const int* in, int* out, int shift) {
  __shared__ int tile[32 * 32];
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) tile[y * 32 + (x ^ y)] = in[y * 32 + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) out[y * 32 + x] = tile[x * 32 + (y ^ x) + shift];  // expect swizzled_past_end out_of_bounds
}
__global__ void reused_union(const int* in, int* out, bool all_have_read) {
  __shared__ union { int all[64]; float half[32]; } both;
  const int t = threadIdx.x;
  both.all[t] = in[t];
  __syncthreads();
  const int v = both.all[63 - t];  // expect union_reused_early race_war
  if (all_have_read) __syncthreads();
  if (t < 32) both.half[t] = v;
  __syncthreads();
  out[t] = v + int(both.half[t / 2]);
}

struct Data {
  int *in, *out, *zeros;
  Data() {
    cudaMalloc(&in, 65536);
    cudaMalloc(&out, 65536);
    cudaMalloc(&zeros, 4096);
    cudaMemset(in, 1, 65536);
    cudaMemset(out, 0, 65536);
    cudaMemset(zeros, 0, 4096);
    cudaDeviceSynchronize();
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(zeros);
  }
};
static void meet(bool release) {
  Data d;
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  give<<<1, 1, 0, a>>>(d.zeros, d.zeros + 1, release);
  take<<<1, 1, 0, b>>>(d.zeros, d.zeros + 1, d.out);
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}
CASE(kernels_meet) { meet(true); }
CASE(kernels_meet_relaxed) { meet(false); }
CASE(work_taken) { Data d; take_work<<<4, 64>>>(d.in, d.out, d.zeros, 40, true); }
CASE(work_taken_early) { Data d; take_work<<<4, 64>>>(d.in, d.out, d.zeros, 40, false); }
CASE(labels_atomic) { Data d; count_labels<<<1, 128>>>(d.in, d.out, d.zeros, true); }
CASE(labels_plain) { Data d; count_labels<<<1, 128>>>(d.in, d.out, d.zeros, false); }
CASE(two_buffers_in_turn) { Data d; two_buffers<<<1, 32>>>((int4*)d.in, d.out, 5, 1, true); }
CASE(waits_for_one_too_few) { Data d; two_buffers<<<1, 32>>>((int4*)d.in, d.out, 5, 2, true); }
CASE(copy_over_what_is_read) { Data d; two_buffers<<<1, 32>>>((int4*)d.in, d.out, 5, 1, false); }
CASE(swizzled) { Data d; transpose_swizzled<<<1, dim3(32, 8)>>>(d.in, d.out, 0); }
CASE(swizzled_past_end) { Data d; transpose_swizzled<<<1, dim3(32, 8)>>>(d.in, d.out, 1); }
CASE(union_reused) { Data d; reused_union<<<1, 64>>>(d.in, d.out, true); }
CASE(union_reused_early) { Data d; reused_union<<<1, 64>>>(d.in, d.out, false); }

// Tasks that make tasks, in a queue for all threads: long chains of who knows what from whom.
struct Queue {
  int *items, *ready;
  unsigned *head, *tail;
};
template <bool kFence>
__device__ void put(const Queue& q, int task) {
  const unsigned at = atomicAdd(q.tail, 1u);
  q.items[at] = task;  // expect tasks_unfenced race_raw
  if (kFence) __threadfence();
  atomicExch(&q.ready[at], 1);
}
__device__ bool take(const Queue& q, int* task) {
  unsigned at = *(volatile unsigned*)q.head;
  for (;;) {
    if (at >= *(volatile unsigned*)q.tail) return false;
    const unsigned seen = atomicCAS(q.head, at, at + 1);
    if (seen == at) break;
    at = seen;
  }
  while (atomicAdd(&q.ready[at], 0) == 0) {
  }
  __threadfence();
  *task = q.items[at];
  return true;
}
template <bool kFence>
__global__ void first_tasks(Queue q) { put<kFence>(q, 3); }
template <bool kFence>
__global__ void all_tasks(Queue q, int* done) {
  for (int task; take(q, &task); atomicAdd(done, 1))
    for (int k = 0; k < 2 && task > 0; ++k) put<kFence>(q, task - 1);
}
template <bool kFence>
void run_tasks() {
  const int kMost = 64 * 15;
  int* memory;
  cudaMalloc(&memory, (2 * kMost + 3) * sizeof(int));
  cudaMemset(memory, 0, (2 * kMost + 3) * sizeof(int));
  const Queue q{memory, memory + kMost, (unsigned*)memory + 2 * kMost, (unsigned*)memory + 2 * kMost + 1};
  first_tasks<kFence><<<1, 64>>>(q);
  all_tasks<kFence><<<8, 64>>>(q, memory + 2 * kMost + 2);
  cudaDeviceSynchronize();
  cudaFree(memory);
}
CASE(tasks_fenced) { run_tasks<true>(); }
CASE(tasks_unfenced) { run_tasks<false>(); }
