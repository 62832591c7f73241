// Races in global memory, within and between blocks. An argument picks the case.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include "cases.h"

__global__ void count(int* counter, bool atomic) {
  if (atomic) atomicAdd(counter, 1);
  else *counter += 1;  // expect counter_plain race_raw
}
template <bool kAtomic>
__global__ void histogram(const int* in, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (kAtomic) atomicAdd(&bins[in[i] & 15], 1);
  else bins[in[i] & 15]++;  // expect histogram_plain race_waw
}
__global__ void smooth_in_place(float* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) p[i] = (p[i - 1] + p[i] + p[i + 1]) / 3;  // expect smooth_in_place race_raw
}
__global__ void smooth(const float* p, float* q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) q[i] = (p[i - 1] + p[i] + p[i + 1]) / 3;
}
__global__ void neighbours(int* p, bool sync) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = i;  // expect neighbours_unsynced race_raw
  if (sync) __syncthreads();
  p[2048 + i] = p[blockIdx.x * blockDim.x + (threadIdx.x ^ 64)];
}

// Labels that all threads lower: atomic without an order, within a warp, in shared memory and between blocks.
template <cuda::thread_scope kScope>
__global__ void lower_labels(int* label, int n) {
  using Label = cuda::atomic_ref<int, kScope>;
  __shared__ cuda::atomic<int> least;
  if (threadIdx.x == 0) least.store(n, cuda::memory_order_relaxed);
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    const int near = Label(label[(i + n - 1) % n]).load(cuda::memory_order_relaxed);   // expect labels_of_block race_war
    if (near < Label(label[i]).load(cuda::memory_order_relaxed)) Label(label[i]).store(near, cuda::memory_order_relaxed);
    if (near < least.load(cuda::memory_order_relaxed)) least.store(near, cuda::memory_order_relaxed);
  }
}

