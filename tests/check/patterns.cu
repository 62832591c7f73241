// Trees and scans in which every block does the same in shared memory: that is looked at in one block and then known, what
// blocks do with global memory is not. `tests/watch` compares both engines.
#include "cases.h"

constexpr int kThreads = 128, kBlocks = 12;

__device__ void add_up(int* sums) {
  const unsigned t = threadIdx.x;
  for (unsigned s = kThreads / 2; s > 0; s /= 2) {
    __syncthreads();
    if (t < s) sums[t] += sums[t + s];
  }
  __syncthreads();
}

__global__ void tree(const int* in, int* out) {
  __shared__ int sums[kThreads];
  sums[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];  // expect unset_input uninitialized_read
  add_up(sums);
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];  // expect short_output out_of_bounds
}
__global__ void all_to_one(const int* in, int* out) {
  __shared__ int sums[kThreads];
  sums[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  add_up(sums);
  if (threadIdx.x == 0) out[0] = sums[0] + blockIdx.x;  // expect one_output race_waw
}
// The lower half of a block's threads store where the next block's upper half do.
__global__ void overlapping(const int* in, int* out) {
  __shared__ int sums[kThreads];
  sums[threadIdx.x] = in[blockIdx.x * kThreads + threadIdx.x];
  add_up(sums);
  out[blockIdx.x * kThreads / 2 + threadIdx.x] = sums[threadIdx.x];  // expect overlap race_waw
}
__global__ void hasty_tree(const int* in, int* out) {
  __shared__ int sums[kThreads];
  const unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (unsigned s = kThreads / 2; s > 0; s /= 2)
    if (t < s) sums[t] += sums[t + s];  // expect no_barriers race_raw; expect no_barriers race_war
  __syncthreads();
  if (t == 0) out[blockIdx.x] = sums[0];
}
// In place: a block's places are its own.
__global__ void scan(int* data) {
  __shared__ int buffer[2][kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  int from = 0;
  buffer[0][t] = data[i];
  __syncthreads();
  for (int offset = 1; offset < kThreads; offset *= 2) {
    buffer[1 - from][t] = t >= offset ? buffer[from][t] + buffer[from][t - offset] : buffer[from][t];
    from = 1 - from;
    __syncthreads();
  }
  data[i] = buffer[from][t];
}
// What it reads before the first round nobody has written.
__global__ void unset_scan(const int* in, int* out) {
  __shared__ int buffer[kThreads + 1];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  buffer[t + 1] = in[i];
  __syncthreads();
  const int before = buffer[t];  // expect first_forgotten uninitialized_read
  __syncthreads();
  buffer[t] = before + 1;
  __syncthreads();
  out[i] = buffer[kThreads - 1 - t];
}
// Threads store and others store there again, with a barrier between.
__global__ void twice(const int* in, int* out) {
  __shared__ int row[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  row[t] = in[i];
  out[i] = 0;
  __syncthreads();
  const int other = row[kThreads - 1 - t];
  __syncthreads();
  out[blockIdx.x * kThreads + kThreads - 1 - t] = other;
}

int *in, *out;
void begin(size_t inputs = kBlocks * kThreads, size_t outputs = kBlocks * kThreads) {
  cudaMalloc(&in, kBlocks * kThreads * sizeof(int));
  cudaMalloc(&out, outputs * sizeof(int));
  cudaMemset(in, 1, inputs * sizeof(int));
}
void end() {
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(sums) { begin(); tree<<<kBlocks, kThreads>>>(in, out); end(); }
CASE(sums_again) { begin(); for (int k = 0; k < 3; ++k) tree<<<kBlocks, kThreads>>>(in, out); end(); }
CASE(unset_input) { begin(kBlocks * kThreads / 2 + 5); tree<<<kBlocks, kThreads>>>(in, out); end(); }
CASE(short_output) { begin(kBlocks * kThreads, kBlocks / 2); tree<<<kBlocks, kThreads>>>(in, out); end(); }
CASE(one_output) { begin(); all_to_one<<<kBlocks, kThreads>>>(in, out); end(); }
CASE(overlap) { begin(); overlapping<<<kBlocks, kThreads>>>(in, out); end(); }
CASE(no_barriers) { begin(); hasty_tree<<<kBlocks, kThreads>>>(in, out); end(); }
CASE(scan_in_place) { begin(); scan<<<kBlocks, kThreads>>>(in); end(); }
CASE(first_forgotten) { begin(); unset_scan<<<kBlocks, kThreads>>>(in, out); end(); }
CASE(stored_twice) { begin(); twice<<<kBlocks, kThreads>>>(in, out); end(); }
