// What students of courses write, right and wrong: whole small algorithms.
#include "cases.h"

#include <cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;
constexpr int kN = 1024;

template <class T>
struct Buffer {
  T* p = nullptr;
  explicit Buffer(int n, bool clear = true) {
    cudaMalloc(&p, n * sizeof(T));
    if (clear) cudaMemset(p, 0, n * sizeof(T));
  }
  ~Buffer() {
    cudaDeviceSynchronize();
    cudaFree(p);
  }
  operator T*() const { return p; }
};

// --- reductions that follow each other
template <bool kSync>
__global__ void softmax(const float* in, float* out, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * n + t];
  __syncthreads();
  for (int k = 64; k; k /= 2) {
    if (t < k) s[t] = fmaxf(s[t], s[t + k]);
    __syncthreads();
  }
  const float top = s[0];  // expect softmax_shared_reused race_war
  if (kSync) __syncthreads();
  s[t] = expf(in[blockIdx.x * n + t] - top);  // expect softmax_shared_reused race_war
  const float mine = s[t];
  __syncthreads();
  for (int k = 64; k; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  out[blockIdx.x * n + t] = mine / s[0];
}
CASE(softmax_shared_reused) { Buffer<float> a(kN), b(kN); softmax<false><<<8, 128>>>(a, b, 128); }
CASE(softmax_synced) { Buffer<float> a(kN), b(kN); softmax<true><<<8, 128>>>(a, b, 128); }

// --- Hillis and Steele
template <bool kTwoBuffers>
__global__ void scan(const int* in, int* out) {
  __shared__ int s[2][256];
  const int t = threadIdx.x;
  int from = 0;
  s[0][t] = in[t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    const int to = kTwoBuffers ? 1 - from : from;
    const int v = t >= d ? s[from][t] + s[from][t - d] : s[from][t];  // expect scan_one_buffer race_war
    s[to][t] = v;                                                      // expect scan_one_buffer race_war
    from = to;
    __syncthreads();
  }
  out[t] = s[from][t];
}
CASE(scan_one_buffer) { Buffer<int> a(256), b(256); scan<false><<<1, 256>>>(a, b); }
CASE(scan_two_buffers) { Buffer<int> a(256), b(256); scan<true><<<1, 256>>>(a, b); }

// --- sorting
template <bool kSync>
__global__ void bitonic(int* data) {
  __shared__ int s[128];
  const unsigned t = threadIdx.x;
  s[t] = data[t];
  __syncthreads();
  for (unsigned k = 2; k <= 128; k *= 2)
    for (unsigned j = k / 2; j; j /= 2) {
      const unsigned o = t ^ j;
      if (o > t) {
        const int a = s[t], b = s[o];  // expect bitonic_unsynced race_raw
        if ((a > b) == ((t & k) == 0)) s[t] = b, s[o] = a;
      }
      if (kSync) __syncthreads();
    }
  __syncthreads();
  data[t] = s[t];
}
CASE(bitonic_unsynced) {
  Buffer<int> a(128);
  int host[128];
  for (int i = 0; i < 128; ++i) host[i] = (i * 37) % 128;
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  bitonic<false><<<1, 128>>>(a);
}
CASE(bitonic_synced) {
  Buffer<int> a(128);
  int host[128];
  for (int i = 0; i < 128; ++i) host[i] = (i * 37) % 128;
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  bitonic<true><<<1, 128>>>(a);
}

// --- tiles
template <bool kCorners>
__global__ void blur(const float* in, float* out, int n) {
  __shared__ float s[18][18];
  const int x = threadIdx.x, y = threadIdx.y, gx = blockIdx.x * 16 + x, gy = blockIdx.y * 16 + y;
  const auto at = [&](int i, int j) { return in[min(max(j, 0), n - 1) * n + min(max(i, 0), n - 1)]; };
  s[y + 1][x + 1] = at(gx, gy);
  if (x == 0) s[y + 1][0] = at(gx - 1, gy);
  if (x == 15) s[y + 1][17] = at(gx + 1, gy);
  if (y == 0) s[0][x + 1] = at(gx, gy - 1);
  if (y == 15) s[17][x + 1] = at(gx, gy + 1);
  if (kCorners && x < 2 && y < 2) s[17 * y][17 * x] = at(gx - x + (x ? 16 : -1), gy - y + (y ? 16 : -1));
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) sum += s[y + j][x + i];  // expect blur_without_corners uninitialized_read
  out[gy * n + gx] = sum / 9;
}
CASE(blur_without_corners) { Buffer<float> a(32 * 32), b(32 * 32); blur<false><<<dim3(2, 2), dim3(16, 16)>>>(a, b, 32); }
CASE(blur_with_corners) { Buffer<float> a(32 * 32), b(32 * 32); blur<true><<<dim3(2, 2), dim3(16, 16)>>>(a, b, 32); }

