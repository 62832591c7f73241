// Races in shared memory, within a warp and between warps. An argument picks the case.
#include "cases.h"

__global__ void reverse(const int* in, int* out, bool sync) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];  // expect reverse_unsynced race_raw
  if (sync) __syncthreads();
  out[t] = s[127 - t];
}

// Nobody reads it, and the threads do not agree.
__global__ void only_stored() {
  __shared__ int last;
  last = threadIdx.x;  // expect stored_and_not_read race_waw
}

template <bool kSync>
__global__ void reduce(const float* in, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int stride = 128; stride > 0; stride /= 2) {
    if (t < stride) s[t] += s[t + stride];  // expect reduction_unsynced race_raw
    if (kSync) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

template <bool kSync>
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x];  // expect transpose_unsynced race_raw
  if (kSync) __syncthreads();
  out[(blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x] = tile[x][y];
}

// Without the second barrier the next tile overwrites this one while slower warps still read it.
template <bool kSecond>
__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int m = 0; m < n / 16; ++m) {
    as[y][x] = a[row * n + m * 16 + x];      // expect multiply_one_barrier race_war
    bs[y][x] = b[(m * 16 + y) * n + column];  // expect multiply_one_barrier race_war
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[y][k] * bs[k][x];
    if (kSecond) __syncthreads();
  }
  c[row * n + column] = sum;
}

template <bool kAtomic>
__global__ void histogram(const int* in, int* out) {
  __shared__ int bins[8];
  int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  __syncthreads();
  if (kAtomic) atomicAdd(&bins[in[t] & 7], 1);
  else bins[in[t] & 7]++;  // expect histogram_plain race_waw
  __syncthreads();
  if (t < 8) out[t] = bins[t];
}

