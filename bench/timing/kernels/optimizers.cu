// Losses and steps of training: cross entropy, momentum, clipping by the norm, moving averages, one-hot rows, masks.
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

__global__ void cross_entropy(const float* logits, const int* labels, float* losses, float* gradient, int classes) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  float best = -1e30f, sum = 0;
  for (int c = lane; c < classes; c += 32) best = fmaxf(best, logits[row * classes + c]);
  for (int d = 16; d; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
  for (int c = lane; c < classes; c += 32) sum += __expf(logits[row * classes + c] - best);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  const int label = labels[row];
  for (int c = lane; c < classes; c += 32) gradient[row * classes + c] = __expf(logits[row * classes + c] - best) / sum - (c == label);
  if (lane == 0) losses[row] = __logf(sum) + best - logits[row * classes + label];
}

__global__ void momentum(float* weights, float* velocity, const float* gradient, float rate, float decay, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (i >= n) return;
  float2 w = *(float2*)&weights[i], v = *(float2*)&velocity[i], g = *(const float2*)&gradient[i];
  v.x = 0.9f * v.x + g.x + decay * w.x;
  v.y = 0.9f * v.y + g.y + decay * w.y;
  *(float2*)&velocity[i] = v;
  *(float2*)&weights[i] = make_float2(w.x - rate * v.x, w.y - rate * v.y);
}

__global__ void squared_norm(const float* x, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum = fmaf(x[i], x[i], sum);
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void clip(float* x, const float* norm, float limit, int n) {
  float s = limit / fmaxf(sqrtf(*norm), limit);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= s;
}

__global__ void one_hot(const int* labels, unsigned char* out, int classes) {
  for (int c = threadIdx.x; c < classes; c += blockDim.x) out[blockIdx.x * classes + c] = labels[blockIdx.x] == c;
}

__global__ void causal_mask(float* scores, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / length, column = i % length;
  if (row < length && column > row) scores[i] = -INFINITY;
}

__global__ void quantize(const float4* x, char4* out, float scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  out[i] = make_char4(max(-127, min(127, __float2int_rn(v.x * scale))), max(-127, min(127, __float2int_rn(v.y * scale))),
                      max(-127, min(127, __float2int_rn(v.z * scale))), max(-127, min(127, __float2int_rn(v.w * scale))));
}

int main() {
  const int n = 3 << 19, rows = 2048, classes = 500;
  std::vector<int> labels(rows);
  for (int i = 0; i < rows; ++i) labels[i] = i * 31 % classes;
  float *a, *b, *c, *scalar;
  int* d_labels;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMalloc(&c, n * 4));
  CHECK(cudaMalloc(&scalar, rows * 4));
  CHECK(cudaMalloc(&d_labels, rows * 4));
  CHECK(cudaMemset(a, 0, n * 4));
  CHECK(cudaMemset(b, 0, n * 4));
  CHECK(cudaMemset(c, 0, n * 4));
  CHECK(cudaMemset(scalar, 0, 4));
  CHECK(cudaMemcpy(d_labels, labels.data(), rows * 4, cudaMemcpyHostToDevice));
  THRICE cross_entropy<<<rows / 4, 128>>>(a, d_labels, scalar, b, classes);
  THRICE momentum<<<n / 2 / 256, 256>>>(a, b, c, 0.01f, 0.0001f, n);
  THRICE {
    squared_norm<<<396, 256>>>(c, scalar, n);
    clip<<<396, 256>>>(c, scalar, 1.0f, n);
  }
  THRICE one_hot<<<rows, 64>>>(d_labels, (unsigned char*)a, classes);
  THRICE causal_mask<<<1024, 1024>>>(b, 1024);
  THRICE quantize<<<n / 4 / 128, 128>>>((float4*)b, (char4*)c, 20.0f, n / 4);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
