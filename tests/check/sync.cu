// Barriers, masks, and kernels that do not end. An argument picks the case.
// options: --max-instructions 3000000
#include "cases.h"

__global__ void divergent_if(int* p, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t < n) __syncthreads();  // expect sync_in_if barrier_divergence
  p[t] = s[t];
}
__global__ void two_barriers(int* p) {
  int t = threadIdx.x;
  if (t % 2) {
    p[t] = 1;
    __syncthreads();  // expect sync_in_both_branches barrier_divergence
  } else {
    p[t] = 2;
    __syncthreads();
  }
  p[t + 64] = t;
}
__global__ void divergent_loop(int* p) {
  int t = threadIdx.x;
  for (int k = 0; k <= t / 32; ++k) {
    p[t] = k;
    __syncthreads();  // expect sync_in_loop barrier_divergence
  }
  p[t + 64] = t;
}
// A sum by halves with the barrier in the condition: threads that have nothing to add go around it, round by round.
__global__ void halves(int* p) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (t < i) {
      s[t] += s[t + i];
      __syncthreads();  // expect sync_in_halves barrier_divergence
    }
    i /= 2;
  }
  if (t == 0) p[0] = s[0];
}
__global__ void halves_unrolled(int* p) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
#pragma unroll
  for (int i = 64; i > 0; i /= 2)
    if (t < i) {
      s[t] += s[t + i];
      __syncthreads();  // expect sync_in_unrolled_halves barrier_divergence
    }
  if (t == 0) p[0] = s[0];
}
__global__ void own_rounds(int* p, int from) {  // every round meets the barrier
  for (int k = from; k <= threadIdx.x / 32; ++k) {
    for (int n = 0; n < k; ++n)
      if (p[n] < 0) p[threadIdx.x] = n;
    __syncthreads();  // warn sync_in_own_rounds barrier_divergence
  }
}
// Tiles side by side, the last of which is not full.
__global__ void tiles(const int* in, int* out, int size) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    const int at = 64 * k + t;
    if (at < size) {
      s[t] += in[at];
      __syncthreads();  // expect sync_in_last_tile barrier_divergence
    }
  }
  if (t == 0) out[0] = s[0];
}
__global__ void whole_tiles(const int* in, int* out, int size) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    const int at = 64 * k + t;
    if (at < size) s[t] += in[at];
    __syncthreads();
  }
  if (t == 0) out[0] = s[0];
}
__global__ void leaves_tiles(const int* in, int* out, int size) {
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    const int at = 64 * k + t;
    if (at >= size) return;
    out[t] = in[at];
    __syncthreads();  // warn sync_left_in_tiles barrier_divergence
  }
}
__global__ void uniform_if(int* p, bool yes) {
  if (yes) __syncthreads();
  p[threadIdx.x] = 1;
}
__global__ void uniform_loop(int* p, int n) {
  for (int k = 0; k < n; ++k) {
    p[threadIdx.x] = k;
    __syncthreads();
  }
}
__global__ void early_return(int* p, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = t;
  __syncthreads();
  p[t] = s[n - 1 - t];
}
__global__ void barrier_of_too_many(int* p) {
  if (threadIdx.x < 32) {
    p[threadIdx.x] = 1;
    asm volatile("bar.sync 1, 64;");  // expect barrier_incomplete deadlock
  } else {
    asm volatile("bar.sync 2, 64;");
  }
}
// A function that waits is told of with the lines that called it.
__device__ void wait_at(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }
__global__ void barriers_by_function(int* p) {
  if (threadIdx.x < 32) {
    wait_at(1);  // expect barriers_by_function deadlock
    p[threadIdx.x] = 1;
  } else {
    p[threadIdx.x] = 2;
    wait_at(2);  // expect barriers_by_function deadlock
  }
}
__global__ void barriers_crossed(int* p) {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;");  // expect barriers_crossed deadlock
    asm volatile("bar.sync 2, 64;");
  } else {
    asm volatile("bar.sync 2, 64;");
    asm volatile("bar.sync 1, 64;");
  }
  p[threadIdx.x] = 1;
}
__global__ void shuffle_in_if(int* p) {
  int t = threadIdx.x, v = p[t];
  if (t < 16) v += __shfl_down_sync(0xffffffff, v, 8);  // expect shuffle_missing_lanes lanes_never_arrive
  p[t] = v;
}
__global__ void shuffle_mask(int* p) {
  int t = threadIdx.x, v = p[t];
  if (t < 16) v += __shfl_down_sync(0xffff, v, 8);
  p[t] = v;
}
__global__ void mask_without_me(int* p) {
  int t = threadIdx.x, v = p[t];
  v += __shfl_xor_sync(0xffff, v, 1);  // expect mask_leaves_out mask_without_caller
  p[t] = v;
}
__global__ void syncwarp_in_if(int* p) {
  int t = threadIdx.x;
  if (t < 8) {
    p[t] = 1;
    __syncwarp();  // expect syncwarp_missing_lanes lanes_never_arrive
  }
  p[t + 32] = t;
}
__global__ void ballot_mask(int* p) {
  int t = threadIdx.x, v = p[t];
  unsigned mask = __ballot_sync(0xffffffff, t < 20);
  if (t < 20) {
    for (int d = 1; d < 20; d *= 2) {
      int other = __shfl_up_sync(mask, v, d);
      if (t >= d) v += other;
    }
    p[t] = v;
  }
}
__global__ void short_warp(int* p) {
  int v = p[threadIdx.x];
  v += __shfl_xor_sync(0xffffffff, v, 1);
  __syncwarp();
  p[threadIdx.x] = v;
}
__global__ void endless(int* p) {
  for (unsigned x = threadIdx.x + 1; x != 0; x = x % 2 ? 3 * x + 1 : x / 2) atomicAdd(p, x);  // expect no_end endless_kernel
}
__global__ void wait_for_nobody(volatile int* flag) {
  while (*flag == 0) {}  // expect flag_never_set deadlock
}
__global__ void blocks_wait(volatile int* flag) {
  if (blockIdx.x == 0) while (flag[1] == 0) {}  // expect blocks_wait_for_each_other deadlock
  else while (flag[0] == 0) {}
  flag[blockIdx.x] = 1;
}
__global__ void count_barrier(int* p) {
  int n = __syncthreads_count(threadIdx.x % 3 == 0);
  p[threadIdx.x] = n + __syncthreads_or(threadIdx.x == 5);
}
__global__ void warps_choose(int* p) {  // warp by warp different work, one barrier
  if (threadIdx.x < 32) p[threadIdx.x] = 1;
  else p[threadIdx.x] = 2;
  __syncthreads();
  p[threadIdx.x + 64] = p[threadIdx.x ^ 32];
}

