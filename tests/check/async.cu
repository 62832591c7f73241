// Copies to shared memory that run beside the kernel: cp.async, cg::memcpy_async, cuda::pipeline, cuda::barrier.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include "cases.h"
namespace cg = cooperative_groups;

// 0: nothing, 1: wait only, 2: barrier only, 3: both
__global__ void one_copy(const int* in, int* out, int how) {
  __shared__ int s[128];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4);  // expect not_waited race_raw; expect barrier_without_wait race_raw; expect wait_without_barrier race_raw
  __pipeline_commit();
  if (how & 1) __pipeline_wait_prior(0);
  if (how & 2) __syncthreads();
  out[t] = s[127 - t];
}
__global__ void own_copy(const int* in, int* out, bool wait) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4);  // expect own_not_waited race_raw
  __pipeline_commit();
  if (wait) __pipeline_wait_prior(0);
  out[t] = s[t];
}
// The group that is waited for must be the one whose data is read.
template <int kPrior>
__global__ void stages(const int* in, int* out, int n) {
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&s[0][t], &in[t], 4);
  __pipeline_commit();
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) __pipeline_memcpy_async(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t], 4);  // expect waits_for_too_few race_raw
    __pipeline_commit();
    __pipeline_wait_prior(kPrior);
    __syncthreads();
    sum += s[k & 1][63 - t];
    __syncthreads();
  }
  out[t] = sum;
}
// The buffer that is being read is filled again.
template <bool kSync>
__global__ void refill(const int* in, int* out, int n) {
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&s[0][t], &in[t], 4);
  __pipeline_commit();
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) __pipeline_memcpy_async(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t], 4);  // expect refilled_early race_war
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k & 1][63 - t];
    if (kSync) __syncthreads();
  }
  out[t] = sum;
}
__global__ void overwritten_while_copied(const int* in, int* out, bool wait) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4);
  __pipeline_commit();
  if (wait) __pipeline_wait_prior(0);
  s[t] = 7;  // expect stored_over_copy race_waw
  __pipeline_wait_prior(0);
  out[t] = s[t];
}
template <int kHow>
__global__ void group_copy(const int* in, int* out) {
  __shared__ int s[256];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof(int) * 256);  // expect group_not_waited race_raw; expect group_barrier_alone race_raw
  if (kHow == 1) cg::wait(block);
  if (kHow == 2) block.sync();
  int t = block.thread_rank();
  out[t] = s[255 - t];
}
// A group of copies for each call.
template <int kPrior>
__global__ void group_stages(const int* in, int* out) {
  __shared__ int s[2][64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s[0], in, sizeof s[0]);
  cg::memcpy_async(block, s[1], in + 64, sizeof s[1]);  // expect second_group_not_waited race_raw
  cg::wait_prior<kPrior>(block);
  int t = block.thread_rank();
  out[t] = s[0][63 - t];
  if (kPrior == 0 || in[256]) out[t] += s[1][63 - t];
  cg::wait(block);
}
template <bool kWait>
__global__ void with_barrier(const int* in, int* out) {
  __shared__ int s[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, s, in, cuda::aligned_size_t<16>(sizeof(int) * 128), bar);
  if (kWait) bar.arrive_and_wait();
  int t = block.thread_rank();
  out[t] = s[127 - t];  // expect barrier_not_waited race_raw
}
template <bool kWait>
__global__ void with_pipeline(const int* in, int* out, int batches) {
  constexpr int kStages = 2;
  __shared__ int s[kStages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int t = block.thread_rank(), sum = 0;
  for (int b = 0, fetch = 0; b < batches; ++b) {
    for (; fetch < batches && fetch < b + kStages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[fetch % kStages], in + fetch * 64, cuda::aligned_size_t<4>(sizeof(int) * 64), pipe);  // expect pipeline_not_waited race_raw
      pipe.producer_commit();
    }
    if (kWait) pipe.consumer_wait();
    sum += s[b % kStages][63 - t];
    pipe.consumer_release();
  }
  out[t] = sum;
}
__global__ void from_shared_plain(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[63 - t];
}
__global__ void source_changed(int* in, int* out, bool wait) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4);
  __pipeline_commit();
  if (wait) __pipeline_wait_prior(0);
  in[t] = 5;  // expect source_overwritten race_war
  __pipeline_wait_prior(0);
  out[t] = s[t];
}
__global__ void asm_copy(const int* in, int* out, int groups) {
  __shared__ __align__(16) int s[2][128];
  int t = threadIdx.x;
  for (int g = 0; g < 2; ++g) {
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[g][4 * t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + g * 128 + 4 * t) : "memory");  // expect asm_group_missing race_raw
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  if (groups) asm volatile("cp.async.wait_group 0;" ::: "memory");
  else asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  out[t] = s[0][127 - t] + s[1][127 - t];
}

