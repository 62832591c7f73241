// Softmax of rows: three passes of a block, online in one pass, a row in a warp, long rows.
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

__device__ float block_reduce(float v, bool maximum, float* partial) {
  for (int d = 16; d > 0; d /= 2) {
    float o = __shfl_xor_sync(0xffffffff, v, d);
    v = maximum ? fmaxf(v, o) : v + o;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  v = partial[0];
  for (int w = 1; w < blockDim.x / 32; ++w) v = maximum ? fmaxf(v, partial[w]) : v + partial[w];
  return v;
}

__global__ void three_passes(const float* in, float* out, int columns) {
  __shared__ float partial[32];
  const float* row = in + size_t(blockIdx.x) * columns;
  float* to = out + size_t(blockIdx.x) * columns;
  float best = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) best = fmaxf(best, row[i]);
  best = block_reduce(best, true, partial);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    float e = expf(row[i] - best);
    to[i] = e;
    sum += e;
  }
  sum = block_reduce(sum, false, partial);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) to[i] /= sum;
}

__global__ void online(const float* in, float* out, int columns) {
  __shared__ float partial[32];
  const float* row = in + size_t(blockIdx.x) * columns;
  float best = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    float v = row[i], next = fmaxf(best, v);
    sum = sum * __expf(best - next) + __expf(v - next);
    best = next;
  }
  float all = block_reduce(best, true, partial);
  sum = block_reduce(sum * __expf(best - all), false, partial);
  float inverse = 1.0f / sum;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[size_t(blockIdx.x) * columns + i] = __expf(row[i] - all) * inverse;
}

template <int PerLane>
__global__ void row_in_warp(const float* in, float* out, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v[PerLane], best = -1e30f, sum = 0;
#pragma unroll
  for (int k = 0; k < PerLane; ++k) {
    v[k] = in[(row * PerLane + k) * 32 + lane];
    best = fmaxf(best, v[k]);
  }
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, d));
#pragma unroll
  for (int k = 0; k < PerLane; ++k) sum += v[k] = __expf(v[k] - best);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
#pragma unroll
  for (int k = 0; k < PerLane; ++k) out[(row * PerLane + k) * 32 + lane] = v[k] / sum;
}

int main() {
  const int n = 1 << 21;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemset(in, 0, n * 4));
  THRICE three_passes<<<1024, 256>>>(in, out, 1000);
  THRICE online<<<1024, 256>>>(in, out, 1000);
  THRICE online<<<128, 1024>>>(in, out, 16000);
  THRICE row_in_warp<8><<<4096 / 4, 128>>>(in, out, 4096);
  THRICE row_in_warp<32><<<1024 / 8, 256>>>(in, out, 1024);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
