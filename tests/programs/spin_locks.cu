// Locks fought for by lanes of the same warp, a ticket lock, and ordered hand-over between lanes.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__device__ int g_lock = 0;
__device__ volatile int g_turn = 0;
__device__ unsigned g_next = 0;
__device__ volatile unsigned g_serving = 0;

// The form that works on every generation: take, work and release inside one iteration.
__global__ void classic(volatile int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&g_lock, 0, 1) == 0) {
      *counter = *counter + 1;
      __threadfence();
      atomicExch(&g_lock, 0);
      done = true;
    }
  }
}

// The form that needs independent progress of the lanes: spin first, then work.
__global__ void naive(volatile int* counter) {
  while (atomicCAS(&g_lock, 0, 1) != 0) {
  }
  *counter = *counter + 1;
  __threadfence();
  atomicExch(&g_lock, 0);
}

__global__ void ticket(volatile int* counter) {
  unsigned mine = atomicAdd(&g_next, 1u);
  while (g_serving != mine) {
  }
  *counter = *counter + 1;
  __threadfence();
  g_serving = mine + 1;
}

// Lane n waits for lane n-1 of its own warp, last lane first in program order.
__global__ void turns(volatile int* order) {
  int me = 31 - threadIdx.x;
  while (g_turn != me) {
  }
  order[me] = threadIdx.x;
  __threadfence();
  g_turn = me + 1;
}

__global__ void with_sleep(volatile int* counter) {
  unsigned ns = 8;
  while (atomicCAS(&g_lock, 0, 1) != 0) {
    __nanosleep(ns);
    if (ns < 256) ns *= 2;
  }
  *counter = *counter + 1;
  __threadfence();
  atomicExch(&g_lock, 0);
}

int main() {
  int *d_counter, counter[4] = {}, order[32], *d_order, bad = 0;
  CHECK(cudaMalloc(&d_counter, sizeof counter));
  CHECK(cudaMalloc(&d_order, sizeof order));
  CHECK(cudaMemset(d_counter, 0, sizeof counter));
  classic<<<4, 64>>>(d_counter);
  naive<<<4, 64>>>(d_counter + 1);
  ticket<<<4, 64>>>(d_counter + 2);
  with_sleep<<<4, 64>>>(d_counter + 3);
  turns<<<1, 32>>>(d_order);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(counter, d_counter, sizeof counter, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(order, d_order, sizeof order, cudaMemcpyDeviceToHost));
  for (int c : counter) bad += c != 256;
  for (int i = 0; i < 32; i++) bad += order[i] != 31 - i;
  printf("spin_locks: %d %d %d %d, %s\n", counter[0], counter[1], counter[2], counter[3], bad ? "FAILED" : "PASSED");
  return bad != 0;
}
