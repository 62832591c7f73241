// Variables in registers that some ways through a kernel leave without a value, and kernels that take such a way or do not.
// An argument picks the case.
#include "cases.h"

__global__ void largest(const int* in, int* out, int n, bool begins) {
  int best;
  if (begins) best = in[0];
  for (int k = 0; k < n; ++k)
    if (in[k] > best) best = in[k];  // expect largest_of_nothing uninitialized_read
  out[threadIdx.x] = best;
}
__global__ void by_kind(const int* in, int* out, int kind) {
  int factor;
  switch (kind) {
    case 0: factor = 2; break;
    case 1: factor = 3; break;
  }
  out[threadIdx.x] = in[threadIdx.x] * factor;  // expect unknown_kind uninitialized_read
}
// Both conditions are the same.
__global__ void same_condition(const int* in, int* out, int n) {
  int v;
  const bool inside = threadIdx.x < n;
  if (inside) v = in[threadIdx.x];
  __syncthreads();
  if (inside) out[threadIdx.x] = 2 * v + 1;
}
// The last value that is fetched in advance is of no use to anybody.
__global__ void in_advance(const int* in, int* out, int n) {
  int now = in[threadIdx.x], next, sum = 0;
  for (int k = 1; k <= n; ++k) {
    if (k < n) next = in[64 * k + threadIdx.x];
    sum += now;
    now = next;
  }
  out[threadIdx.x] = sum;
}
__global__ void of_leader(int* count, int* out) {
  int first;
  if (threadIdx.x % 32 == 0) first = atomicAdd(count, 32);
  first = __shfl_sync(~0u, first, 0);
  out[first + threadIdx.x % 32] = 1;
}
struct Record {
  char tag;
  double value;
  short index;
};
__device__ __noinline__ Record record(int k) {
  Record r;
  r.tag = 'r';
  r.value = k;
  r.index = static_cast<short>(k);
  return r;
}
__global__ void passes_records(Record* out, Record r) {
  Record mine[4];
  for (int k = 0; k < 4; ++k) mine[(k + threadIdx.x) % 4] = record(k);
  out[threadIdx.x] = mine[threadIdx.x % 4];
  out[threadIdx.x + 64] = r;
}

struct Data {
  int *in, *out;
  Record* records;
  Data() {
    cudaMalloc(&in, 1024);
    cudaMalloc(&out, 1024);
    cudaMalloc(&records, 128 * sizeof(Record));
    cudaMemset(in, 0, 1024);
    cudaMemset(out, 0, 1024);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(records);
  }
};
CASE(largest_of_nothing) { Data d; largest<<<1, 64>>>(d.in, d.out, 64, false); }
CASE(largest_of_all) { Data d; largest<<<1, 64>>>(d.in, d.out, 64, true); }
CASE(unknown_kind) { Data d; by_kind<<<1, 64>>>(d.in, d.out, 2); }
CASE(known_kinds) { Data d; by_kind<<<1, 64>>>(d.in, d.out, 0); by_kind<<<1, 64>>>(d.in, d.out, 1); }
CASE(same_condition) { Data d; same_condition<<<1, 64>>>(d.in, d.out, 40); }
CASE(in_advance) { Data d; in_advance<<<1, 64>>>(d.in, d.out, 4); }
CASE(of_leader) { Data d; of_leader<<<2, 64>>>(d.in, d.out); }
CASE(records) { Data d; passes_records<<<1, 64>>>(d.records, Record{'a', 1, 2}); }
