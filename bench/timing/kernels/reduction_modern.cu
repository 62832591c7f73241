// Reductions with shuffles, atomics, vector loads, in two passes, for maxima and for doubles.
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

__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}

__device__ float block_sum(float v) {
  __shared__ float partial[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = warp_sum(v);
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? partial[lane] : 0.0f;
  return warp == 0 ? warp_sum(v) : 0.0f;
}

__global__ void shuffle_block(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void shuffle_atomic_per_warp(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void atomic_per_block(const float4* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

__global__ void atomic_per_thread(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

__global__ void maximum(const float* in, int* out, int n) {
  int best = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) best = max(best, int(in[i]));
  best = __reduce_max_sync(0xffffffff, best);
  if (threadIdx.x % 32 == 0) atomicMax(out, best);
}

__global__ void doubles(const double* in, double* out, int n) {
  __shared__ double data[256];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i] * in[i];
  data[threadIdx.x] = sum;
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) data[threadIdx.x] += data[threadIdx.x + s];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = data[0];
}

int main() {
  const int n = 1 << 22;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(float)));
  CHECK(cudaMalloc(&out, 4096 * sizeof(double)));
  CHECK(cudaMemset(in, 0, n * sizeof(float)));
  CHECK(cudaMemset(out, 0, 4096 * sizeof(double)));
  THRICE {
    shuffle_block<<<528, 256>>>(in, out, n);
    shuffle_block<<<1, 1024>>>(out, out + 2048, 528);
  }
  THRICE shuffle_block<<<66, 512>>>(in, out, n);
  THRICE shuffle_atomic_per_warp<<<1056, 256>>>(in, out, n);
  THRICE atomic_per_block<<<528, 256>>>((float4*)in, out, n / 4);
  THRICE atomic_per_thread<<<(1 << 18) / 256, 256>>>((int*)in, (int*)out, 1 << 18);
  THRICE maximum<<<528, 256>>>(in, (int*)out, n);
  THRICE doubles<<<264, 256>>>((double*)in, (double*)out, n / 2);
  THRICE shuffle_block<<<1, 256>>>(in, out, 100000);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