template <bool kGuard>
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[8][8], right[8][8];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y;
  float sum = 0;
  for (int t = 0; t < n; t += 8) {
    left[y][x] = !kGuard || (row < n && t + x < n) ? a[row * n + t + x] : 0;
    right[y][x] = !kGuard || (column < n && t + y < n) ? b[(t + y) * n + column] : 0;  // expect product_ragged out_of_bounds
    __syncthreads();
    for (int k = 0; k < 8; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
CASE(product_ragged) { Buffer<float> a(20 * 20), b(20 * 20), c(20 * 20); product<false><<<dim3(3, 3), dim3(8, 8)>>>(a, b, c, 20); }
CASE(product_guarded) { Buffer<float> a(20 * 20), b(20 * 20), c(20 * 20); product<true><<<dim3(3, 3), dim3(8, 8)>>>(a, b, c, 20); }

template <bool kSync>
__global__ void bodies(const float4* p, float3* f, int n) {
  __shared__ float4 s[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float4 me = p[i];
  float3 sum = {0, 0, 0};
  for (int t = 0; t < n; t += 64) {
    s[threadIdx.x] = p[t + threadIdx.x];  // expect bodies_one_barrier race_war
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
      const float4 o = s[k];
      const float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
      sum.x += dx * r * o.w, sum.y += dy * r * o.w, sum.z += dz * r * o.w;
    }
    if (kSync) __syncthreads();
  }
  f[i] = sum;
}
CASE(bodies_one_barrier) { Buffer<float4> a(256); Buffer<float3> b(256); bodies<false><<<4, 64>>>(a, b, 256); }
CASE(bodies_two_barriers) { Buffer<float4> a(256); Buffer<float3> b(256); bodies<true><<<4, 64>>>(a, b, 256); }

// --- vectors
__global__ void vector_loads(const float4* in, float4* out, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) out[i] = in[i];  // expect vector_tail out_of_bounds
}
CASE(vector_tail) { Buffer<float> a(1021), b(1024); vector_loads<<<2, 128>>>((float4*)(float*)a, (float4*)(float*)b, 256); }
CASE(vector_whole) { Buffer<float> a(1024), b(1024); vector_loads<<<2, 128>>>((float4*)(float*)a, (float4*)(float*)b, 256); }

__global__ void index_overflows(float* p, int pitch) {
  const int row = blockIdx.x;
  p[row * pitch] = 1;  // expect index_too_large out_of_bounds
}
CASE(index_too_large) { Buffer<float> a(kN); index_overflows<<<3, 1>>>(a, 1 << 30); }
__global__ void counts_down(const int* in, int* out, unsigned n) {
  int sum = 0;
  for (unsigned i = n - 1; i + 1 >= 1; --i) {
    sum += in[i];
    if (i == 0) break;
  }
  *out = sum;
}
CASE(counted_down) { Buffer<int> a(64), b(1); counts_down<<<1, 1>>>(a, b, 64); }
__global__ void doubles(char* p) { *(double*)(p + 4 + 8 * threadIdx.x) = 1; }  // expect double_at_four misaligned
CASE(double_at_four) { Buffer<char> a(1024); doubles<<<1, 8>>>(a); }

// --- bits and bytes
template <bool kAtomic>
__global__ void set_bits(unsigned* bits, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || i % 3) return;
  if (kAtomic) atomicOr(&bits[i / 32], 1u << i % 32);
  else bits[i / 32] |= 1u << i % 32;  // expect bits_plain race_waw
}
CASE(bits_plain) { Buffer<unsigned> a(32); set_bits<false><<<4, 256>>>(a, kN); }
CASE(bits_atomic) { Buffer<unsigned> a(32); set_bits<true><<<4, 256>>>(a, kN); }
__global__ void reverse_text(const char* in, char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}
CASE(text_reversed) { Buffer<char> a(999), b(999); reverse_text<<<8, 128>>>(a, b, 999); }
__global__ void reverse_in_place(char* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const char c = p[i];
    p[n - 1 - i] = c;  // expect text_reversed_in_place race_war
  }
}
CASE(text_reversed_in_place) { Buffer<char> a(999); reverse_in_place<<<8, 128>>>(a, 999); }