// The last block adds up what all blocks have left.
__device__ unsigned finished;
template <bool kFence, bool kSync>
__global__ void last_block(const int* in, int* partial, int* out) {
  __shared__ int s[128];
  __shared__ bool last;
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = s[0];  // expect last_block_no_fence race_raw
    if (kFence) __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    int sum = 0;
    for (int k = t; k < gridDim.x; k += 128) sum += partial[k];
    s[t] = sum;
    __syncthreads();
    if (t == 0) {
      int total = 0;
      for (int k = 0; k < 128; ++k) total += s[k];
      *out = total;
    }
  }
}
// Every thread leaves something; only thread 0 passes the fence.
template <bool kSync>
__global__ void last_block_all_write(int* partial, int* out, unsigned* counter) {
  __shared__ bool last;
  partial[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;  // expect last_block_no_barrier race_raw
  if (kSync) __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(counter, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    int sum = 0;
    for (int k = threadIdx.x; k < gridDim.x * 64; k += 64) sum += partial[k];
    atomicAdd(out, sum);
  }
}
// Each block waits for the sum of those before it.
template <bool kFence>
__global__ void look_back(const int* in, volatile int* flag, int* prefix) {
  if (threadIdx.x == 0) {
    int b = blockIdx.x, before = 0;
    if (b > 0) {
      while (flag[b - 1] == 0) {}
      if (kFence) __threadfence();
      before = prefix[b - 1];
    }
    prefix[b] = before + in[b];  // expect look_back_no_fence race_raw
    if (kFence) __threadfence();
    flag[b] = 1;
  }
}
__global__ void look_back_ordered(const int* in, int* flag, int* prefix, bool release) {
  if (threadIdx.x == 0) {
    int b = blockIdx.x, before = 0, seen = 0;
    if (b > 0) {
      do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag + b - 1) : "memory");
      while (!seen);
      before = prefix[b - 1];
    }
    prefix[b] = before + in[b];  // expect store_relaxed race_raw
    if (release) asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag + b), "r"(1) : "memory");
    else asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(flag + b), "r"(1) : "memory");
  }
}
__global__ void plain_flag(int* data, int* flag) {
  if (blockIdx.x == 0) {
    data[0] = 42;  // expect flag_plain race_raw
    __threadfence();
    flag[0] = 1;  // expect flag_plain race_raw
  } else if (flag[0] == 1) {
    data[1] = data[0];
  }
}
// Every thread passes a fence, all meet, and one raises the flag for them.
template <bool kFence, bool kAtomic>
__global__ void block_hands_over(int* data, int* flag, int* out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t;  // expect handed_over_no_fence race_raw
    if (kFence) __threadfence();
    __syncthreads();
    if (t == 0) kAtomic ? (void)atomicExch(flag, 1) : (void)(*(volatile int*)flag = 1);
  } else {
    if (t == 0) while (*(volatile int*)flag == 0) {}
    __syncthreads();
    out[t] = data[blockDim.x - 1 - t];
  }
}
__global__ void warp_hands_over(int* data, volatile int* flag, int* out) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    data[lane] = lane;
    __threadfence();
    __syncwarp();
    if (lane == 3) *flag = 1;
  } else {
    if (lane == 0) while (*flag == 0) {}
    __syncwarp();
    out[lane] = data[31 - lane];
  }
}
// A block in the middle gathers flags and raises others: it passes no fence, those who wrote did.
template <bool kFence>
__global__ void grid_through_block(volatile int* in, volatile int* out, int* p) {
  int t = threadIdx.x, b = blockIdx.x, blocks = gridDim.x, i = b * blockDim.x + t;
  for (int goal = 1; goal <= 3; ++goal) {
    int* to = p + (goal & 1) * 256;
    to[i] = goal == 1 ? i : p[(~goal & 1) * 256 + (i + 64) % 256];  // expect grid_through_block_no_fence race_raw
    if (kFence) __threadfence();
    __syncthreads();
    if (t == 0) in[b] = goal;
    if (b == 1) {
      if (t < blocks) while (in[t] != goal) {}
      __syncthreads();
      if (t < blocks) out[t] = goal;
    }
    if (t == 0) while (out[b] != goal) {}
    __syncthreads();
  }
}
// A tail without __syncwarp(), on global memory.
__global__ void tail_in_global(volatile int* p, int* out) {
  int t = threadIdx.x;
  if (t < 16) {
    p[t] += p[t + 16];  // warn tail_in_global race_raw
    p[t] += p[t + 8];   // warn tail_in_global race_raw
    p[t] += p[t + 4];
    p[t] += p[t + 2];
    p[t] += p[t + 1];
  }
  if (t == 0) *out = p[0];
}
__global__ void block_scope(int* counter, bool block) {
  if (block) atomicAdd_block(counter, 1);  // expect scope_of_block race_waw
  else atomicAdd(counter, 1);
}
__global__ void own_block_scope(int* counters) { atomicAdd_block(&counters[blockIdx.x], 1); }
__global__ void mixed(int* counter, int* out) {
  atomicAdd(counter, 1);  // expect atomic_and_plain race_raw
  out[blockIdx.x * blockDim.x + threadIdx.x] = *counter;
}
template <bool kFence>
__global__ void locked(int* mutex, int* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1) != 0) {}
    if (kFence) __threadfence();
    *sum += blockIdx.x;  // expect lock_no_fence race_raw
    if (kFence) __threadfence();
    atomicExch(mutex, 0);
  }
}
__global__ void grid_phases(int* p, bool sync) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  p[i] = i;  // expect grid_unsynced race_raw
  if (sync) cooperative_groups::this_grid().sync();  // expect grid_launched_apart trap
  p[n + i] = p[n - 1 - i];
}
__global__ void level(const int* from, const int* to, int* depth, bool* changed, int edges, int now) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges && depth[from[e]] == now && from[e] != to[e]) *changed = true;
}
__global__ void atomic_max_float(float* best, const float* in) {
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  int* bits = (int*)best;
  int old = *bits, assumed;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= v) break;
    old = atomicCAS(bits, assumed, __float_as_int(v));
  } while (assumed != old);
}
// Volatile accesses are ordered one by one; the sum of two is not.
__global__ void counts_in_volatile(volatile int* n) {
  *n = *n + 1;  // expect volatile_counter race_volatile
}
__global__ void raises_flag(volatile int* flag) {
  if (!*flag) *flag = 1;
}
// Each access is made, and nothing says which comes first.
__global__ void volatile_message(volatile int* data, int* out) {
  if (blockIdx.x == 0) data[threadIdx.x] = 42;  // warn volatile_data race_volatile
  else out[threadIdx.x] = data[threadIdx.x];
}
__global__ void last_one_stays(volatile int* winner) {
  if (threadIdx.x == 0) *winner = blockIdx.x + 1;  // warn volatile_winner race_volatile
}
// A flag that is waited for, and lowered again; the data are volatile too, and behind it.
__global__ void flag_and_answer(volatile int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    *flag = 1;
    while (*flag == 1);
    __threadfence();
    out[1] = data[1];
  } else {
    while (*flag == 0);
    __threadfence();
    out[0] = data[0];
    data[1] = 43;
    __threadfence();
    *flag = 2;
  }
}
// What a lock protects is read behind a fence, or past the caches.
template <int kHow>
__global__ void counts_under_lock(int* lock, int* n) {
  while (atomicCAS(lock, 0, 1) != 0);
  if (kHow == 1) __threadfence();
  if (kHow == 2) __stcg(n, __ldcg(n) + 1);
  else *n = *n + 1;  // warn lock_without_fence race_acquire
  __threadfence();
  atomicExch(lock, 0);
}
__global__ void pack(const int* in, int* out, int* n) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (v & 1) out[atomicAdd(n, 1)] = v;
}
__global__ void pack_plain(const int* in, int* out, int* n) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (v & 1) out[(*n)++] = v;  // expect pack_plain race_raw
}
__global__ void wrong_index(int* p, int n) {
  int i = blockIdx.x * 100 + threadIdx.x;  // blocks of 128
  if (i < n) p[i] = blockIdx.x;  // expect blocks_overlap race_waw
}
__global__ void rows_and_columns(int* m, int n) {
  int i = threadIdx.x;
  for (int k = 0; k < n; ++k) m[i * n + k] = i;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += m[k * n + i];
  m[n * n + i] = sum;
}
__device__ int shared_total;
__global__ void into_variable(const int* in) { shared_total += in[threadIdx.x]; }  // expect variable_sum race_waw

