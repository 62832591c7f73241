// Threads that go around a barrier or a call of their warp and end, as the source has it: an early return is no mistake, and a
// condition that leads to the same end is one. An argument picks the case.
#include "cases.h"

struct Data {
  int *in, *out;
  Data() {
    static int h[256];
    for (int k = 0; k < 256; ++k) h[k] = k * 37 % 101;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof h);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
  }
};

__global__ void barrier_in_condition(const int* in, int* out, int n) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  if (t < n) {
    s[t] = in[t];
    __syncthreads();  // expect barrier_within barrier_divergence; expect barrier_within_other_warp barrier_divergence
    out[t] = s[n - 1 - t];
  }
}
CASE(barrier_within) { Data d; barrier_in_condition<<<1, 128>>>(d.in, d.out, 100); }
CASE(barrier_within_other_warp) { Data d; barrier_in_condition<<<1, 128>>>(d.in, d.out, 96); }
CASE(barrier_within_for_all) { Data d; barrier_in_condition<<<1, 128>>>(d.in, d.out, 128); }

__global__ void returns_before_barrier(const int* in, int* out, int n) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[n - 1 - t];
}
CASE(returned_before_barrier) { Data d; returns_before_barrier<<<1, 128>>>(d.in, d.out, 100); }

// Behind the last early return whoever ends has gone around the rest.
__global__ void returns_before_condition(const int* in, int* out, int n, int m) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = in[t];
  if (t < m) {
    __syncthreads();  // expect returned_before_barrier_within barrier_divergence
    out[t] = s[m - 1 - t];
  }
}
CASE(returned_before_barrier_within) { Data d; returns_before_condition<<<1, 128>>>(d.in, d.out, 100, 64); }
CASE(returned_before_barrier_for_all) { Data d; returns_before_condition<<<1, 128>>>(d.in, d.out, 64, 64); }
__global__ void returns_before_shuffle_in_condition(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  out[128 + i] = v;
  if (i % 32 < 16) {
    for (int d = 8; d; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);  // expect returned_before_sum_within lanes_never_arrive
    if (i % 32 == 0) out[i / 32] = v;
  }
}
CASE(returned_before_sum_within) { Data d; returns_before_shuffle_in_condition<<<2, 64>>>(d.in, d.out, 100); }
__global__ void goes_to_the_end(const int* in, int* out, int n) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  if (t >= n) goto end;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[n - 1 - t];
end:
  return;
}
CASE(went_to_the_end) { Data d; goes_to_the_end<<<1, 128>>>(d.in, d.out, 100); }

// Rounds of two barriers, of which some threads have fewer.
template <int kStep>
__global__ void two_barriers_a_round(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  for (int i = t; i < n; i += kStep) {
    s[t] = in[i];
    __syncthreads();  // expect rounds_of_two barrier_divergence
    out[i] = s[t ^ 1];
    __syncthreads();
  }
}
template <int kStep>
__global__ void two_barriers_without_more(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  for (int i = t; i < n; i += kStep) {
    out[i] = in[i];
    __syncthreads();  // warn rounds_that_end barrier_divergence
    __syncthreads();
  }
}
CASE(rounds_that_end) { Data d; two_barriers_without_more<64><<<1, 64>>>(d.in, d.out, 96); }
CASE(rounds_of_two) { Data d; two_barriers_a_round<64><<<1, 64>>>(d.in, d.out, 96); }
CASE(rounds_of_two_for_all) { Data d; two_barriers_a_round<64><<<1, 64>>>(d.in, d.out, 128); }

__global__ void sum_in_condition(const int* in, int* out, int n) {
  if (threadIdx.x < n) {
    int v = in[threadIdx.x];
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);  // expect sum_within lanes_never_arrive
    if (threadIdx.x == 0) out[0] = v;
  }
}
CASE(sum_within) { Data d; sum_in_condition<<<1, 32>>>(d.in, d.out, 16); }
CASE(sum_within_for_all) { Data d; sum_in_condition<<<2, 32>>>(d.in, d.out, 32); }
CASE(sum_of_short_warp) { Data d; sum_in_condition<<<1, 16>>>(d.in, d.out, 16); }

template <typename T>
__global__ void returns_before_sum(const T* in, T* out, int n) {
  if (threadIdx.x >= n) return;
  T v = in[threadIdx.x];
  for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x == 0) out[0] = v;
}
CASE(returned_before_sum) { Data d; returns_before_sum<<<1, 32>>>(d.in, d.out, 16); }

template <typename T>
__global__ void template_with_condition(const T* in, T* out, int n) {
  const auto twice = [](T v) { return v + v; };  // what it returns from is itself
  if (threadIdx.x < n) out[threadIdx.x] = twice(__shfl_sync(0xffffffff, in[threadIdx.x], 0));  // expect template_within lanes_never_arrive
}
CASE(template_within) { Data d; template_with_condition<<<1, 32>>>(d.in, d.out, 20); }

__global__ void votes_in_rounds(const int* in, int* out, int n) {
  for (int i = threadIdx.x; i < n; i += 32) {
    const unsigned all = __ballot_sync(0xffffffff, in[i] > 50);  // warn votes_of_fewer lanes_never_arrive
    if (threadIdx.x == 0) out[i / 32] = all;
  }
}
CASE(votes_of_fewer) { Data d; votes_in_rounds<<<1, 32>>>(d.in, d.out, 80); }
CASE(votes_of_all) { Data d; votes_in_rounds<<<1, 32>>>(d.in, d.out, 96); }

// Warps of two kinds, at barriers with numbers.
template <int kProduced>
__global__ void hands_over(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < 64) {
    s[t] = in[t];
    asm volatile("bar.arrive 1, %0;" ::"n"(kProduced) : "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");  // expect counts_of_two_kinds counts_differ
    out[t] = s[t - 64];
  }
}
CASE(counts_of_one_kind) { Data d; hands_over<128><<<1, 128>>>(d.in, d.out); }
CASE(counts_of_two_kinds) { Data d; hands_over<160><<<1, 128>>>(d.in, d.out); }

// The whole block by its number, and by none.
__global__ void block_by_its_number(int* out) {
  if (threadIdx.x < 32) asm volatile("bar.sync 3, 64;" ::: "memory");
  else asm volatile("bar.sync 3;" ::: "memory");
  out[threadIdx.x] = 1;
}
CASE(counts_of_the_block) { Data d; block_by_its_number<<<1, 64>>>(d.out); }

// What it reads of lanes that do not come is the same mistake.
__global__ void scan_in_condition(const int* in, int* out) {
  int v = in[threadIdx.x];
  for (int d = 1; d < 32; d *= 2)
    if (threadIdx.x >= d) v += __shfl_up_sync(0xffffffff, v, d);  // expect scan_within lanes_never_arrive
  out[threadIdx.x] = v;
}
CASE(scan_within) { Data d; scan_in_condition<<<1, 32>>>(d.in, d.out); }
