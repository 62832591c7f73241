// Attention over heads: scores by tiles, softmax in place, tiles with running sums, and one query over a cache of keys.
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

__global__ void scores_tiled(const float* Q, const float* K, float* S, int length, int width) {
  __shared__ float q[16][17], k[16][17];
  const float *qh = Q + size_t(blockIdx.z) * length * width, *kh = K + size_t(blockIdx.z) * length * width;
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < width; t += 16) {
    q[threadIdx.y][threadIdx.x] = qh[row * width + t + threadIdx.x];
    k[threadIdx.y][threadIdx.x] = kh[(blockIdx.x * 16 + threadIdx.y) * width + t + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) sum += q[threadIdx.y][i] * k[threadIdx.x][i];
    __syncthreads();
  }
  S[(size_t(blockIdx.z) * length + row) * length + col] = col <= row ? sum * rsqrtf(float(width)) : -INFINITY;
}

__global__ void softmax_in_place(float* S, int length) {
  float* row = S + size_t(blockIdx.x) * length;
  __shared__ float reduce[128];
  float best = -INFINITY;
  for (int i = threadIdx.x; i < length; i += 128) best = fmaxf(best, row[i]);
  reduce[threadIdx.x] = best;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s) reduce[threadIdx.x] = fmaxf(reduce[threadIdx.x], reduce[threadIdx.x + s]);
    __syncthreads();
  }
  best = reduce[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < length; i += 128) {
    float e = __expf(row[i] - best);
    row[i] = e;
    sum += e;
  }
  reduce[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s) reduce[threadIdx.x] += reduce[threadIdx.x + s];
    __syncthreads();
  }
  float inverse = 1.0f / reduce[0];
  for (int i = threadIdx.x; i < length; i += 128) row[i] *= inverse;
}

__global__ void tiles_running(const float* Q, const float* K, const float* V, float* O, int length, int d, float scale) {
  extern __shared__ float sram[];
  const int Bc = 32, Br = 32;
  int tx = threadIdx.x, offset = blockIdx.x * length * d, i = blockIdx.y;
  float *Qi = sram, *Kj = Qi + Br * d, *Vj = Kj + Bc * d, *S = Vj + Bc * d;
  for (int x = 0; x < d; x++) {
    Qi[tx * d + x] = Q[offset + (i * Br + tx) * d + x];
    O[offset + (i * Br + tx) * d + x] = 0;
  }
  float m = -INFINITY, l = 0;
  for (int j = 0; j <= i; j++) {
    __syncthreads();
    for (int x = 0; x < d; x++) {
      Kj[tx * d + x] = K[offset + (j * Bc + tx) * d + x];
      Vj[tx * d + x] = V[offset + (j * Bc + tx) * d + x];
    }
    __syncthreads();
    float row_m = -INFINITY, row_l = 0;
    for (int y = 0; y < Bc; y++) {
      float sum = 0;
      for (int x = 0; x < d; x++) sum += Qi[tx * d + x] * Kj[y * d + x];
      sum *= scale;
      S[Bc * tx + y] = sum;
      if (sum > row_m) row_m = sum;
    }
    float next = fmaxf(m, row_m), keep = __expf(m - next);
    for (int y = 0; y < Bc; y++) {
      S[Bc * tx + y] = __expf(S[Bc * tx + y] - next);
      row_l += S[Bc * tx + y];
    }
    l = l * keep + row_l;
    for (int x = 0; x < d; x++) {
      float pv = 0;
      for (int y = 0; y < Bc; y++) pv += S[Bc * tx + y] * Vj[y * d + x];
      O[offset + (i * Br + tx) * d + x] = O[offset + (i * Br + tx) * d + x] * keep + pv;
    }
    m = next;
  }
  for (int x = 0; x < d; x++) O[offset + (i * Br + tx) * d + x] /= l;
}

__global__ void decode(const float* q, const float* keys, const float* values, float* out, int length) {
  __shared__ float weights[2048], reduce[8], query[64];
  const int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 64) query[threadIdx.x] = q[head * 64 + threadIdx.x];
  __syncthreads();
  float best = -INFINITY;
  for (int t = warp; t < length; t += 8) {
    float sum = query[lane] * keys[(size_t(head) * length + t) * 64 + lane] + query[lane + 32] * keys[(size_t(head) * length + t) * 64 + lane + 32];
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, s);
    if (lane == 0) weights[t] = sum * 0.125f;
    best = fmaxf(best, sum * 0.125f);
  }
  if (lane == 0) reduce[warp] = best;
  __syncthreads();
  for (int w = 0; w < 8; w++) best = fmaxf(best, reduce[w]);
  float total = 0;
  __syncthreads();
  for (int t = threadIdx.x; t < length; t += 256) {
    weights[t] = __expf(weights[t] - best);
    total += weights[t];
  }
  for (int s = 16; s > 0; s >>= 1) total += __shfl_xor_sync(0xffffffff, total, s);
  if (lane == 0) reduce[warp] = total;
  __syncthreads();
  total = 0;
  for (int w = 0; w < 8; w++) total += reduce[w];
  __shared__ float parts[4][64];
  float sum = 0;
  for (int t = threadIdx.x / 64; t < length; t += 4) sum += weights[t] * values[(size_t(head) * length + t) * 64 + threadIdx.x % 64];
  parts[threadIdx.x / 64][threadIdx.x % 64] = sum;
  __syncthreads();
  if (threadIdx.x < 64)
    out[head * 64 + threadIdx.x] = (parts[0][threadIdx.x] + parts[1][threadIdx.x] + parts[2][threadIdx.x] + parts[3][threadIdx.x]) / total;
}

int main() {
  const int heads = 12, length = 512, width = 64, n = heads * length * width, long_heads = 64, cached = 1024, m = long_heads * cached * width;
  std::vector<float> host(m);
  for (int i = 0; i < m; ++i) host[i] = i % 37 * 0.02f - 0.3f;
  float *q, *k, *v, *s, *o, *keys, *values;
  CHECK(cudaMalloc(&q, n * 4));
  CHECK(cudaMalloc(&k, n * 4));
  CHECK(cudaMalloc(&v, n * 4));
  CHECK(cudaMalloc(&o, n * 4));
  CHECK(cudaMalloc(&s, size_t(heads) * length * length * 4));
  CHECK(cudaMalloc(&keys, size_t(m) * 4));
  CHECK(cudaMalloc(&values, size_t(m) * 4));
  CHECK(cudaMemcpy(q, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(k, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(v, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(keys, host.data(), size_t(m) * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(values, host.data(), size_t(m) * 4, cudaMemcpyHostToDevice));
  THRICE scores_tiled<<<dim3(length / 16, length / 16, heads), dim3(16, 16)>>>(q, k, s, length, width);
  THRICE softmax_in_place<<<heads * length, 128>>>(s, length);
  const int tile = (3 * 32 * 64 + 32 * 32) * 4;
  for (int round = 0; round < 2; ++round) tiles_running<<<dim3(heads, length / 32), 32, tile>>>(q, k, v, o, length, width, 0.125f);
  THRICE decode<<<long_heads, 256>>>(q, keys, values, o, cached);
  CHECK(cudaMemcpy(host.data(), o, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