struct Data {
  int *a, *b, *c;
  Data() {
    int* host = (int*)malloc(65536);
    for (int k = 0; k < 16384; ++k) host[k] = k * 7 % 1000 + 1;
    for (int** p : {&a, &b, &c}) {
      cudaMalloc(p, 65536);
      cudaMemset(*p, 0, 65536);
    }
    cudaMemcpy(a, host, 65536, cudaMemcpyHostToDevice);
    free(host);
  }
  ~Data() {
    cudaDeviceSynchronize();
    for (int* p : {a, b, c}) cudaFree(p);
  }
};

CASE(volatile_counter) {
  int* n;
  cudaMalloc(&n, 4);
  cudaMemset(n, 0, 4);
  counts_in_volatile<<<2, 64>>>(n);
  cudaDeviceSynchronize();
  cudaFree(n);
}
CASE(volatile_flag) {
  int* n;
  cudaMalloc(&n, 4);
  cudaMemset(n, 0, 4);
  raises_flag<<<2, 64>>>(n);
  cudaDeviceSynchronize();
  cudaFree(n);
}
CASE(volatile_data) { Data d; volatile_message<<<2, 64>>>(d.b, d.c); }
CASE(volatile_winner) { Data d; last_one_stays<<<2, 64>>>(d.b); }
CASE(volatile_flag_and_answer) { Data d; flag_and_answer<<<2, 1>>>(d.b, d.b + 64, d.c); }
CASE(lock_without_fence) { Data d; counts_under_lock<0><<<8, 1>>>(d.b, d.c); }
CASE(lock_with_fence) { Data d; counts_under_lock<1><<<8, 1>>>(d.b, d.c); }
CASE(lock_past_caches) { Data d; counts_under_lock<2><<<8, 1>>>(d.b, d.c); }
CASE(counter_plain) { Data d; count<<<4, 64>>>(d.b, false); }
CASE(counter_atomic) { Data d; count<<<4, 64>>>(d.b, true); }
CASE(histogram_plain) { Data d; histogram<false><<<4, 64>>>(d.a, d.b); }
CASE(histogram_atomic) { Data d; histogram<true><<<4, 64>>>(d.a, d.b); }
CASE(smooth_in_place) { Data d; smooth_in_place<<<4, 64>>>((float*)d.a, 256); }
CASE(smooth_elsewhere) { Data d; smooth<<<4, 64>>>((float*)d.a, (float*)d.b, 256); smooth<<<4, 64>>>((float*)d.b, (float*)d.a, 256); }
CASE(neighbours_unsynced) { Data d; neighbours<<<4, 128>>>(d.b, false); }
CASE(neighbours_synced) { Data d; neighbours<<<4, 128>>>(d.b, true); }
CASE(last_block_fence) { Data d; last_block<true, true><<<32, 128>>>(d.a, d.b, d.c); }
CASE(last_block_no_fence) { Data d; last_block<false, true><<<32, 128>>>(d.a, d.b, d.c); }
CASE(last_block_barrier) { Data d; last_block_all_write<true><<<16, 64>>>(d.a, d.b, (unsigned*)d.c); }
CASE(last_block_no_barrier) { Data d; last_block_all_write<false><<<16, 64>>>(d.a, d.b, (unsigned*)d.c); }
CASE(look_back_fence) { Data d; look_back<true><<<64, 32>>>(d.a, d.b, d.c); }
CASE(look_back_no_fence) { Data d; look_back<false><<<64, 32>>>(d.a, d.b, d.c); }
CASE(store_release) { Data d; look_back_ordered<<<64, 32>>>(d.a, d.b, d.c, true); }
CASE(store_relaxed) { Data d; look_back_ordered<<<64, 32>>>(d.a, d.b, d.c, false); }
CASE(flag_plain) { Data d; plain_flag<<<2, 1>>>(d.a, d.b); }
CASE(handed_over) { Data d; block_hands_over<true, false><<<2, 64>>>(d.a, d.b, d.c); }
CASE(handed_over_by_atomic) { Data d; block_hands_over<true, true><<<2, 64>>>(d.a, d.b, d.c); }
CASE(handed_over_no_fence) { Data d; block_hands_over<false, true><<<2, 64>>>(d.a, d.b, d.c); }
CASE(handed_over_in_warp) { Data d; warp_hands_over<<<2, 32>>>(d.a, d.b, d.c); }
CASE(grid_through_block) { Data d; grid_through_block<true><<<4, 64>>>(d.b, d.b + 8, d.c); }
CASE(grid_through_block_no_fence) { Data d; grid_through_block<false><<<4, 64>>>(d.b, d.b + 8, d.c); }
CASE(tail_in_global) { Data d; tail_in_global<<<1, 32>>>(d.a, d.c); }
CASE(scope_of_block) { Data d; block_scope<<<4, 64>>>(d.b, true); }
CASE(scope_of_device) { Data d; block_scope<<<4, 64>>>(d.b, false); }
CASE(scope_of_own_block) { Data d; own_block_scope<<<4, 64>>>(d.b); }
CASE(atomic_and_plain) { Data d; mixed<<<4, 64>>>(d.b, d.c); }
CASE(lock_fence) { Data d; locked<true><<<16, 32>>>(d.b, d.c); }
CASE(lock_no_fence) { Data d; locked<false><<<16, 32>>>(d.b, d.c); }
CASE(grid_synced) { Data d; bool sync = true; void* args[] = {&d.b, &sync}; cudaLaunchCooperativeKernel((void*)grid_phases, dim3(8), dim3(64), args, 0, 0); }
CASE(grid_unsynced) { Data d; bool sync = false; void* args[] = {&d.b, &sync}; cudaLaunchCooperativeKernel((void*)grid_phases, dim3(8), dim3(64), args, 0, 0); }
CASE(grid_launched_apart) { Data d; grid_phases<<<8, 64>>>(d.b, true); }
CASE(same_flag_raised) { Data d; level<<<8, 64>>>(d.a, d.b, d.b, (bool*)d.c, 0, 0); level<<<8, 64>>>(d.a + 1, d.b, d.b, (bool*)d.c, 512, 0); }
CASE(compare_and_swap_loop) { Data d; atomic_max_float<<<8, 64>>>((float*)d.b, (float*)d.a); }
CASE(pack_atomic) { Data d; pack<<<8, 64>>>(d.a, d.b, d.c); }
CASE(pack_plain) { Data d; pack_plain<<<8, 64>>>(d.a, d.b, d.c); }
CASE(blocks_overlap) { Data d; wrong_index<<<4, 128>>>(d.b, 400); }
CASE(rows_then_columns) { Data d; rows_and_columns<<<1, 64>>>(d.b, 64); }
CASE(variable_sum) { Data d; into_variable<<<1, 64>>>(d.a); }
CASE(kernels_in_order) { Data d; for (int k = 0; k < 3; ++k) count<<<1, 1>>>(d.b, false); }
CASE(labels_of_device) { Data d; lower_labels<cuda::thread_scope_device><<<4, 64>>>(d.a, 256); }
CASE(labels_of_block) { Data d; lower_labels<cuda::thread_scope_block><<<4, 64>>>(d.a, 256); }

