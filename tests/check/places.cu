// What the platform's headers do is told of at the line that asked for it. An argument picks the case.
#include <cuda/barrier>

#include "cases.h"

__global__ void begins_at_once(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  if (threadIdx.x == 0)
    init(&all, blockDim.x);    // expect barrier_in_use race_waw
  all.arrive_and_wait();       // expect barrier_in_use race_waw
  out[threadIdx.x] = 1;
}
__global__ void begins_together(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  all.arrive_and_wait();
  out[threadIdx.x] = 1;
}

// A function of the program's own is at fault in its own line.
template <class T>
__device__ T field(const char* p) {
  return *reinterpret_cast<const T*>(p);  // expect crooked_field misaligned
}
__global__ void reads_field(int* out) { out[threadIdx.x] = field<int>(reinterpret_cast<const char*>(out) + 1); }

void run(void (*kernel)(int*)) {
  int* out;
  cudaMalloc(&out, 256);
  kernel<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(barrier_in_use) { run(begins_at_once); }
CASE(barrier_begun) { run(begins_together); }
CASE(crooked_field) { run(reads_field); }

// Accesses that the optimiser would make one of, or move, are told of in their own lines.
__device__ void exchange(int* s, int v) {
  s[threadIdx.x] = v;  // expect carried_value race_war
  __syncwarp();
}
__global__ void carries(const int* in, int* out, int rounds) {
  __shared__ int s[32];
  int v = in[threadIdx.x];
  for (int r = 0; r < rounds; ++r) {
    exchange(s, v);
    v = s[(threadIdx.x + 5) % 32];  // expect carried_value race_war
  }
  out[threadIdx.x] = v;
}
__global__ void stores_either(const int* in, int* out, int n) {
  int v;
  if (in[threadIdx.x] > n)
    v = in[threadIdx.x] * 3;
  else
    v = in[threadIdx.x + 32];   // expect read_in_a_branch out_of_bounds
  if (v > n)
    out[threadIdx.x] = v;
  else
    out[threadIdx.x + 64] = v;  // expect stored_in_a_branch out_of_bounds
}
__global__ void reads_before_loop(const int* in, int* out, int n) {
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += k * out[threadIdx.x];
    sum ^= in[64];              // expect read_in_a_loop out_of_bounds
  }
  out[threadIdx.x] = sum;
}
void run_places(int n, int bytes, int rounds) {
  int *in, *out;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, 256);
  cudaMemset(in, 0, bytes);
  cudaMemset(out, 0, 256);
  if (rounds > 0) carries<<<1, 32>>>(in, out, rounds);
  else if (rounds < 0) reads_before_loop<<<1, 32>>>(in, out, n);
  else stores_either<<<1, 32>>>(in, out, n);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(carried_value) { run_places(0, 128, 3); }
CASE(read_in_a_branch) { run_places(0, 128, 0); }
CASE(stored_in_a_branch) { run_places(0, 256, 0); }
CASE(stored_in_the_other) { run_places(-1, 256, 0); }
CASE(read_in_a_loop) { run_places(4, 256, -1); }

// A vector is read where it is copied, though its parts are needed elsewhere.
__global__ void copies_vector(int* out) {
  __shared__ int4 s[64];
  const int t = threadIdx.x;
  s[t] = make_int4(t, t + 1, t + 2, t + 3);
  const int4 v = s[t ^ 32];  // expect vector_copied race_raw
  int sum = t;
  sum += v.x + v.y * v.z - v.w;
  out[t] = sum;
}
CASE(vector_copied) { run(copies_vector); }

// Who called a function that was inlined is told as well, each call for itself.
struct Rows {
  const int* at;
  __device__ int get(int row, int column) const { return at[row * 8 + column]; }  // expect called_from out_of_bounds
};
__device__ int weigh(const Rows& rows, int row) {
  return 3 * rows.get(row, threadIdx.x);  // expect called_from out_of_bounds
}
__global__ void weighs(int* in, int* out) {
  Rows rows{in};
  out[threadIdx.x] = rows.get(1, 0);
  out[threadIdx.x] += weigh(rows, 2);
  out[threadIdx.x] += weigh(rows, 8);     // expect called_from out_of_bounds
}
CASE(called_from) {
  int *in, *out;
  cudaMalloc(&in, 256);
  cudaMalloc(&out, 256);
  cudaMemset(in, 0, 256);
  weighs<<<1, 8>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// A line that races with itself, through two calls of it.
__device__ void count(int* cells, int k) {
  cells[k] += k;                   // expect two_calls race_raw
}
__global__ void counts(int* out) {
  __shared__ int cells[64];
  cells[threadIdx.x] = 0;
  __syncthreads();
  count(cells, threadIdx.x);       // expect two_calls race_raw
  count(cells, 63 - threadIdx.x);  // expect two_calls race_raw
  count(cells, threadIdx.x ^ 33);  // expect two_calls race_raw
  __syncthreads();
  out[threadIdx.x] = cells[threadIdx.x];
}
CASE(two_calls) { run(counts); }

// What one line reads and writes, and another changes, is one mistake.
__global__ void mixes(int* out) {
  __shared__ int cell;
  if (threadIdx.x == 0) cell = 1;
  __syncthreads();
  if (threadIdx.x >= 32) atomicAdd(&cell, 1);  // expect scaled_beside race_raw
  if (threadIdx.x == 0) cell *= 3;             // expect scaled_beside race_raw
  __syncthreads();
  out[threadIdx.x] = cell;
}
CASE(scaled_beside) { run(mixes); }

// Names that say which kinds of parameters a template has are written for people too.
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
__device__ void put(T* out, int k) {
  out[k] = 1;  // expect chosen_template out_of_bounds
}
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
__global__ void puts_all(T* out) {
  put(out, threadIdx.x + 8);
}
CASE(chosen_template) {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  puts_all<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
