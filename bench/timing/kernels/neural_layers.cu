// Layers of a convolutional network: direct convolution, columns, pooling, ReLU, a dense layer, gradients of weights.
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

__global__ void direct(const float* in, const float* weights, float* out, int channels, int filters, int size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, f = blockIdx.z;
  if (x >= size - 2 || y >= size - 2) return;
  float sum = 0;
  for (int c = 0; c < channels; ++c)
    for (int dy = 0; dy < 3; ++dy)
      for (int dx = 0; dx < 3; ++dx) sum += in[(c * size + y + dy) * size + x + dx] * weights[((f * channels + c) * 3 + dy) * 3 + dx];
  out[(f * (size - 2) + y) * (size - 2) + x] = fmaxf(sum, 0.0f);
}

__global__ void columns(const float* in, float* out, int channels, int size) {
  const int inner = size - 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * 9 * inner * inner) return;
  int pixel = i % (inner * inner), k = i / (inner * inner), c = k / 9, dy = k % 9 / 3, dx = k % 3;
  out[i] = in[(c * size + pixel / inner + dy) * size + pixel % inner + dx];
}

__global__ void max_pool(const float* in, float* out, unsigned char* choice, int channels, int size) {
  const int half = size / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * half * half) return;
  int x = i % half * 2, y = i / half % half * 2, c = i / (half * half);
  float best = -1e30f;
  int which = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float v = in[(c * size + y + k / 2) * size + x + k % 2];
    if (v > best) {
      best = v;
      which = k;
    }
  }
  out[i] = best;
  choice[i] = which;
}

__global__ void dense(const float* in, const float* weights, const float* bias, float* out, int inputs, int outputs) {
  __shared__ float x[512];
  float sum = 0;
  const int o = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k0 = 0; k0 < inputs; k0 += 512) {
    __syncthreads();
    for (int k = threadIdx.x; k < 512; k += blockDim.x) x[k] = in[blockIdx.y * inputs + k0 + k];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 512; ++k) sum += x[k] * weights[(k0 + k) * outputs + o];
  }
  out[blockIdx.y * outputs + o] = sum + bias[o];
}

__global__ void weight_gradient(const float* in, const float* gradient, float* out, int channels, int size) {
  __shared__ float partial[128];
  const int inner = size - 2, k = blockIdx.x % 9, c = blockIdx.x / 9, f = blockIdx.y;
  float sum = 0;
  for (int p = threadIdx.x; p < inner * inner; p += 128)
    sum += in[(c * size + p / inner + k / 3) * size + p % inner + k % 3] * gradient[f * inner * inner + p];
  partial[threadIdx.x] = sum;
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
  }
  if (threadIdx.x == 0) out[(f * channels + c) * 9 + k] = partial[0];
}

int main() {
  const int channels = 16, filters = 32, size = 66;
  float *in, *out, *weights;
  CHECK(cudaMalloc(&in, 1 << 23));
  CHECK(cudaMalloc(&out, 1 << 23));
  CHECK(cudaMalloc(&weights, 1 << 22));
  CHECK(cudaMemset(in, 0, 1 << 23));
  CHECK(cudaMemset(weights, 0, 1 << 22));
  THRICE direct<<<dim3(2, 8, filters), dim3(32, 8)>>>(in, weights, out, channels, filters, size);
  THRICE columns<<<(channels * 9 * 64 * 64 + 255) / 256, 256>>>(in, out, channels, size);
  THRICE max_pool<<<(128 * 32 * 32 + 127) / 128, 128>>>(in, out, (unsigned char*)weights, 128, 64);
  THRICE dense<<<dim3(4, 32), 128>>>(in, weights, weights, out, 1024, 512);
  THRICE weight_gradient<<<dim3(channels * 9, filters), 128>>>(in, in + (1 << 18), out, channels, size);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