// Some blocks are in the next round when others see that this one is over.
__global__ void smooth_in_rounds(float* from, float* to, int n, bool sync) {
  auto grid = cooperative_groups::this_grid();
  for (int round = 0; round < 3; ++round) {
    for (int i = 1 + grid.thread_rank(); i < n - 1; i += grid.size()) to[i] = (from[i - 1] + from[i + 1]) / 2;  // expect rounds_synced_once race_raw
    grid.sync();
    for (int i = 1 + grid.thread_rank(); i < n - 1; i += grid.size()) from[i] = to[i];  // expect rounds_synced_once race_war
    if (sync) grid.sync();
    else __syncthreads();
  }
}
static void run_rounds(bool sync) {
  float *from, *to;
  int n = 900;
  cudaMalloc(&from, n * sizeof(float));
  cudaMalloc(&to, n * sizeof(float));
  cudaMemset(from, 0, n * sizeof(float));
  cudaMemset(to, 0, n * sizeof(float));
  void* args[] = {&from, &to, &n, &sync};
  cudaLaunchCooperativeKernel((void*)smooth_in_rounds, dim3(8), dim3(128), args, 0, 0);
  cudaDeviceSynchronize();
  cudaFree(from);
  cudaFree(to);
}
CASE(rounds_synced_once) { run_rounds(false); }
CASE(rounds_synced_twice) { run_rounds(true); }

// Lanes race here, and blocks as well, for whom a barrier of the warp would do nothing.
__global__ void turned_in_one_place(int* places, int* out) {
  places[threadIdx.x] = threadIdx.x + 100 * blockIdx.x;               // expect turned_by_blocks race_waw
  out[blockIdx.x * blockDim.x + threadIdx.x] = places[31 - threadIdx.x];  // expect turned_by_blocks race_raw
}
CASE(turned_by_blocks) { Data d; turned_in_one_place<<<2, 32>>>(d.a, d.b); }
