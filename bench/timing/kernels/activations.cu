// Elementwise steps of a net in floats and halves: GELU with bias, dropout by a hash, residual sums, gates, gradients.
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

#include <cuda_fp16.h>

__global__ void gelu_bias(const float* x, const float* bias, float* y, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  float v = x[i] + bias[i % columns];
  y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

__device__ unsigned hash(unsigned v) {
  v ^= v >> 16;
  v *= 0x7feb352du;
  v ^= v >> 15;
  v *= 0x846ca68bu;
  v ^= v >> 16;
  return v;
}

__global__ void dropout_residual(const float* x, const float* residual, float* y, unsigned char* mask, int n, float p, unsigned seed) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    bool keep = hash(i ^ seed) * 2.3283064e-10f >= p;
    mask[i] = keep;
    y[i] = residual[i] + (keep ? x[i] / (1 - p) : 0.0f);
  }
}

__global__ void silu_gate(const __half2* gate, const __half2* up, __half2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 g = __half22float2(gate[i]), u = __half22float2(up[i]);
  out[i] = __floats2half2_rn(g.x / (1 + expf(-g.x)) * u.x, g.y / (1 + expf(-g.y)) * u.y);
}

__global__ void gelu_backward(const float* x, const float* dy, float* dx, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], cube = 0.044715f * v * v * v, arg = 0.7978845608f * (v + cube), t = tanhf(arg), c = coshf(arg);
  dx[i] = dy[i] * (0.5f * (1 + t) + v * 0.5f / (c * c) * 0.7978845608f * (1 + 3 * 0.044715f * v * v));
}

__global__ void to_half(const float4* x, __half2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  y[2 * i] = __floats2half2_rn(v.x, v.y);
  y[2 * i + 1] = __floats2half2_rn(v.z, v.w);
}

int main() {
  const int rows = 2048, columns = 1536, n = rows * columns;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 61 * 0.05f - 1.5f;
  float *x, *y, *z, *bias;
  __half2* halves;
  unsigned char* mask;
  CHECK(cudaMalloc(&x, n * 4));
  CHECK(cudaMalloc(&y, n * 4));
  CHECK(cudaMalloc(&z, n * 4));
  CHECK(cudaMalloc(&bias, columns * 4));
  CHECK(cudaMalloc(&halves, n * 2 * 3));
  CHECK(cudaMalloc(&mask, n));
  CHECK(cudaMemcpy(x, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(bias, host.data(), columns * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(halves, 0, n * 2 * 3));
  THRICE gelu_bias<<<n / 256, 256>>>(x, bias, y, rows, columns);
  THRICE dropout_residual<<<528, 256>>>(y, x, z, mask, n, 0.1f, 1234);
  THRICE to_half<<<n / 4 / 128, 128>>>(reinterpret_cast<float4*>(x), halves, n / 4);
  THRICE silu_gate<<<n / 2 / 256, 256>>>(halves, halves + n / 2, halves + n, n / 2);
  THRICE gelu_backward<<<n / 256, 256>>>(x, z, y, n);
  CHECK(cudaMemcpy(host.data(), y, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
