// Kernels that launch kernels. An argument picks the case.
#include "cases.h"

__global__ void child(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;  // expect child_out_of_bounds out_of_bounds; expect child_of_own_array out_of_bounds
}
__global__ void sum(const int* p, int n, int* out) {
  int s = 0;
  for (int k = 0; k < n; ++k) s += p[k];  // expect child_reads_nothing uninitialized_read
  *out = s;
}
__global__ void child_race(int* p) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  // expect child_shared_race race_raw
  p[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void parent(int* p, int n, int size) {
  if (threadIdx.x == 0) child<<<(n + 63) / 64, 64>>>(p, n);
}
__global__ void parent_before(int* p, int n, int* out) {
  for (int k = threadIdx.x; k < n; k += blockDim.x) p[k] = 1;
  __syncthreads();
  if (threadIdx.x == 0) sum<<<1, 1>>>(p, n, out);
}
__global__ void parent_of_race(int* p) { child_race<<<1, 64>>>(p); }
__global__ void two_children(int* p, int n, int* out) {
  child<<<1, 64>>>(p, n);
  sum<<<1, 1>>>(p, n, out);
}
__global__ void recursive(int* p, int depth) {
  p[threadIdx.x + depth * 32] = depth;
  if (threadIdx.x == 0 && depth > 0) recursive<<<1, 32>>>(p, depth - 1);
}
__global__ void children_apart(int* p, int* out) {
  if (threadIdx.x < 4) child<<<1, 64>>>(p + threadIdx.x * 64, 64);
}
struct Data {
  int *p, *out;
  Data(bool set = true) {
    cudaMalloc(&p, 4096);
    cudaMalloc(&out, 4);
    if (set) cudaMemset(p, 0, 4096);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(p);
    cudaFree(out);
  }
};
CASE(child_out_of_bounds) { Data d; parent<<<1, 32>>>(d.p, 1025, 0); }
__global__ void parent_with_own(int* out) {
  int own[4] = {1, 2, 3, 4};
  child<<<1, 4>>>(own, 4);
  *out = own[threadIdx.x];
}
CASE(child_of_own_array) {
  int* p;
  cudaMalloc(&p, 400);
  parent_with_own<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  cudaFree(p);
}
CASE(child_fits) { Data d; parent<<<1, 32>>>(d.p, 1024, 0); }
CASE(child_writes_result) { Data d(false); static int h[1024]; parent<<<1, 32>>>(d.p, 1024, 0); cudaMemcpy(h, d.p, 4096, cudaMemcpyDeviceToHost); }
CASE(parent_then_child) { Data d; parent_before<<<1, 64>>>(d.p, 256, d.out); }
CASE(child_reads_nothing) { Data d(false); two_children<<<1, 1>>>(d.p, 0, d.out); sum<<<1, 1>>>(d.p, 5, d.out); }
CASE(child_shared_race) { Data d; parent_of_race<<<1, 1>>>(d.p); }
CASE(children_in_order) { Data d; two_children<<<1, 1>>>(d.p, 64, d.out); }
CASE(recursion) { Data d; recursive<<<1, 32>>>(d.p, 5); }
CASE(children_apart) { Data d; children_apart<<<1, 32>>>(d.p, d.out); }
CASE(kernel_after_children) { Data d(false); parent<<<1, 32>>>(d.p, 256, 0); sum<<<1, 1>>>(d.p, 256, d.out); }
