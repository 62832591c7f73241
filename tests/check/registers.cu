// Variables in registers that some ways through a kernel leave without a value, and kernels that take such a way or do not.
// An argument picks the case.
#include <mma.h>

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
// Elements and members are looked at one by one, and through functions that are given a reference.
__global__ void four_sums(const int* in, int* out) {
  int sums[4];
  for (int k = 0; k < 16; ++k) sums[k % 4] += in[k];  // expect sums_from_nothing uninitialized_read
  out[threadIdx.x] = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
}
__global__ void weighted(const int* in, int* out, bool all) {
  int weights[3];
  weights[0] = 2;
  if (all) weights[1] = 3;
  weights[2] = 2;
  int sum = 0;
  for (int k = 0; k < 3; ++k) sum += weights[k] * in[k];  // expect weight_forgotten uninitialized_read
  out[threadIdx.x] = sum;
}
struct Moments {
  int sum, squares, count;
  __device__ explicit Moments(bool all) : sum(0), squares(0) {
    if (all) count = 0;
  }
  __device__ void add(int v) {
    sum += v;
    squares += v * v;
    ++count;  // expect member_forgotten uninitialized_read
  }
};
__global__ void moments(const int* in, int* out, bool all) {
  Moments m(all);
  for (int k = 0; k < 8; ++k) m.add(in[k]);
  out[threadIdx.x] = m.squares * m.count - m.sum;
}
__device__ bool meets(int v, int2& where) {
  if (v < 0) return false;
  where.x = v;
  where.y = v + 1;
  return true;
}
__global__ void first_met(const int* in, int* out, bool looks) {
  int2 where;
  const bool met = meets(in[threadIdx.x] - (looks ? 1 : 0), where);
  if (looks || met) {
    if (where.x > 3) out[threadIdx.x] = 1;  // expect looked_without_meeting uninitialized_read
  }
  out[64 + threadIdx.x] = met ? where.y : 0;
}
// What is calculated of a value that is not there goes nowhere.
__global__ void guarded(const int* in, int* out, int n) {
  int v, four[4];
  if (threadIdx.x < n) v = in[threadIdx.x];
  for (int k = 0; k < 4; ++k)
    if (4 * threadIdx.x + k < n) four[k] = in[4 * threadIdx.x + k];
  v = 2 * v + 1;
  for (int k = 0; k < 4; ++k) four[k] = 2 * four[k] + 1;
  if (threadIdx.x < n) out[threadIdx.x] = v;
  for (int k = 0; k < 4; ++k)
    if (4 * threadIdx.x + k < n) out[4 * threadIdx.x + k] = four[k];
}
__global__ void tile(const int* in, int* out, int n) {
  int sums[2][2], a[2], b[2];
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 2; ++x) sums[y][x] = 0;
  for (int k = 0; k < n; ++k) {
    for (int y = 0; y < 2; ++y) a[y] = in[k + y];
    for (int x = 0; x < 2; ++x) b[x] = in[k + x];
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x) sums[y][x] += a[y] * b[x];
  }
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 2; ++x) out[4 * threadIdx.x % 256 + 2 * y + x] = sums[y][x];
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

// To a product its result so far is added.
__global__ void product(const half* in, float* out, bool begins) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> left;
  fragment<matrix_b, 16, 16, 16, half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sums;
  load_matrix_sync(left, in, 16);
  load_matrix_sync(right, in, 16);
  if (begins) fill_fragment(sums, 0.0f);
  mma_sync(sums, left, right, sums);  // expect product_of_nothing uninitialized_read
  store_matrix_sync(out, sums, 16, mem_row_major);
}
__global__ void own_product(float* out, bool begins) {
  float sums[4];
  if (begins) sums[0] = sums[1] = sums[2] = sums[3] = 0;
  const unsigned one = 0x3c003c00;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"  // expect own_product_of_nothing uninitialized_read
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(one));
  for (int k = 0; k < 4; ++k) out[4 * threadIdx.x + k] = sums[k];
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
CASE(sums_from_nothing) { Data d; four_sums<<<1, 64>>>(d.in, d.out); }
CASE(weight_forgotten) { Data d; weighted<<<1, 64>>>(d.in, d.out, false); }
CASE(all_weights) { Data d; weighted<<<1, 64>>>(d.in, d.out, true); }
CASE(member_forgotten) { Data d; moments<<<1, 64>>>(d.in, d.out, false); }
CASE(all_members) { Data d; moments<<<1, 64>>>(d.in, d.out, true); }
CASE(looked_without_meeting) { Data d; first_met<<<1, 64>>>(d.in, d.out, true); }
CASE(looked_where_met) { Data d; first_met<<<1, 64>>>(d.in, d.out, false); }
CASE(calculated_for_nothing) {
  Data d;
  guarded<<<1, 64>>>(d.in, d.out, 41);
}
CASE(product_of_nothing) { Data d; product<<<1, 32>>>((half*)d.in, (float*)d.out, false); }
CASE(product_from_zero) { Data d; product<<<1, 32>>>((half*)d.in, (float*)d.out, true); }
CASE(own_product_of_nothing) { Data d; own_product<<<1, 32>>>((float*)d.out, false); }
CASE(own_product_from_zero) { Data d; own_product<<<1, 32>>>((float*)d.out, true); }
CASE(tile_of_sums) { Data d; tile<<<1, 64>>>(d.in, d.out, 8); }
