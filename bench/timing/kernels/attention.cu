// Attention of a small transformer: scores, softmax and values apart; fused with running sums in shared memory.
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

const int kHead = 64;

__global__ void scores(const float* q, const float* k, float* s, int length) {
  __shared__ float tq[16][kHead + 1], tk[16][kHead + 1];
  const size_t base = size_t(blockIdx.z) * length * kHead;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 16 * kHead; i += 256) {
    tq[i / kHead][i % kHead] = q[base + (blockIdx.y * 16 + i / kHead) * kHead + i % kHead];
    tk[i / kHead][i % kHead] = k[base + (blockIdx.x * 16 + i / kHead) * kHead + i % kHead];
  }
  __syncthreads();
  float sum = 0;
  for (int d = 0; d < kHead; ++d) sum += tq[threadIdx.y][d] * tk[threadIdx.x][d];
  s[(size_t(blockIdx.z) * length + blockIdx.y * 16 + threadIdx.y) * length + blockIdx.x * 16 + threadIdx.x] = sum * 0.125f;
}

__global__ void softmax_rows(float* s, int length) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float best = -1e30f, sum = 0;
  for (int i = lane; i < length; i += 32) best = fmaxf(best, s[size_t(row) * length + i]);
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, d));
  for (int i = lane; i < length; i += 32) sum += __expf(s[size_t(row) * length + i] - best);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  for (int i = lane; i < length; i += 32) s[size_t(row) * length + i] = __expf(s[size_t(row) * length + i] - best) / sum;
}

__global__ void values(const float* s, const float* v, float* out, int length) {
  const int row = blockIdx.x * 4 + threadIdx.y, head = blockIdx.y;
  float sum = 0;
  for (int j = 0; j < length; ++j) sum += s[(size_t(head) * length + row) * length + j] * v[(size_t(head) * length + j) * kHead + threadIdx.x];
  out[(size_t(head) * length + row) * kHead + threadIdx.x] = sum;
}

__global__ void __launch_bounds__(64) fused(const float* q, const float* k, const float* v, float* out, int length) {
  __shared__ float tk[32][kHead], tv[32][kHead];
  const size_t base = size_t(blockIdx.y) * length * kHead;
  const int row = blockIdx.x * 64 + threadIdx.x;
  float own[kHead], sum[kHead], best = -1e30f, total = 0;
#pragma unroll
  for (int d = 0; d < kHead; ++d) {
    own[d] = q[base + row * kHead + d] * 0.125f;
    sum[d] = 0;
  }
  for (int j0 = 0; j0 < length; j0 += 32) {
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * kHead; i += 64) {
      tk[i / kHead][i % kHead] = k[base + j0 * kHead + i];
      tv[i / kHead][i % kHead] = v[base + j0 * kHead + i];
    }
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      float dot = 0;
#pragma unroll
      for (int d = 0; d < kHead; ++d) dot += own[d] * tk[j][d];
      float next = fmaxf(best, dot), keep = __expf(best - next), weight = __expf(dot - next);
      total = total * keep + weight;
#pragma unroll
      for (int d = 0; d < kHead; ++d) sum[d] = sum[d] * keep + weight * tv[j][d];
      best = next;
    }
  }
#pragma unroll
  for (int d = 0; d < kHead; ++d) out[base + row * kHead + d] = sum[d] / total;
}

int main() {
  const int heads = 8, length = 256, n = heads * length * kHead;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 23 * 0.05f;
  float *q, *k, *v, *out, *s;
  CHECK(cudaMalloc(&q, n * 4));
  CHECK(cudaMalloc(&k, n * 4));
  CHECK(cudaMalloc(&v, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMalloc(&s, heads * length * length * 4));
  CHECK(cudaMemcpy(q, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(k, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(v, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE {
    scores<<<dim3(length / 16, length / 16, heads), dim3(16, 16)>>>(q, k, s, length);
    softmax_rows<<<heads * length / 4, 128>>>(s, length);
    values<<<dim3(length / 4, heads), dim3(kHead, 4)>>>(s, v, out, length);
  }
  THRICE fused<<<dim3(length / 64, heads), 64>>>(q, k, v, out, length);
  CHECK(cudaMemcpy(host.data(), out, n * 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[1]);
  return 0;
}
