// Kernels that write what they can only read. An argument picks the case.
#include "cases.h"

__constant__ int table[64];
__constant__ struct Pair { int key; float value; } pair;

__global__ void store(int k) { table[threadIdx.x] = k; }  // expect stored constant_written
__global__ void store_member(float v) { pair.value = v; }  // expect member_stored constant_written
__device__ void put(int* p, int v) { *p = v; }  // expect stored_by_function constant_written
__global__ void store_by_function(bool really) { put(really ? table + threadIdx.x : nullptr, 5); }
__global__ void store_at(int* p) { p[threadIdx.x] = threadIdx.x; }  // expect stored_at_its_address constant_written
__global__ void look_up(int* out) { out[threadIdx.x] = table[threadIdx.x] + pair.key; }

static void checked(bool stores_nothing) {
  int *out, host[64] = {};
  cudaMalloc(&out, 256);
  if (stores_nothing) {
    cudaMemcpyToSymbol(table, host, 256);
    look_up<<<1, 64>>>(out);
    cudaDeviceSynchronize();
  }
  cudaFree(out);
}
CASE(looked_up) { checked(true); }
CASE(stored) { store<<<1, 64>>>(1); cudaDeviceSynchronize(); }
CASE(member_stored) { store_member<<<1, 1>>>(1); cudaDeviceSynchronize(); }
CASE(stored_by_function) { store_by_function<<<1, 64>>>(true); cudaDeviceSynchronize(); }
CASE(stored_at_its_address) {
  void* p;
  cudaGetSymbolAddress(&p, table);
  store_at<<<1, 64>>>((int*)p);
  cudaDeviceSynchronize();
}
