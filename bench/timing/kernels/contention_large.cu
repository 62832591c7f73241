// Much traffic to few places: counters, a lock a bin, floats into 64 sums, minima of a graph's edges, tickets in order.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

__global__ void count_all(unsigned* counter, const unsigned* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (data[i] & 1) atomicAdd(counter, 1u);
}

__global__ void returned(unsigned* counter, unsigned* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = atomicAdd(counter + (i & 3), 2u);
}

__global__ void sums_of_64(const float* in, float* sums, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&sums[(i * 2654435761u >> 26) * 8], in[i]);
}

__global__ void doubles(const float* in, double* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[i % 16], double(in[i]));
}

__global__ void relax(const int2* edges, int* value, int n) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n) return;
  int2 edge = edges[e];
  atomicMin(&value[edge.x & 1023], value[edge.y & 65535] + 1);
}

__global__ void in_order(volatile int* turn, float* out, int rounds) {
  if (threadIdx.x == 0)
    while (*turn != blockIdx.x) {
    }
  __syncthreads();
  float v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = v * 0.5f + 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *turn = blockIdx.x + 1;
}

__global__ void shared_bins(const unsigned* data, unsigned* bins, int n) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i] >> 28], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
  const int n = 1 << 21;
  std::vector<unsigned> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 2654435761u ^ i >> 3;
  unsigned *data, *out;
  CHECK(cudaMalloc(&data, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemcpy(data, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, n * 4));
  THRICE count_all<<<264, 256>>>(out, data, n);
  THRICE returned<<<264, 256>>>(out + 1000000, out, n / 4);
  CHECK(cudaMemset(data, 0, n * 2));
  THRICE sums_of_64<<<528, 256>>>((float*)data, (float*)out, n / 2);
  THRICE doubles<<<n / 8 / 256, 256>>>((float*)data, (double*)out, n / 8);
  THRICE relax<<<n / 2 / 256, 256>>>((int2*)(data), (int*)out, n / 2);
  THRICE {
    CHECK(cudaMemset(out, 0, 4));
    in_order<<<100, 64>>>((int*)out, (float*)out + 64, 50);
  }
  CHECK(cudaMemcpy(data, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE shared_bins<<<132, 512>>>(data, out, n);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
