// Variables that only some lanes set before a warp function reads them, as books write it: the others' values do not matter,
// and the condition must survive the optimiser.
#include <cstdio>

__device__ unsigned lanes_below() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}

__device__ int aggregated_increment(int* counter) {
  unsigned active = __activemask();
  int leader = __ffs(active) - 1, rank = __popc(active & lanes_below());
  int first;
  if (rank == 0) first = atomicAdd(counter, __popc(active));
  first = __shfl_sync(active, first, leader);
  return first + rank;
}

__global__ void every_third(int* counter, int* slots) {
  int i = threadIdx.x;
  if (i % 3 == 0) slots[aggregated_increment(counter)] = i;
}

__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  return v;
}

// Only the first lanes read; past them there is no memory.
__global__ void first_lanes(const float* x, int n, float* y) {
  float v;
  if (threadIdx.x < n) v = x[threadIdx.x];
  y[threadIdx.x] = __shfl_sync(0xffffffffu, v, threadIdx.x % n);
}

template <class T>
__device__ T pick(bool mine, T value) {
  return mine ? value : T(0);
}

__global__ void two_steps(const float* x, float* sum) {
  __shared__ float parts[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = warp_sum(x[threadIdx.x]);
  if (lane == 0) parts[warp] = v;
  __syncthreads();
  float total;
  if (warp == 0) total = warp_sum(lane < blockDim.x / 32 ? parts[lane] : 0);
  float mine = pick(threadIdx.x == 0, total);
  if (mine != 0) *sum = mine;
}

int main() {
  int *counter, *slots, bad = 0;
  float *x, *y;
  cudaMallocManaged(&counter, sizeof(int));
  cudaMallocManaged(&slots, 96 * sizeof(int));
  *counter = 0;
  every_third<<<1, 96>>>(counter, slots);
  cudaDeviceSynchronize();
  bad += *counter != 32;
  bool seen[96] = {};
  for (int i = 0; i < 32; i++) seen[slots[i]] = true;
  for (int i = 0; i < 96; i++) bad += seen[i] != (i % 3 == 0);

  cudaMalloc(&x, 256 * sizeof(float));
  cudaMallocManaged(&y, 256 * sizeof(float));
  float h[256], want = 0;
  for (int i = 0; i < 256; i++) want += h[i] = i % 17;
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  first_lanes<<<1, 32>>>(x + 251, 5, y);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; i++) bad += y[i] != h[251 + i % 5];
  two_steps<<<1, 256>>>(x, y);
  cudaError_t error = cudaDeviceSynchronize();
  bad += y[0] != want || error != cudaSuccess;
  std::printf("leader_lanes: %d wrong, %s\n", bad, cudaGetErrorString(error));
  return bad != 0;
}