// --- blocks that rely on each other
__global__ void sum_of_sums(const float* in, float* sums, float* out) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int k = 64; k; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
  if (blockIdx.x == gridDim.x - 1 && t == 0) {
    float sum = 0;
    for (int k = 0; k < (int)gridDim.x; ++k) sum += sums[k];  // expect blocks_added_in_same_kernel race_raw
    *out = sum;
  }
}
CASE(blocks_added_in_same_kernel) { Buffer<float> a(kN), b(8), c(1); sum_of_sums<<<8, 128>>>(a, b, c); }
__global__ void add_sums(const float* sums, float* out, int n) {
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += sums[k];
  *out = sum;
}
template <class T>
__global__ void partial_sums(const T* in, T* sums) {
  T v = in[blockIdx.x * 128 + threadIdx.x];
  __shared__ T s[4];
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
}
CASE(blocks_added_by_next_kernel) { Buffer<float> a(kN), b(8), c(1); partial_sums<<<8, 128>>>(a.p, b.p); add_sums<<<1, 1>>>(b, c, 8); }

// --- matrices in place
__global__ void floyd(int* d, int n, int k) {
  const int j = threadIdx.x, i = blockIdx.x;
  const int through = d[i * n + k] + d[k * n + j];
  if (through < d[i * n + j]) d[i * n + j] = through;
}
CASE(floyd_warshall) {
  Buffer<int> d(32 * 32);
  std::vector<int> host(32 * 32);
  for (int i = 0; i < 32 * 32; ++i) host[i] = i / 32 == i % 32 ? 0 : 1 + (i * 29) % 97;
  cudaMemcpy(d, host.data(), 4 * host.size(), cudaMemcpyHostToDevice);
  for (int k = 0; k < 32; ++k) floyd<<<32, 32>>>(d, 32, k);
}
template <bool kSync>
__global__ void eliminate(float* m, int n) {
  const int t = threadIdx.x;
  for (int k = 0; k < n - 1; ++k) {
    if (t > k) {
      const float f = m[t * n + k] / m[k * n + k];
      for (int j = k; j < n; ++j) m[t * n + j] -= f * m[k * n + j];  // expect elimination_unsynced race_raw
    }
    if (kSync) __syncthreads();
  }
}
void elimination(bool sync) {
  Buffer<float> m(64 * 64);
  std::vector<float> host(64 * 64);
  for (int i = 0; i < 64 * 64; ++i) host[i] = i / 64 == i % 64 ? 100 : (i * 13) % 7;
  cudaMemcpy(m, host.data(), 4 * host.size(), cudaMemcpyHostToDevice);
  if (sync) eliminate<true><<<1, 64>>>(m, 64);
  else eliminate<false><<<1, 64>>>(m, 64);
}
CASE(elimination_unsynced) { elimination(false); }
CASE(elimination_synced) { elimination(true); }

// --- counting
template <bool kSync>
__global__ void warp_histograms(const int* in, int* out, int n) {
  __shared__ int s[4][64];
  for (int i = threadIdx.x; i < 256; i += 128) s[i / 64][i % 64] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) atomicAdd(&s[threadIdx.x / 32][in[i] & 63], 1);
  if (kSync) __syncthreads();
  if (threadIdx.x < 64) {
    int sum = 0;
    for (int w = 0; w < 4; ++w) sum += s[w][threadIdx.x];  // expect sub_histograms_unsynced race_raw
    atomicAdd(&out[threadIdx.x], sum);
  }
}
CASE(sub_histograms_unsynced) { Buffer<int> a(kN), b(64); warp_histograms<false><<<2, 128>>>(a, b, kN); }
CASE(sub_histograms_synced) { Buffer<int> a(kN), b(64); warp_histograms<true><<<2, 128>>>(a, b, kN); }
__global__ void exchange_clears(const int* in, int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) atomicExch(&count, 0);
  __syncthreads();
  if (in[threadIdx.x] >= 0) atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = count;
}
CASE(cleared_by_exchange) { Buffer<int> a(128), b(1); exchange_clears<<<1, 128>>>(a, b); }
__global__ void aggregated(const int* in, int* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || in[i] % 2) return;
  const unsigned active = __activemask();
  const int lane = threadIdx.x % 32, leader = __ffs(active) - 1;
  int base = 0;
  if (lane == leader) base = atomicAdd(count, __popc(active));
  base = __shfl_sync(active, base, leader);
  out[base + __popc(active & ((1u << lane) - 1))] = in[i];
}
CASE(warp_aggregated) { Buffer<int> a(kN), b(kN), c(1); aggregated<<<8, 128>>>(a, b, c, 1000); }
__global__ void append(const int* in, int* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] == 0) out[atomicAdd(count, 1)] = i;  // expect appended_too_much out_of_bounds
}
CASE(appended) { Buffer<int> a(kN), b(kN), c(1); append<<<8, 128>>>(a, b, c, kN); }
CASE(appended_too_much) { Buffer<int> a(kN), b(500), c(1); append<<<8, 128>>>(a, b, c, kN); }

