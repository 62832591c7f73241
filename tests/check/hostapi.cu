// The host: sizes, directions, errors that nobody looks at, memory that stays. An argument picks the case.
#include "cases.h"

__global__ void fill(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;  // expect host_pointer_to_kernel host_pointer
}
__device__ int table[64];
__constant__ float weights[16];
__global__ void use(int* out) { out[threadIdx.x] = table[threadIdx.x] + (int)weights[threadIdx.x & 15]; }

static int host[1024];
#define CHECK(call)                                                             \
  do {                                                                          \
    cudaError_t status = call;                                                  \
    if (status != cudaSuccess) {                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

__global__ void use_all(int* p) { p[threadIdx.x] += 1; }
CASE(copy_too_long) {
  int* p;
  cudaMalloc(&p, 400);
  cudaMemcpy(p, host, 404, cudaMemcpyHostToDevice);  // expect copy_too_long out_of_bounds
  cudaFree(p);
}
CASE(copy_back_too_long) {
  int* p;
  cudaMalloc(&p, 400);
  cudaMemset(p, 0, 400);
  cudaMemcpy(host, p, 800, cudaMemcpyDeviceToHost);  // expect copy_back_too_long out_of_bounds
  cudaFree(p);
}
CASE(wrong_direction) {
  int* p;
  cudaMalloc(&p, 400);
  cudaMemset(p, 0, 400);
  cudaMemcpy(host, p, 400, cudaMemcpyHostToDevice);  // expect wrong_direction unchecked_error
  cudaFree(p);
}
// Whoever looks at the error only at the end has not asked for it.
CASE(wrong_direction_seen_late) {
  int* p;
  cudaMalloc(&p, 400);
  cudaMemcpy(p, host, 400, cudaMemcpyDeviceToHost);  // expect wrong_direction_seen_late api_error
  use_all<<<1, 100>>>(p);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
  cudaFree(p);
}
CASE(row_longer_than_pitch_seen_late) {
  char* p;
  size_t pitch;
  CHECK(cudaMallocPitch(&p, &pitch, 40, 8));
  cudaMemcpy2D(p, pitch, host, 40, pitch, 8, cudaMemcpyHostToDevice);  // expect row_longer_than_pitch_seen_late api_error
  puts(cudaGetErrorString(cudaGetLastError()));
  cudaFree(p);
}
CASE(arguments_swapped) {
  int* p;
  cudaMalloc(&p, 400);
  cudaMemset(p, 0, 400);
  cudaMemcpy(host, p, 400, cudaMemcpyHostToDevice);  // expect arguments_swapped unchecked_error
  fill<<<1, 100>>>(p, 100);
  cudaDeviceSynchronize();
  cudaFree(p);
}
CASE(memset_too_long) {
  int* p;
  cudaMalloc(&p, 400);
  cudaMemset(p, 0, 4096);  // expect memset_too_long out_of_bounds
  cudaFree(p);
}
// That it was looked at makes it no better, and what would have come is not missed once more.
CASE(copy_too_long_is_told) {
  int* p;
  CHECK(cudaMalloc(&p, 400));
  if (cudaMemcpy(p, host, 404, cudaMemcpyHostToDevice) != cudaSuccess) puts("failed");  // expect copy_too_long_is_told out_of_bounds
  use_all<<<1, 100>>>(p);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(p));
}
CASE(rows_too_many) {
  char* p;
  size_t pitch;
  CHECK(cudaMallocPitch(&p, &pitch, 40, 8));
  cudaError_t status = cudaMemcpy2D(p, pitch, host, 40, 40, 9, cudaMemcpyHostToDevice);  // expect rows_too_many out_of_bounds
  if (status != cudaSuccess) puts("failed");
  CHECK(cudaFree(p));
}
CASE(symbol_too_long) {
  cudaMemcpyToSymbol(table, host, 65 * 4);  // expect symbol_too_long out_of_bounds
}
CASE(symbol_offset) {
  cudaMemcpyToSymbol(weights, host, 32, 40);  // expect symbol_offset out_of_bounds
}
CASE(symbol_fits) {
  int* p;
  CHECK(cudaMalloc(&p, 256));
  CHECK(cudaMemcpyToSymbol(table, host, 256));
  CHECK(cudaMemcpyToSymbol(weights, host, 32, 32));
  use<<<1, 64>>>(p);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host, p, 256, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(p));
}
CASE(copy_2d_pitch) {
  float* p;
  size_t pitch;
  cudaMallocPitch(&p, &pitch, 40, 8);
  cudaMemcpy2D(p, 20, host, 40, 40, 8, cudaMemcpyHostToDevice);  // expect copy_2d_pitch unchecked_error
  cudaFree(p);
}
CASE(copy_2d_right) {
  float* p;
  size_t pitch;
  CHECK(cudaMallocPitch(&p, &pitch, 40, 8));
  CHECK(cudaMemcpy2D(p, pitch, host, 40, 40, 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2D(host, 40, p, pitch, 40, 8, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(p));
}
CASE(malloc_failed) {
  int* p = nullptr;
  cudaMalloc(&p, size_t(1) << 50);  // expect malloc_failed unchecked_error
  fill<<<1, 32>>>(p, 0);
  cudaDeviceSynchronize();
}
CASE(no_such_device) {
  cudaSetDevice(99);  // expect no_such_device unchecked_error
}
CASE(zero_blocks) {
  int* p;
  cudaMalloc(&p, 400);
  fill<<<0, 128>>>(p, 0);  // expect zero_blocks unchecked_error
  cudaFree(p);
}
CASE(too_much_shared) {
  int* p;
  cudaMalloc(&p, 400);
  fill<<<1, 32, 100 * 1024>>>(p, 0);  // expect too_much_shared unchecked_error
  cudaFree(p);
}
CASE(stream_destroyed) {
  int* p;
  cudaStream_t s;
  cudaMalloc(&p, 400);
  cudaStreamCreate(&s);
  cudaStreamDestroy(s);
  cudaMemsetAsync(p, 0, 400, s);  // expect stream_destroyed unchecked_error
  cudaFree(p);
}
CASE(event_not_recorded) {
  cudaEvent_t a, b;
  float ms;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventRecord(a);
  cudaEventElapsedTime(&ms, a, b);  // expect event_not_recorded unchecked_error
  cudaEventDestroy(a);
  cudaEventDestroy(b);
}
CASE(one_of_two_leaks) {
  int *p, *q;
  cudaMalloc(&p, 400);
  cudaMalloc(&q, 800);  // expect one_of_two_leaks leak
  fill<<<1, 100>>>(p, 100);
  fill<<<1, 100>>>(q, 100);
  cudaDeviceSynchronize();
  cudaFree(p);
}
CASE(pinned_leaks) {
  int *p, *q;
  cudaMallocHost(&p, 400);  // expect pinned_leaks leak
  cudaMalloc(&q, 400);
  p[0] = 1;
  cudaMemcpy(q, p, 4, cudaMemcpyHostToDevice);
  cudaFree(q);
}
CASE(loses_pointer) {
  int* p;
  for (int k = 0; k < 3; ++k) {
    cudaMalloc(&p, 400);  // expect loses_pointer leak
    fill<<<1, 100>>>(p, 100);
  }
  cudaDeviceSynchronize();
  cudaFree(p);
}
CASE(all_freed) {
  int *p, *q, *h, *m;
  CHECK(cudaMalloc(&p, 400));
  CHECK(cudaMallocManaged(&m, 400));
  CHECK(cudaMallocHost(&h, 400));
  CHECK(cudaMallocAsync(&q, 400, 0));
  CHECK(cudaFreeAsync(q, 0));
  CHECK(cudaFree(p));
  CHECK(cudaFree(m));
  CHECK(cudaFreeHost(h));
}
CASE(freed_by_reset) {
  int* p;
  cudaMalloc(&p, 400);
  cudaMemset(p, 0, 400);
  cudaFree(p);
  cudaDeviceReset();
}
CASE(free_host_twice) {
  int* h;
  cudaMallocHost(&h, 400);
  cudaFreeHost(h);
  cudaFreeHost(h);  // expect free_host_twice double_free
}
CASE(unregister_twice) {
  int* h = (int*)aligned_alloc(4096, 4096);
  cudaHostRegister(h, 4096, 0);
  cudaHostUnregister(h);
  cudaHostUnregister(h);  // expect unregister_twice unchecked_error
  free(h);
}
CASE(freed_twice_through_alias) {
  int* p;
  cudaMalloc(&p, 400);
  int* q = p;
  cudaFree(p);
  int* r;
  cudaMalloc(&r, 1 << 20);
  cudaFree(q);  // expect freed_twice_through_alias double_free
  cudaFree(r);
}
CASE(copy_after_free) {
  int* p;
  cudaMalloc(&p, 400);
  cudaFree(p);
  cudaMemcpy(host, p, 400, cudaMemcpyDeviceToHost);  // expect copy_after_free use_after_free
}
CASE(copy_after_free_in_stream) {
  int* p;
  CHECK(cudaMallocAsync(&p, 400, 0));
  CHECK(cudaMemsetAsync(p, 0, 400, 0));
  CHECK(cudaFreeAsync(p, 0));
  cudaError_t status = cudaMemcpyAsync(host, p, 400, cudaMemcpyDeviceToHost, 0);  // expect copy_after_free_in_stream use_after_free
  if (status != cudaSuccess) puts("failed");
}
CASE(memset_after_free) {
  int* p;
  cudaMalloc(&p, 400);
  cudaFree(p);
  cudaMemset(p, 0, 400);  // expect memset_after_free use_after_free
}
CASE(uses_error_as_check) {
  int* p;
  CHECK(cudaMalloc(&p, 400));
  fill<<<1, 2048>>>(p, 100);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) fill<<<1, 128>>>(p, 100);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(p));
}
CASE(queries_not_ready) {
  int* p;
  cudaStream_t s;
  CHECK(cudaMalloc(&p, 400));
  CHECK(cudaStreamCreate(&s));
  fill<<<1, 100, 0, s>>>(p, 100);
  while (cudaStreamQuery(s) == cudaErrorNotReady) {}
  CHECK(cudaMemcpy(host, p, 400, cudaMemcpyDeviceToHost));
  CHECK(cudaStreamDestroy(s));
  CHECK(cudaFree(p));
}
CASE(host_pointer_to_kernel) {
  int* h = new int[100];
  fill<<<1, 100>>>(h, 100);
  cudaDeviceSynchronize();
  delete[] h;
}
CASE(device_pointer_freed_by_host) {
  int* p;
  cudaMalloc(&p, 400);
  cudaFreeHost(p);  // expect device_pointer_freed_by_host invalid_free
  cudaFree(p);
}

CASE(copies_onto_itself) {
  char* p;
  cudaMalloc(&p, 512);
  cudaMemset(p, 0, 512);
  cudaMemcpy(p, p + 100, 256, cudaMemcpyDeviceToDevice);  // expect copies_onto_itself overlapping_copy
  cudaFree(p);
}
CASE(copies_columns_onto_themselves) {
  char* p;
  cudaMalloc(&p, 512);
  cudaMemset(p, 0, 512);
  cudaMemcpy2D(p, 64, p + 24, 64, 32, 8, cudaMemcpyDeviceToDevice);  // expect copies_columns_onto_themselves overlapping_copy
  cudaFree(p);
}
CASE(copies_beside_itself) {
  char* p;
  cudaMalloc(&p, 512);
  cudaMemset(p, 0, 512);
  cudaMemcpy(p, p + 256, 256, cudaMemcpyDeviceToDevice);
  cudaMemcpy2D(p, 64, p + 32, 64, 32, 8, cudaMemcpyDeviceToDevice);
  cudaMemcpy2D(p, 128, p + 64, 128, 64, 4, cudaMemcpyDeviceToDevice);
  cudaFree(p);
}