// Hillis and Steele's scan in one buffer needs a barrier between reading and writing.
template <bool kBetween>
__global__ void scan(int* data) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = data[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int v = t >= d ? s[t - d] : 0;  // expect scan_in_place race_raw
    if (kBetween) __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  data[t] = s[t];
}
__global__ void scan_two_buffers(int* data) {
  __shared__ int s[2][128];
  int t = threadIdx.x, from = 0;
  s[0][t] = data[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    s[1 - from][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  data[t] = s[from][t];
}

__global__ void everybody_writes(int* out, bool same) {
  __shared__ int winner;
  winner = same ? 7 : threadIdx.x;  // expect write_different race_waw
  __syncthreads();
  out[threadIdx.x] = winner;
}
__global__ void first_thread_sets(const int* in, int* out, bool sync) {
  __shared__ int scale;
  if (threadIdx.x == 0) scale = in[0];  // expect set_unsynced race_raw
  if (sync) __syncthreads();
  out[threadIdx.x] = in[threadIdx.x] * scale;
}
__global__ void bytes(const char* in, char* out, bool sync) {
  __shared__ char s[128];
  s[threadIdx.x] = in[threadIdx.x];  // expect bytes_unsynced race_raw
  if (sync) __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 33];
}
__global__ void own_bytes(const char* in, char* out) {
  __shared__ char s[128];
  s[threadIdx.x] = in[threadIdx.x];
  s[threadIdx.x] += 1;
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void stencil(const float* in, float* out, bool sync) {
  __shared__ float s[130];
  int t = threadIdx.x;
  s[t + 1] = in[t];
  if (t == 0) s[0] = in[0];
  if (t == 127) s[129] = in[127];
  __syncthreads();
  for (int step = 0; step < 4; ++step) {
    float v = (s[t] + s[t + 1] + s[t + 2]) / 3;
    if (sync) __syncthreads();
    s[t + 1] = v;  // expect stencil_one_barrier race_war
    __syncthreads();
  }
  out[t] = s[t + 1];
}

// --- within a warp
__global__ void warp_reverse(const int* in, int* out, int how) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = in[t];  // expect warp_unsynced race_raw; expect warp_wrong_mask race_raw
  if (how == 1) __syncwarp();
  if (how == 2 && t < 16) __syncwarp(0xffff);
  out[t] = s[31 - t];
}
template <bool kVolatile>
__global__ void tail(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    if (kVolatile) {
      volatile int* v = s;
      v[t] += v[t + 32];
      v[t] += v[t + 16];  // warn tail_volatile race_raw
      v[t] += v[t + 8];
      v[t] += v[t + 4];
      v[t] += v[t + 2];
      v[t] += v[t + 1];
    } else {
      s[t] += s[t + 32];
      __threadfence_block();
      s[t] += s[t + 16];  // expect tail_plain race_raw
      __threadfence_block();
      s[t] += s[t + 8];
    }
  }
  if (t == 0) out[0] = s[0];
}
__global__ void tail_synced(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    int v = s[t] + s[t + 32];
    for (int d = 16; d > 0; d /= 2) {
      s[t] = v;
      __syncwarp();
      v += s[(t + d) & 31];
      __syncwarp();
    }
    if (t == 0) out[0] = v;
  }
}
__global__ void tail_in_statements(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
      s[t] += s[t + d];  // warn tail_in_statements race_war
      __syncwarp();
    }
  }
  if (t == 0) out[0] = s[0];
}
__global__ void warp_histogram(const int* in, int* out) {
  __shared__ int bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncwarp();
  bins[in[threadIdx.x] & 3]++;  // expect warp_histogram race_war
  __syncwarp();
  if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void lane_zero(const int* in, int* out, bool sync) {
  __shared__ int s;
  if (threadIdx.x == 0) s = in[5];  // expect lane_zero_unsynced race_raw
  if (sync) __syncwarp();
  out[threadIdx.x] = s;
}
__global__ void half_warps(const int* in, int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  unsigned mask = t < 16 ? 0xffffu : 0xffff0000u;
  s[t] = in[t];
  __syncwarp(mask);
  out[t] = s[t ^ 15];
}
__global__ void half_warps_cross(const int* in, int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  unsigned mask = t < 16 ? 0xffffu : 0xffff0000u;
  s[t] = in[t];  // expect half_warps_crossed race_raw
  __syncwarp(mask);
  out[t] = s[31 - t];
}
__global__ void shuffle_sum(const int* in, int* out) {
  __shared__ int sums[4];
  int t = threadIdx.x, v = in[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (t % 32 == 0) sums[t / 32] = v;
  __syncthreads();
  if (t == 0) out[0] = sums[0] + sums[1] + sums[2] + sums[3];
}
__global__ void shuffle_sum_unsynced(const int* in, int* out) {
  __shared__ int sums[4];
  int t = threadIdx.x, v = in[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (t % 32 == 0) sums[t / 32] = v;  // expect shuffle_unsynced race_war
  if (t == 0) out[0] = sums[0] + sums[1] + sums[2] + sums[3];
}

// --- other means
__global__ void volatile_between_warps(const int* in, int* out) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = in[t];  // expect volatile_between_warps race_raw
  out[t] = s[63 - t];
}
__global__ void atomic_then_plain(const int* in, int* out, bool sync) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);  // expect atomic_read_early race_raw
  if (sync) __syncthreads();
  out[threadIdx.x] = sum;
}
__global__ void spin_flag(const int* in, int* out) {
  __shared__ int data;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 63) {
    data = in[3];
    __threadfence_block();
    ready = 1;
  } else if (threadIdx.x == 0) {
    while (!ready) {}
    __threadfence_block();
    out[0] = data;
  }
}
__global__ void spin_flag_no_fence(const int* in, int* out) {
  __shared__ int data;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 63) {
    data = in[3];  // expect flag_no_fence race_raw
    ready = 1;
  } else if (threadIdx.x == 0) {
    while (!ready) {}
    out[0] = data;
  }
}
// Each lane stores and passes its fence, all meet, and one of them raises the flag for another warp.
template <bool kFence>
__global__ void warp_flag(const int* in, int* out) {
  __shared__ int data[32];
  __shared__ volatile int ready;
  int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t < 32) {
    data[t] = in[t];  // expect warp_flag_no_fence race_raw
    if (kFence) __threadfence_block();
    __syncwarp();
    if (t == 0) ready = 1;
  } else {
    while (!ready) {}
    __threadfence_block();
    out[t - 32] = data[t - 32];
  }
}
// The same within two warps, which meet at a barrier of their own.
__global__ void flag_of_two_warps(const int* in, int* out) {
  __shared__ int data[64];
  __shared__ volatile int ready;
  int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t < 64) {
    data[t] = in[t];
    __threadfence_block();
    asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t == 0) ready = 1;
  } else {
    while (!ready) {}
    __threadfence_block();
    out[t - 64] = data[t - 64];
  }
}
// Warps 0 and 1 produce, warps 2 and 3 consume, over two named barriers.
__global__ void named_barriers(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (t < 64) {
      asm volatile("bar.sync 2, 128;" ::: "memory");
      s[t] = in[t] + round;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.arrive 2, 128;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      out[t - 64] = s[127 - t];
    }
  }
}
__global__ void reuse(const int* in, int* out, bool sync) {
  __shared__ int s[128];
  int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    s[t] = in[t] + k;  // expect buffer_reused race_war
    __syncthreads();
    out[t] += s[127 - t];
    if (sync) __syncthreads();
  }
}
__global__ void dynamic_tiles(const float* in, float* out, bool sync) {
  extern __shared__ float room[];
  float* a = room;
  float* b = room + 64;
  int t = threadIdx.x;
  a[t] = in[t];  // expect dynamic_unsynced race_raw
  b[t] = in[t] * 2;
  if (sync) __syncthreads();
  out[t] = a[63 - t] + b[t];
}

