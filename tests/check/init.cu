// Values that nobody stored. An argument picks the case.
#include "cases.h"

__global__ void copy(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];  // expect global uninitialized_read; expect partly_set uninitialized_read; expect half_copied uninitialized_read; expect row_gap uninitialized_read
}
__global__ void accumulate(float* sum, const float* in) {
  sum[threadIdx.x] += in[threadIdx.x];  // expect accumulator uninitialized_read
}
__global__ void add_up(int* total, const int* in) { atomicAdd(total, in[threadIdx.x]); }  // expect atomic_total uninitialized_read
__global__ void shared_sum(const int* in, int* out, bool clear) {
  __shared__ int sum;
  if (clear && threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);  // expect shared_accumulator uninitialized_read
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}
__global__ void shared_part(const int* in, int* out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) s[t] = in[t];
  __syncthreads();
  out[t] = s[63 - t];  // expect shared_partly uninitialized_read
}
__global__ void local_part(const int* in, int* out, int n) {
  int a[32];
  for (int k = 0; k < n; ++k) a[k] = in[k];
  int sum = 0;
  for (int k = 0; k < 32; ++k) sum += a[in[k] & 31];  // expect local_partly uninitialized_read
  out[threadIdx.x] = sum;
}
// What is chosen only where it has a value must not be read elsewhere.
__device__ __noinline__ bool pop(int* left, const int* items, int& value) {
  int old = atomicSub(left, 1);
  if (old > 0) value = items[old - 1];
  return old > 0;
}
__global__ void pops(int* left, const int* items, int* out) {
  int value;
  out[threadIdx.x] = pop(left, items, value) ? value : -1;
}
__global__ void chosen(int* out, int n, bool set) {
  __shared__ int most;
  if (set && threadIdx.x == 0) most = n;
  __syncthreads();
  int x = -1;
  if (set) x = most;
  out[threadIdx.x] = x;
}
__global__ void left_behind(int* p, int n) {
  if (threadIdx.x < n) p[threadIdx.x] = threadIdx.x;
}
struct Gap {
  char tag;
  double value;
};
struct alignas(16) Wide {
  float x, y;
};
__global__ void set_wide(Wide* p) { p[threadIdx.x].x = p[threadIdx.x].y = 1; }
__global__ void copy_wide(const Wide* a, Wide* b) { b[threadIdx.x] = a[threadIdx.x]; }
__global__ void set_three(float4* p) { p[threadIdx.x].x = p[threadIdx.x].y = p[threadIdx.x].z = 1; }
__global__ void use_four(const float4* a, float4* b) {
  const float4 v = a[threadIdx.x];  // expect fourth_used uninitialized_read
  b[threadIdx.x] = make_float4(v.x + v.w, v.y, v.z, v.w);
}
__global__ void set_gaps(Gap* p) {
  p[threadIdx.x].tag = 'a';
  p[threadIdx.x].value = threadIdx.x;
}
__global__ void copy_gaps(const Gap* p, Gap* q) { q[threadIdx.x] = p[threadIdx.x]; }
__device__ int table[64];
__global__ void from_table(int* out) { out[threadIdx.x] = table[threadIdx.x]; }
__global__ void bytes(const char* in, char* out) { out[threadIdx.x] = in[threadIdx.x]; }

template <class T>
T* raw(size_t n) {
  T* p;
  cudaMalloc(&p, n * sizeof(T));
  return p;
}
__global__ void paint(cudaSurfaceObject_t surface) { surf2Dwrite((int)threadIdx.x, surface, threadIdx.x * 4, blockIdx.x); }
int host[256];