struct Data {
  int *in, *out;
  Data() {
    cudaMalloc(&in, 65536);
    cudaMalloc(&out, 65536);
    cudaMemset(in, 1, 65536);
    cudaMemset(out, 0, 65536);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
  }
};
CASE(not_waited) { Data d; one_copy<<<1, 128>>>(d.in, d.out, 0); }
CASE(wait_without_barrier) { Data d; one_copy<<<1, 128>>>(d.in, d.out, 1); }
CASE(barrier_without_wait) { Data d; one_copy<<<1, 128>>>(d.in, d.out, 2); }
CASE(wait_and_barrier) { Data d; one_copy<<<1, 128>>>(d.in, d.out, 3); }
CASE(own_not_waited) { Data d; own_copy<<<1, 64>>>(d.in, d.out, false); }
CASE(own_waited) { Data d; own_copy<<<1, 64>>>(d.in, d.out, true); }
CASE(waits_for_too_few) { Data d; stages<2><<<1, 64>>>(d.in, d.out, 6); }
CASE(waits_for_enough) { Data d; stages<1><<<1, 64>>>(d.in, d.out, 6); }
CASE(waits_for_all) { Data d; stages<0><<<1, 64>>>(d.in, d.out, 6); }
CASE(refilled_early) { Data d; refill<false><<<1, 64>>>(d.in, d.out, 6); }
CASE(refilled_late) { Data d; refill<true><<<1, 64>>>(d.in, d.out, 6); }
CASE(stored_over_copy) { Data d; overwritten_while_copied<<<1, 64>>>(d.in, d.out, false); }
CASE(stored_after_copy) { Data d; overwritten_while_copied<<<1, 64>>>(d.in, d.out, true); }
CASE(group_not_waited) { Data d; group_copy<0><<<1, 256>>>(d.in, d.out); }
CASE(group_waited) { Data d; group_copy<1><<<1, 256>>>(d.in, d.out); }
CASE(group_barrier_alone) { Data d; group_copy<2><<<1, 256>>>(d.in, d.out); }
CASE(second_group_not_waited) { Data d; group_stages<1><<<1, 64>>>(d.in, d.out); }
CASE(both_groups_waited) { Data d; group_stages<0><<<1, 64>>>(d.in, d.out); }
CASE(barrier_not_waited) { Data d; with_barrier<false><<<1, 128>>>(d.in, d.out); }
CASE(barrier_waited) { Data d; with_barrier<true><<<1, 128>>>(d.in, d.out); }
CASE(pipeline_not_waited) { Data d; with_pipeline<false><<<1, 64>>>(d.in, d.out, 6); }
CASE(pipeline_waited) { Data d; with_pipeline<true><<<1, 64>>>(d.in, d.out, 6); }
CASE(plain_copy) { Data d; from_shared_plain<<<1, 64>>>(d.in, d.out); }
CASE(source_overwritten) { Data d; source_changed<<<1, 64>>>(d.in, d.out, false); }
CASE(source_overwritten_late) { Data d; source_changed<<<1, 64>>>(d.in, d.out, true); }
CASE(asm_group_missing) { Data d; asm_copy<<<1, 32>>>(d.in, d.out, 0); }
CASE(asm_group_waited) { Data d; asm_copy<<<1, 32>>>(d.in, d.out, 1); }

// A warp that has gone on arrives for the next phase before others see that theirs is over.
__global__ void phases(const int* in, int* out, bool both) {
  __shared__ int s[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  const int t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    s[t] = in[t + round];  // expect phase_left_out race_raw
    bar.arrive_and_wait();
    sum += s[127 - t];  // expect phase_left_out race_war
    if (both) bar.arrive_and_wait();
  }
  out[t] = sum;
}
CASE(phase_left_out) { Data d; phases<<<1, 128>>>(d.in, d.out, false); }
CASE(phases_in_turn) { Data d; phases<<<1, 128>>>(d.in, d.out, true); }
