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