// --- barriers
__global__ void ragged_rows(const int* length, float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = 0;
  for (int k = 0; k < length[threadIdx.x]; ++k) {
    s[threadIdx.x] += k;
    __syncthreads();  // expect rows_of_different_length barrier_divergence
  }
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];  // expect rows_of_different_length race_raw
}
CASE(rows_of_different_length) {
  Buffer<int> a(64);
  Buffer<float> b(64);
  int host[64];
  for (int i = 0; i < 64; ++i) host[i] = i / 16;
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  ragged_rows<<<1, 64>>>(a, b);
}
CASE(rows_of_same_length) { Buffer<int> a(64); Buffer<float> b(64); ragged_rows<<<1, 64>>>(a, b); }
__global__ void leaves_early(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s[128];
  if (i >= n) return;
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[threadIdx.x ^ 1];  // expect partner_missing uninitialized_read
}
CASE(left_early) { Buffer<float> a(kN), b(kN); leaves_early<<<8, 128>>>(a, b, 1000); }
CASE(partner_missing) { Buffer<float> a(kN), b(kN); leaves_early<<<8, 128>>>(a, b, 999); }
__global__ void producer_and_consumer(int* out) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x - 32] = s[63 - threadIdx.x];
  }
}
CASE(produced_and_consumed) { Buffer<int> a(32); producer_and_consumer<<<1, 64>>>(a); }
__global__ void wrong_barrier(int* out) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    s[threadIdx.x] = threadIdx.x;  // expect produced_too_late race_raw
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x - 32] = s[63 - threadIdx.x];
  }
}
CASE(produced_too_late) { Buffer<int> a(32); wrong_barrier<<<1, 64>>>(a); }

// --- groups
__global__ void tile_sums(const int* in, int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  __shared__ int s[128];
  s[block.thread_rank()] = in[block.thread_rank()];
  tile.sync();
  int v = s[tile.meta_group_rank() * 8 + (tile.thread_rank() ^ 3)];
  for (int d = 4; d; d /= 2) v += tile.shfl_xor(v, d);
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = v;
}
CASE(tiles_of_eight) { Buffer<int> a(128), b(16); tile_sums<<<1, 128>>>(a, b); }
__global__ void tile_crosses(const int* in, int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  __shared__ int s[128];
  s[block.thread_rank()] = in[block.thread_rank()];
  tile.sync();
  out[block.thread_rank()] = s[block.thread_rank() ^ 8];  // expect tile_reads_other_tile race_raw
}
CASE(tile_reads_other_tile) { Buffer<int> a(128), b(128); tile_crosses<<<1, 128>>>(a, b); }

// --- games on grids
__global__ void life(const unsigned char* in, unsigned char* out, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int sum = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i)
      if (i || j) sum += in[(y + j + n) % n * n + (x + i + n) % n];  // expect life_one_board race_raw
  out[y * n + x] = sum == 3 || (sum == 2 && in[y * n + x]);  // expect life_one_board race_war
}
CASE(life_two_boards) { Buffer<unsigned char> a(64 * 64), b(64 * 64); for (int k = 0; k < 3; ++k) life<<<dim3(4, 4), dim3(16, 16)>>>(k % 2 ? b : a, k % 2 ? a : b, 64); }
CASE(life_one_board) { Buffer<unsigned char> a(64 * 64); life<<<dim3(4, 4), dim3(16, 16)>>>(a, a, 64); }
__global__ void converges(const float* in, float* out, bool* again, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  const float v = (in[i - 1] + in[i + 1]) / 2;
  out[i] = v;
  if (fabsf(v - in[i]) >= 0) *again = true;
}
CASE(jacobi_flag) { Buffer<float> a(kN), b(kN); Buffer<bool> c(1); converges<<<8, 128>>>(a, b, c, kN); }
