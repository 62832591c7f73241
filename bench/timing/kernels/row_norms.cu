// Layer and RMS norms and softmax of rows: a block a row, a warp a row, values kept in registers.
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

__inline__ __device__ float warp_sum(float v) {
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask);
  return v;
}

__inline__ __device__ float block_sum(float v) {
  __shared__ float shared[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_sum(v);
  __syncthreads();
  if (lane == 0) shared[warp] = v;
  __syncthreads();
  v = lane < (blockDim.x >> 5) ? shared[lane] : 0.0f;
  return warp_sum(v);
}

__global__ void layer_norm_block(float* out, const float* in, const float* weight, const float* bias, int columns) {
  const float* x = in + size_t(blockIdx.x) * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[i];
  float mean = block_sum(sum) / columns, squares = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) squares += (x[i] - mean) * (x[i] - mean);
  float scale = rsqrtf(block_sum(squares) / columns + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[size_t(blockIdx.x) * columns + i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

__global__ void rms_norm_warp(float* out, const float* in, const float* weight, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float4* x = reinterpret_cast<const float4*>(in + size_t(row) * columns);
  float squares = 0;
  for (int i = threadIdx.x; i < columns / 4; i += 32) {
    float4 v = x[i];
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  float scale = rsqrtf(warp_sum(squares) / columns + 1e-6f);
  for (int i = threadIdx.x; i < columns / 4; i += 32) {
    float4 v = x[i], w = reinterpret_cast<const float4*>(weight)[i];
    reinterpret_cast<float4*>(out + size_t(row) * columns)[i] = make_float4(v.x * scale * w.x, v.y * scale * w.y, v.z * scale * w.z, v.w * scale * w.w);
  }
}

template <int kColumns>
__global__ void softmax_registers(float* out, const float* in) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float v[kColumns / 32], best = -INFINITY, sum = 0;
#pragma unroll
  for (int i = 0; i < kColumns / 32; i++) {
    v[i] = in[size_t(row) * kColumns + i * 32 + lane];
    best = fmaxf(best, v[i]);
  }
  for (int mask = 16; mask > 0; mask >>= 1) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, mask));
#pragma unroll
  for (int i = 0; i < kColumns / 32; i++) sum += v[i] = expf(v[i] - best);
  sum = warp_sum(sum);
#pragma unroll
  for (int i = 0; i < kColumns / 32; i++) out[size_t(row) * kColumns + i * 32 + lane] = v[i] / sum;
}

__global__ void softmax_online(float* out, const float* in, int columns) {
  const float* x = in + size_t(blockIdx.x) * columns;
  float best = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    float next = fmaxf(best, x[i]);
    sum = sum * expf(best - next) + expf(x[i] - next);
    best = next;
  }
  __shared__ float bests[256], sums[256];
  bests[threadIdx.x] = best;
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) {
      float a = bests[threadIdx.x], b = bests[threadIdx.x + s], m = fmaxf(a, b);
      sums[threadIdx.x] = sums[threadIdx.x] * expf(a - m) + sums[threadIdx.x + s] * expf(b - m);
      bests[threadIdx.x] = m;
    }
    __syncthreads();
  }
  best = bests[0];
  sum = sums[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[size_t(blockIdx.x) * columns + i] = expf(x[i] - best) / sum;
}

__global__ void naive_row_by_thread(float* out, const float* in, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best = -10000.0f, sum = 0;
  for (int i = 0; i < columns; i++) best = max(best, in[row * columns + i]);
  for (int i = 0; i < columns; i++) {
    float e = expf(in[row * columns + i] - best);
    out[row * columns + i] = e;
    sum += e;
  }
  for (int i = 0; i < columns; i++) out[row * columns + i] /= sum;
}

int main() {
  const int rows = 4096, columns = 1024, n = rows * columns;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 7 % 101 * 0.03f;
  float *in, *out, *weight;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMalloc(&weight, columns * 4));
  CHECK(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(weight, host.data(), columns * 4, cudaMemcpyHostToDevice));
  THRICE layer_norm_block<<<rows, 256>>>(out, in, weight, weight, columns);
  THRICE rms_norm_warp<<<rows / 8, dim3(32, 8)>>>(out, in, weight, rows, columns);
  THRICE softmax_registers<1024><<<rows / 4, 128>>>(out, in);
  THRICE softmax_online<<<rows, 256>>>(out, in, columns);
  for (int round = 0; round < 2; ++round) naive_row_by_thread<<<rows / 64, 64>>>(out, in, rows, columns);
  CHECK(cudaMemcpy(host.data(), out, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
