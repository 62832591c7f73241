// Addresses: out of bounds, misaligned, freed, foreign; frees and leaks. An argument picks the case.
#include "cases.h"

__global__ void fill(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;
}
__global__ void fill_all(int* p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = i;  // expect grid_too_large out_of_bounds; expect byte_exact out_of_bounds; expect freed use_after_free; expect async_pool_freed use_after_free; expect host_memory host_pointer; expect null null_pointer
}
__device__ __noinline__ void put(int* p, int i) { p[i] = i; }  // expect in_function out_of_bounds
__device__ __noinline__ void put_next(int* p, int i) { put(p, i + 1); }  // expect in_function out_of_bounds
__global__ void puts_next(int* p) { put_next(p, threadIdx.x); }  // expect in_function out_of_bounds
__global__ void off_by_one(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) p[i] = i;  // expect one_too_many out_of_bounds
}
__global__ void differences(const int* in, int* out) {
  const unsigned i = threadIdx.x;
  out[i] = in[i] - in[i - 1];  // expect index_below_zero out_of_bounds
}
__global__ void shift_left(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i - 1];  // expect before_begin out_of_bounds
}
__global__ void rows(float* p, size_t pitch, int width, int height) {
  int x = threadIdx.x, y = blockIdx.x;
  if (x < width && y < height) ((float*)((char*)p + y * pitch))[x] = x;  // expect wrong_pitch out_of_bounds
}
__global__ void as_float4(const float* p, float4* out, int shift) {
  out[threadIdx.x] = *(const float4*)(p + 4 * threadIdx.x + shift);  // expect misaligned_vector misaligned
}
__global__ void pairs_of_tile(float* out, int step) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  for (int k = t; k < 128; k += 32) tile[k] = k;
  __syncthreads();
  ((float2*)out)[t] = *(float2*)&tile[step * t];  // expect misaligned_cast misaligned
}
__global__ void as_int(const char* p, int* out) {
  out[threadIdx.x] = *(const int*)(p + threadIdx.x);  // expect misaligned_int misaligned
}
__global__ void tile_end(int* out, int shift) {
  __shared__ int tile[32];
  tile[threadIdx.x + shift] = threadIdx.x;  // expect shared_end out_of_bounds
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void two_tiles(int* out, int shift) {
  __shared__ int first[32];
  __shared__ int second[32];
  first[threadIdx.x] = 1;
  second[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x + shift] + second[31 - threadIdx.x];  // expect shared_neighbour out_of_bounds
}
__global__ void two_dimensions(float* out, int column) {
  __shared__ float grid[8][8];
  grid[threadIdx.y][threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.y * 8 + threadIdx.x] = grid[threadIdx.y][threadIdx.x + column];  // expect shared_2d out_of_bounds
}
__global__ void dynamic(int* out) {
  extern __shared__ int room[];
  room[threadIdx.x] = threadIdx.x;  // expect dynamic_small out_of_bounds; expect dynamic_none out_of_bounds
  __syncthreads();
  out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
__global__ void stencil(const int* in, int* out, int halo) {
  __shared__ int s[66];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t + 1] = in[i];
  if (t == 0) s[0] = i ? in[i - 1] : 0;
  if (t == 63) s[65] = i + 1 < 256 ? in[i + 1] : 0;
  __syncthreads();
  out[i] = s[t] + s[t + 1] + s[t + 1 + halo];  // expect wrong_halo out_of_bounds
}
// Beyond an array of its own a thread meets another, which may have all that it needs: values, and room.
__global__ void local_neighbours(const int* in, int* out, int n) {
  int counts[8], last[5];
  for (int k = 0; k < 8; ++k) counts[k] = 0;
  for (int k = 0; k < 5; ++k) last[k] = 0;
  for (int k = 0; k < 24; ++k) {
    counts[in[k] % n] += 1;  // expect local_neighbour_read out_of_bounds
    last[in[k] % 5] = k;
  }
  out[threadIdx.x] = counts[in[0] % 8] + last[in[1] % 5];
}
__global__ void local_list(const int* in, int* out, int n) {
  int found[6], count = 0;
  for (int k = 0; k < 24; ++k)
    if (in[k] % n == 0) found[count++] = k;  // expect local_neighbour_written out_of_bounds
  int sum = 0;
  for (int k = 0; k < count; ++k) sum += found[k];
  out[threadIdx.x] = sum;
}
// What lies there belongs to those who are called next.
__device__ __noinline__ int fives(const int* in) {
  int a[5];
  for (int k = 0; k < 10; ++k) a[in[k] % 5] = in[k];
  return a[in[3] % 5];
}
__device__ __noinline__ int twelves(const int* in) {
  int a[12];
  for (int k = 0; k < 24; ++k) a[in[k] % 12] = k;
  return a[in[5] % 12];
}
__global__ void local_calls(const int* in, int* out) {
  int sum = 0;
  for (int k = 0; k < 3; ++k) sum += fives(in) + twelves(in);
  out[threadIdx.x] = sum;
}
int* counted() {  // 0 to 63
  int h[64], *p = nullptr;
  for (int k = 0; k < 64; ++k) h[k] = k;
  cudaMalloc(&p, sizeof h);
  cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
  return p;
}
// Arrays that become registers, since the rounds are known.
template <int kRounds, int kLast>
__global__ void local_rounds(const int* in, int* out) {
  int a[8], m[3][4];
  for (int k = 0; k < kRounds; ++k) a[k] = in[k];  // expect local_one_round_more out_of_bounds
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 4; ++k) m[i][k] = in[i * 4 + k];
  int sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int k = kLast - 3; k <= kLast; ++k) sum += m[i][k] * a[i];  // expect local_one_column_on out_of_bounds
  for (int* p = a; p != a + 8; ++p) sum += *p;
  for (int k = 7; k >= 0; --k) sum += a[k] * m[k % 3][3];
  for (int k = 0; k < 11; ++k) sum += m[0][k + 1];
  out[threadIdx.x] = sum;
}
CASE(local_one_round_more) { local_rounds<9, 3><<<1, 32>>>(counted(), counted()); }
CASE(local_one_column_on) { local_rounds<8, 4><<<1, 32>>>(counted(), counted()); }
CASE(local_all_rounds) { local_rounds<8, 3><<<1, 32>>>(counted(), counted()); }
// A variable looked at through a wider type.
__global__ void local_half_as_word(const short* in, unsigned* out) {
  short half = in[threadIdx.x];
  out[threadIdx.x] = *reinterpret_cast<unsigned*>(&half);  // expect local_wider_word out_of_bounds
}
__global__ void local_pair_as_four(const float* in, float* out) {
  float pair[2] = {in[threadIdx.x], 1.0f};
  const float4 four = *reinterpret_cast<float4*>(pair);  // expect local_wider_copy out_of_bounds
  out[threadIdx.x] = four.x + four.w;
}
template <int kFirst>
__global__ void local_last_four(float* out) {
  __align__(16) float row[6];
  for (int k = 0; k < 6; ++k) row[k] = threadIdx.x;
  for (int k = kFirst; k < 6; k += 4) {
    const float2 begin = *reinterpret_cast<float2*>(row + k);
    reinterpret_cast<int4*>(row + k)[0] = make_int4(1, 2, 3, 4);  // expect local_wider_end out_of_bounds
    out[threadIdx.x] = begin.x + row[k + 1];
  }
}
__global__ void local_whole_types(const double* in, double* out) {
  double d = in[threadIdx.x];
  union { double number; struct { int low, high; } parts; } both = {d};
  short halves[4];
  __builtin_memcpy(halves, &d, sizeof d);
  reinterpret_cast<int2*>(halves)->x ^= both.parts.high;
  out[threadIdx.x] = *reinterpret_cast<double*>(halves);
}
__global__ void local_array(int* out, int n) {
  int a[16];
  for (int k = 0; k < n; ++k) a[k * (n - 3) % 64] = k;  // expect local_end out_of_bounds
  out[threadIdx.x] = a[threadIdx.x % 16] + a[(threadIdx.x * n) % 16];
}
__device__ int table[16];
__global__ void use_table(int n) { table[threadIdx.x] = n; }  // expect variable_end out_of_bounds
__constant__ int weights[16];
__global__ void use_weights(int* out, int stride) { out[threadIdx.x] = weights[threadIdx.x * stride]; }  // expect constant_end out_of_bounds
__constant__ int taps[9], order[4];
__global__ void use_taps(int* out, int shift) { out[threadIdx.x] = taps[threadIdx.x + shift] + order[threadIdx.x % 4]; }  // expect constant_neighbour out_of_bounds
static __device__ int low[5], high[5];
__global__ void use_halves(int* out, int shift) {
  high[threadIdx.x] = shift;
  low[threadIdx.x + shift] = 1;  // expect static_neighbour out_of_bounds
  __syncthreads();
  out[threadIdx.x] = low[shift] + high[out[threadIdx.x] % 1];
}
__global__ void heap(int twice) {
  int* p = (int*)malloc(16);
  p[0] = twice;
  free(p);
  if (twice) free(p);  // expect device_free_twice double_free
}
struct Node { int value; Node* next; };
__global__ void walk(Node* list, int* out) {
  int sum = 0;
  for (Node* n = list; n; n = n->next) sum += n->value;  // expect list_on_host host_pointer
  *out = sum;
}