CASE(global) { int* a = raw<int>(64); int* b = raw<int>(64); copy<<<1, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(after_memset) { int* a = raw<int>(64); int* b = raw<int>(64); cudaMemset(a, 0, 256); copy<<<1, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(after_memcpy) { int* a = raw<int>(64); int* b = raw<int>(64); cudaMemcpy(a, host, 256, cudaMemcpyHostToDevice); copy<<<1, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
// The size is in bytes.
CASE(partly_set) { int* a = raw<int>(64); int* b = raw<int>(64); cudaMemset(a, 0, 64); copy<<<1, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(half_copied) { int* a = raw<int>(64); int* b = raw<int>(64); cudaMemcpy(a, host, 128, cudaMemcpyHostToDevice); copy<<<1, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(half_copied_half_read) { int* a = raw<int>(64); int* b = raw<int>(64); cudaMemcpy(a, host, 128, cudaMemcpyHostToDevice); copy<<<1, 64>>>(a, b, 32); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(row_gap) { int* a = raw<int>(64); int* b = raw<int>(64); cudaMemcpy2D(a, 32, host, 16, 16, 8, cudaMemcpyHostToDevice); copy<<<1, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(rows) { int* a = raw<int>(64); int* b = raw<int>(64); cudaMemcpy2D(a, 32, host, 32, 32, 8, cudaMemcpyHostToDevice); copy<<<1, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(accumulator) { float* a = raw<float>(64); float* b = raw<float>(64); cudaMemset(b, 0, 256); accumulate<<<1, 64>>>(a, b); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(atomic_total) { int* a = raw<int>(1); int* b = raw<int>(64); cudaMemset(b, 0, 256); add_up<<<1, 64>>>(a, b); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(atomic_total_cleared) { int* a = raw<int>(1); int* b = raw<int>(64); cudaMemset(a, 0, 4); cudaMemset(b, 0, 256); add_up<<<1, 64>>>(a, b); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(shared_accumulator) { int* a = raw<int>(64); cudaMemset(a, 0, 256); shared_sum<<<1, 64>>>(a, a, false); cudaDeviceSynchronize(); cudaFree(a); }
CASE(shared_cleared) { int* a = raw<int>(64); int* b = raw<int>(1); cudaMemset(a, 0, 256); shared_sum<<<1, 64>>>(a, b, true); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(shared_partly) { int* a = raw<int>(64); int* b = raw<int>(64); cudaMemset(a, 0, 256); shared_part<<<1, 64>>>(a, b, 60); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(shared_whole) { int* a = raw<int>(64); int* b = raw<int>(64); cudaMemset(a, 0, 256); shared_part<<<2, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(local_partly) {
  int* a = raw<int>(64); int* b = raw<int>(64);
  for (int k = 0; k < 64; ++k) host[k] = k;
  cudaMemcpy(a, host, 256, cudaMemcpyHostToDevice);
  local_part<<<1, 32>>>(a, b, 30);
  cudaDeviceSynchronize(); cudaFree(a); cudaFree(b);
}
CASE(local_whole) {
  int* a = raw<int>(64); int* b = raw<int>(64);
  for (int k = 0; k < 64; ++k) host[k] = k;
  cudaMemcpy(a, host, 256, cudaMemcpyHostToDevice);
  local_part<<<1, 32>>>(a, b, 32);
  cudaDeviceSynchronize(); cudaFree(a); cudaFree(b);
}
CASE(popped_where_there_is_one) {
  int* left = raw<int>(1); int* out = raw<int>(64); int* items = raw<int>(40);
  host[0] = 40;
  cudaMemcpy(left, host, 4, cudaMemcpyHostToDevice); cudaMemset(items, 0, 160);
  pops<<<1, 64>>>(left, items, out);
  cudaDeviceSynchronize(); cudaFree(left); cudaFree(out); cudaFree(items);
}
CASE(chosen_where_set) { int* a = raw<int>(64); chosen<<<1, 64>>>(a, 5, false); chosen<<<1, 64>>>(a, 5, true); cudaDeviceSynchronize(); cudaFree(a); }
CASE(by_earlier_kernel) { int* a = raw<int>(64); int* b = raw<int>(64); left_behind<<<1, 64>>>(a, 64); copy<<<1, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(gaps_of_structures) { Gap* a = raw<Gap>(64); Gap* b = raw<Gap>(64); set_gaps<<<1, 64>>>(a); copy_gaps<<<1, 64>>>(a, b); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(gaps_of_alignment) { Wide* a = raw<Wide>(64); Wide* b = raw<Wide>(64); set_wide<<<1, 64>>>(a); copy_wide<<<1, 64>>>(a, b); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(fourth_used) { float4* a = raw<float4>(64); float4* b = raw<float4>(64); set_three<<<1, 64>>>(a); use_four<<<1, 64>>>(a, b); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(device_variable) { int* a = raw<int>(64); from_table<<<1, 64>>>(a); cudaDeviceSynchronize(); cudaFree(a); }
CASE(managed_by_host) { int* a; int* b = raw<int>(64); cudaMallocManaged(&a, 256); for (int k = 0; k < 64; ++k) a[k] = k; copy<<<1, 64>>>(a, b, 64); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(bytes_set) { char* a = raw<char>(64); char* b = raw<char>(64); cudaMemset(a, 1, 33); bytes<<<1, 33>>>(a, b); cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); }
CASE(result_never_written) {
  int* a = raw<int>(64);
  cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost);  // expect result_never_written uninitialized_copy
  cudaFree(a);
}
// Surfaces are written past the addresses of the array.
CASE(surface_written) {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaMallocArray(&array, &format, 32, 2, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  cudaCreateSurfaceObject(&surface, &resource);
  paint<<<2, 32>>>(surface);
  cudaMemcpy2DFromArray(host, 128, array, 0, 0, 128, 2, cudaMemcpyDeviceToHost);
  cudaDestroySurfaceObject(surface); cudaFreeArray(array);
}
CASE(too_few_blocks) {
  int* a = raw<int>(100);
  left_behind<<<1, 64>>>(a, 64);
  cudaMemcpy(host, a, 400, cudaMemcpyDeviceToHost);  // warn too_few_blocks uninitialized_copy
  cudaFree(a);
}
CASE(result_written) { int* a = raw<int>(64); left_behind<<<1, 64>>>(a, 64); cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost); cudaFree(a); }