struct Data {
  int *in, *out;
  Data() {
    cudaMalloc(&in, 65536);
    cudaMalloc(&out, 65536);
    int* host = (int*)malloc(65536);
    for (int k = 0; k < 16384; ++k) host[k] = k * 7 % 1000 + 1;
    cudaMemcpy(in, host, 65536, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 65536);
    free(host);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
  }
};

CASE(stored_and_not_read) { only_stored<<<1, 64>>>(); cudaDeviceSynchronize(); }
CASE(reverse_unsynced) { Data d; reverse<<<1, 128>>>(d.in, d.out, false); }
CASE(reverse_synced) { Data d; reverse<<<1, 128>>>(d.in, d.out, true); }
CASE(reduction_unsynced) { Data d; reduce<false><<<4, 256>>>((float*)d.in, (float*)d.out); }
CASE(reduction_synced) { Data d; reduce<true><<<4, 256>>>((float*)d.in, (float*)d.out); }
CASE(transpose_unsynced) { Data d; transpose<false><<<dim3(2, 2), dim3(16, 16)>>>((float*)d.in, (float*)d.out, 32); }
CASE(transpose_synced) { Data d; transpose<true><<<dim3(2, 2), dim3(16, 16)>>>((float*)d.in, (float*)d.out, 32); }
CASE(multiply_one_barrier) { Data d; multiply<false><<<dim3(2, 2), dim3(16, 16)>>>((float*)d.in, (float*)d.in, (float*)d.out, 32); }
CASE(multiply_two_barriers) { Data d; multiply<true><<<dim3(2, 2), dim3(16, 16)>>>((float*)d.in, (float*)d.in, (float*)d.out, 32); }
CASE(histogram_plain) { Data d; histogram<false><<<1, 128>>>(d.in, d.out); }
CASE(histogram_atomic) { Data d; histogram<true><<<1, 128>>>(d.in, d.out); }
CASE(scan_in_place) { Data d; scan<false><<<1, 128>>>(d.in); }
CASE(scan_two_barriers) { Data d; scan<true><<<1, 128>>>(d.in); }
CASE(scan_double_buffer) { Data d; scan_two_buffers<<<1, 128>>>(d.in); }
CASE(write_different) { Data d; everybody_writes<<<1, 128>>>(d.out, false); }
CASE(write_same) { Data d; everybody_writes<<<1, 128>>>(d.out, true); }
CASE(set_unsynced) { Data d; first_thread_sets<<<1, 128>>>(d.in, d.out, false); }
CASE(set_synced) { Data d; first_thread_sets<<<1, 128>>>(d.in, d.out, true); }
CASE(bytes_unsynced) { Data d; bytes<<<1, 128>>>((char*)d.in, (char*)d.out, false); }
CASE(bytes_synced) { Data d; bytes<<<1, 128>>>((char*)d.in, (char*)d.out, true); }
CASE(bytes_own) { Data d; own_bytes<<<1, 128>>>((char*)d.in, (char*)d.out); }
CASE(stencil_one_barrier) { Data d; stencil<<<1, 128>>>((float*)d.in, (float*)d.out, false); }
CASE(stencil_two_barriers) { Data d; stencil<<<1, 128>>>((float*)d.in, (float*)d.out, true); }
CASE(warp_unsynced) { Data d; warp_reverse<<<1, 32>>>(d.in, d.out, 0); }
CASE(warp_synced) { Data d; warp_reverse<<<1, 32>>>(d.in, d.out, 1); }
CASE(warp_wrong_mask) { Data d; warp_reverse<<<1, 32>>>(d.in, d.out, 2); }
CASE(tail_volatile) { Data d; tail<true><<<1, 64>>>(d.in, d.out); }
CASE(tail_plain) { Data d; tail<false><<<1, 64>>>(d.in, d.out); }
CASE(tail_with_syncwarp) { Data d; tail_synced<<<1, 64>>>(d.in, d.out); }
CASE(tail_in_statements) { Data d; tail_in_statements<<<1, 64>>>(d.in, d.out); }
CASE(warp_histogram) { Data d; warp_histogram<<<1, 32>>>(d.in, d.out); }
CASE(lane_zero_unsynced) { Data d; lane_zero<<<1, 32>>>(d.in, d.out, false); }
CASE(lane_zero_synced) { Data d; lane_zero<<<1, 32>>>(d.in, d.out, true); }
CASE(half_warps_apart) { Data d; half_warps<<<1, 32>>>(d.in, d.out); }
CASE(half_warps_crossed) { Data d; half_warps_cross<<<1, 32>>>(d.in, d.out); }
CASE(shuffle_synced) { Data d; shuffle_sum<<<1, 128>>>(d.in, d.out); }
CASE(shuffle_unsynced) { Data d; shuffle_sum_unsynced<<<1, 128>>>(d.in, d.out); }
CASE(volatile_between_warps) { Data d; volatile_between_warps<<<1, 64>>>(d.in, d.out); }
CASE(atomic_read_early) { Data d; atomic_then_plain<<<1, 128>>>(d.in, d.out, false); }
CASE(atomic_read_late) { Data d; atomic_then_plain<<<1, 128>>>(d.in, d.out, true); }
CASE(flag_with_fence) { Data d; spin_flag<<<1, 64>>>(d.in, d.out); }
CASE(flag_no_fence) { Data d; spin_flag_no_fence<<<1, 64>>>(d.in, d.out); }
CASE(named_barrier_complete) { Data d; named_barriers<<<1, 128>>>(d.in, d.out); }
CASE(buffer_reused) { Data d; reuse<<<1, 128>>>(d.in, d.out, false); }
CASE(buffer_reused_synced) { Data d; reuse<<<1, 128>>>(d.in, d.out, true); }
CASE(dynamic_unsynced) { Data d; dynamic_tiles<<<1, 64, 512>>>((float*)d.in, (float*)d.out, false); }
CASE(dynamic_synced) { Data d; dynamic_tiles<<<1, 64, 512>>>((float*)d.in, (float*)d.out, true); }
CASE(warp_flag_after_fences) { Data d; warp_flag<true><<<1, 64>>>(d.in, d.out); }
CASE(warp_flag_no_fence) { Data d; warp_flag<false><<<1, 64>>>(d.in, d.out); }
CASE(flag_of_two_warps) { Data d; flag_of_two_warps<<<1, 96>>>(d.in, d.out); }