int* numbers(int n) {
  int* p = nullptr;
  cudaMalloc(&p, n * sizeof(int));  // expect leaked leak
  cudaMemset(p, 0, n * sizeof(int));
  return p;
}

CASE(exact_fit) { int* p = numbers(100); fill<<<1, 128>>>(p, 100); cudaDeviceSynchronize(); cudaFree(p); }
CASE(grid_too_large) { int* p = numbers(1000); fill_all<<<4, 256>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
CASE(byte_exact) { int* p = numbers(100); fill_all<<<1, 101>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
CASE(fits_granule) { int* p = numbers(100); fill_all<<<1, 100>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
CASE(one_too_many) { int* p = numbers(256); off_by_one<<<2, 256>>>(p, 256); cudaDeviceSynchronize(); cudaFree(p); }
CASE(before_begin) {
  float* p = (float*)numbers(64);
  float* q = (float*)numbers(64);
  shift_left<<<1, 64>>>(p, q, 64);
  cudaDeviceSynchronize();
  cudaFree(p); cudaFree(q);
}
CASE(after_begin) {
  float* p = (float*)numbers(64);
  float* q = (float*)numbers(64);
  shift_left<<<1, 64>>>(p + 1, q, 63);
  cudaDeviceSynchronize();
  cudaFree(p); cudaFree(q);
}
CASE(wrong_pitch) { float* p; size_t pitch; cudaMallocPitch(&p, &pitch, 100 * 4, 10); rows<<<10, 128>>>(p, pitch + 512, 100, 10); cudaDeviceSynchronize(); cudaFree(p); }
CASE(right_pitch) { float* p; size_t pitch; cudaMallocPitch(&p, &pitch, 100 * 4, 10); rows<<<10, 128>>>(p, pitch, 100, 10); cudaDeviceSynchronize(); cudaFree(p); }
CASE(index_below_zero) { int* p = numbers(64); int* q = numbers(64); differences<<<1, 64>>>(p, q); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(misaligned_vector) { float* p = (float*)numbers(256); float4* q = (float4*)numbers(256); as_float4<<<1, 32>>>(p, q, 1); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(aligned_vector) { float* p = (float*)numbers(256); float4* q = (float4*)numbers(256); as_float4<<<1, 32>>>(p, q, 4); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(misaligned_cast) { float* p = (float*)numbers(64); pairs_of_tile<<<1, 32>>>(p, 3); cudaDeviceSynchronize(); cudaFree(p); }
CASE(aligned_cast) { float* p = (float*)numbers(64); pairs_of_tile<<<1, 32>>>(p, 2); cudaDeviceSynchronize(); cudaFree(p); }
CASE(misaligned_int) { int* p = numbers(64); int* q = numbers(64); as_int<<<1, 8>>>((char*)p, q); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(freed) { int* p = numbers(64); cudaFree(p); fill_all<<<1, 64>>>(p); cudaDeviceSynchronize(); }
CASE(host_memory) { int* p = (int*)malloc(256); fill_all<<<1, 64>>>(p); cudaDeviceSynchronize(); free(p); }
CASE(null) { fill_all<<<1, 64>>>(nullptr); cudaDeviceSynchronize(); }
CASE(pinned_memory) { int* p; cudaMallocHost(&p, 256); fill_all<<<1, 64>>>(p); cudaDeviceSynchronize(); cudaFreeHost(p); }
CASE(managed_memory) { int* p; cudaMallocManaged(&p, 256); fill_all<<<1, 64>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
CASE(shared_end) { int* p = numbers(32); tile_end<<<1, 32>>>(p, 1); cudaDeviceSynchronize(); cudaFree(p); }
CASE(shared_fits) { int* p = numbers(32); tile_end<<<1, 32>>>(p, 0); cudaDeviceSynchronize(); cudaFree(p); }
CASE(shared_neighbour) { int* p = numbers(32); two_tiles<<<1, 32>>>(p, 1); cudaDeviceSynchronize(); cudaFree(p); }
CASE(shared_both) { int* p = numbers(32); two_tiles<<<1, 32>>>(p, 0); cudaDeviceSynchronize(); cudaFree(p); }
CASE(shared_2d) { float* p = (float*)numbers(64); two_dimensions<<<1, dim3(8, 8)>>>(p, 1); cudaDeviceSynchronize(); cudaFree(p); }
CASE(dynamic_small) { int* p = numbers(64); dynamic<<<1, 64, 63 * 4>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
CASE(dynamic_none) { int* p = numbers(64); dynamic<<<1, 64>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
CASE(dynamic_fits) { int* p = numbers(64); dynamic<<<1, 64, 64 * 4>>>(p); cudaDeviceSynchronize(); cudaFree(p); }
CASE(wrong_halo) { int* p = numbers(256); int* q = numbers(256); stencil<<<4, 64>>>(p, q, 2); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(right_halo) { int* p = numbers(256); int* q = numbers(256); stencil<<<4, 64>>>(p, q, 1); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(local_neighbour_read) { int *p = counted(), *q = numbers(64); local_neighbours<<<1, 32>>>(p, q, 9); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(local_neighbour_apart) { int *p = counted(), *q = numbers(64); local_neighbours<<<1, 32>>>(p, q, 8); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(local_neighbour_written) { int *p = counted(), *q = numbers(64); local_list<<<1, 32>>>(p, q, 3); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(local_list_fits) { int *p = counted(), *q = numbers(64); local_list<<<1, 32>>>(p, q, 4); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(local_of_others) { int *p = counted(), *q = numbers(64); local_calls<<<1, 32>>>(p, q); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(local_end) { int* p = numbers(64); local_array<<<1, 32>>>(p, 40); cudaDeviceSynchronize(); cudaFree(p); }
CASE(local_wider_word) { int *p = numbers(64), *q = numbers(64); local_half_as_word<<<1, 32>>>(reinterpret_cast<short*>(p), reinterpret_cast<unsigned*>(q)); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(local_wider_copy) { int *p = numbers(64), *q = numbers(64); local_pair_as_four<<<1, 32>>>(reinterpret_cast<float*>(p), reinterpret_cast<float*>(q)); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(local_wider_end) { int* q = numbers(64); local_last_four<0><<<1, 32>>>(reinterpret_cast<float*>(q)); cudaDeviceSynchronize(); cudaFree(q); }
CASE(local_wider_types) { int *p = numbers(128), *q = numbers(128); local_whole_types<<<1, 32>>>(reinterpret_cast<double*>(p), reinterpret_cast<double*>(q)); cudaDeviceSynchronize(); cudaFree(p); cudaFree(q); }
CASE(variable_end) { use_table<<<1, 17>>>(3); cudaDeviceSynchronize(); }
CASE(variable_fits) { use_table<<<1, 16>>>(3); cudaDeviceSynchronize(); }
CASE(constant_neighbour) { int* p = numbers(64); use_taps<<<1, 8>>>(p, 2); cudaDeviceSynchronize(); cudaFree(p); }
CASE(constant_and_neighbour) { int* p = numbers(64); use_taps<<<1, 8>>>(p, 1); cudaDeviceSynchronize(); cudaFree(p); }
CASE(static_neighbour) { int* p = numbers(64); use_halves<<<1, 4>>>(p, 2); cudaDeviceSynchronize(); cudaFree(p); }
CASE(static_and_neighbour) { int* p = numbers(64); use_halves<<<1, 1>>>(p, 4); cudaDeviceSynchronize(); cudaFree(p); }
CASE(constant_end) { int* p = numbers(64); use_weights<<<1, 16>>>(p, 2); cudaDeviceSynchronize(); cudaFree(p); }
CASE(constant_fits) { int* p = numbers(64); use_weights<<<1, 16>>>(p, 1); cudaDeviceSynchronize(); cudaFree(p); }
CASE(device_free_twice) { heap<<<1, 1>>>(1); cudaDeviceSynchronize(); }
CASE(device_free_once) { heap<<<1, 1>>>(0); cudaDeviceSynchronize(); }
CASE(list_on_host) {
  Node second{2, nullptr}, *list;
  Node first{1, &second};
  int* out = numbers(1);
  cudaMalloc(&list, sizeof first);
  cudaMemcpy(list, &first, sizeof first, cudaMemcpyHostToDevice);
  walk<<<1, 1>>>(list, out);
  cudaDeviceSynchronize();
}
CASE(list_on_device) {
  Node second{2, nullptr}, *list, *tail;
  int* out = numbers(1);
  cudaMalloc(&list, sizeof second);
  cudaMalloc(&tail, sizeof second);
  Node first{1, tail};
  cudaMemcpy(list, &first, sizeof first, cudaMemcpyHostToDevice);
  cudaMemcpy(tail, &second, sizeof second, cudaMemcpyHostToDevice);
  walk<<<1, 1>>>(list, out);
  cudaDeviceSynchronize();
  cudaFree(list); cudaFree(tail); cudaFree(out);
}
CASE(free_twice) {
  int* p = numbers(64);
  cudaFree(p);
  cudaFree(p);  // expect free_twice double_free
}
CASE(free_middle) {
  int* p = numbers(64);
  cudaFree(p + 1);  // expect free_middle invalid_free
  cudaFree(p);
}
CASE(free_host_memory) {
  int* p = (int*)malloc(64);
  cudaFree(p);  // expect free_host_memory invalid_free
  free(p);
}
CASE(free_pinned_wrongly) {
  int* p;
  cudaMallocHost(&p, 64);
  cudaFree(p);  // expect free_pinned_wrongly invalid_free
  cudaFreeHost(p);
}
CASE(free_null) { cudaFree(nullptr); cudaFreeHost(nullptr); }
CASE(leaked) { int* p = numbers(64); int* q = numbers(64); int* r = numbers(64); fill<<<1, 64>>>(p, 64); cudaDeviceSynchronize(); cudaFree(q); cudaFree(r); }
CASE(async_pool) { int* p; cudaMallocAsync(&p, 256, 0); fill<<<1, 64>>>(p, 64); cudaFreeAsync(p, 0); cudaDeviceSynchronize(); }
CASE(async_pool_freed) {
  int* p;
  cudaMallocAsync(&p, 256, 0);
  cudaFreeAsync(p, 0);
  fill_all<<<1, 64>>>(p);
  cudaDeviceSynchronize();
}
CASE(in_function) {
  int* p;
  cudaMalloc(&p, 128);
  puts_next<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  cudaFree(p);
}