struct Data {
  int* p;
  Data() {
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(p);
  }
};

CASE(sync_in_if) { Data d; divergent_if<<<1, 64>>>(d.p, 40); }
CASE(sync_in_both_branches) { Data d; two_barriers<<<1, 64>>>(d.p); }
CASE(sync_in_loop) { Data d; divergent_loop<<<1, 64>>>(d.p); }
CASE(sync_in_halves) { Data d; halves<<<1, 128>>>(d.p); }
CASE(sync_in_unrolled_halves) { Data d; halves_unrolled<<<1, 128>>>(d.p); }
CASE(sync_in_own_rounds) { Data d; own_rounds<<<1, 96>>>(d.p, 0); }
CASE(sync_in_last_tile) { Data d; tiles<<<1, 64>>>(d.p, d.p + 256, 240); }
CASE(sync_in_whole_tiles) { Data d; whole_tiles<<<1, 64>>>(d.p, d.p + 256, 240); }
CASE(sync_left_in_tiles) { Data d; leaves_tiles<<<1, 64>>>(d.p, d.p + 256, 240); }
CASE(sync_in_uniform_if) { Data d; uniform_if<<<1, 64>>>(d.p, true); uniform_if<<<1, 64>>>(d.p, false); }
CASE(sync_in_uniform_loop) { Data d; uniform_loop<<<1, 64>>>(d.p, 4); }
CASE(sync_after_return) { Data d; early_return<<<1, 64>>>(d.p, 50); }
CASE(barrier_incomplete) { Data d; barrier_of_too_many<<<1, 64>>>(d.p); }
CASE(barriers_by_function) { Data d; barriers_by_function<<<1, 64>>>(d.p); }
CASE(barriers_crossed) { Data d; barriers_crossed<<<1, 64>>>(d.p); }
CASE(shuffle_missing_lanes) { Data d; shuffle_in_if<<<1, 32>>>(d.p); }
CASE(shuffle_right_mask) { Data d; shuffle_mask<<<1, 32>>>(d.p); }
CASE(mask_leaves_out) { Data d; mask_without_me<<<1, 32>>>(d.p); }
CASE(syncwarp_missing_lanes) { Data d; syncwarp_in_if<<<1, 32>>>(d.p); }
CASE(ballot_gives_mask) { Data d; ballot_mask<<<1, 32>>>(d.p); }
CASE(warp_of_ten) { Data d; short_warp<<<1, 10>>>(d.p); }
CASE(no_end) { Data d; endless<<<1, 1>>>(d.p); }
CASE(flag_never_set) { Data d; wait_for_nobody<<<1, 1>>>(d.p); }
CASE(blocks_wait_for_each_other) { Data d; blocks_wait<<<2, 1>>>(d.p); }
CASE(count_and_or) { Data d; count_barrier<<<1, 64>>>(d.p); }
CASE(warps_choose_work) { Data d; warps_choose<<<1, 64>>>(d.p); }
