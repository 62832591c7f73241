// Halves and bfloats: axpy, dot products, conversions, a product in halves, activations, FP8 bytes.
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

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void axpy(half2 a, const half2* x, half2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

__global__ void axpy_single(half a, const half* x, half* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hadd(__hmul(a, x[i]), y[i]);
}

__global__ void dot(const half2* x, const half2* y, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float2 a = __half22float2(x[i]), b = __half22float2(y[i]);
    sum += a.x * b.x + a.y * b.y;
  }
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void to_half(const float4* in, uint2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  half2 a = __floats2half2_rn(v.x, v.y), b = __floats2half2_rn(v.z, v.w);
  out[i] = make_uint2(*(unsigned*)&a, *(unsigned*)&b);
}

__global__ void to_bfloat(const float* in, __nv_bfloat16* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2bfloat16(in[i]);
}

__global__ void product(const half* a, const half* b, half* c, int n) {
  __shared__ half sa[16][16], sb[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  half2 sum = __float2half2_rn(0);
  for (int k = 0; k < n; k += 16) {
    sa[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i += 2)
      sum = __hfma2(*(half2*)&sa[threadIdx.y][i], __halves2half2(sb[i][threadIdx.x], sb[i + 1][threadIdx.x]), sum);
    __syncthreads();
  }
  c[row * n + column] = __hadd(__low2half(sum), __high2half(sum));
}

__global__ void activation(const __nv_bfloat162* in, __nv_bfloat162* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 v = __bfloat1622float2(in[i]);
  v.x = v.x / (1 + __expf(-v.x));
  v.y = v.y / (1 + __expf(-v.y));
  out[i] = __floats2bfloat162_rn(v.x, v.y);
}

int main() {
  const int n = 1 << 21;
  half *x, *y;
  float* f;
  CHECK(cudaMalloc(&x, n * 2));
  CHECK(cudaMalloc(&y, n * 2));
  CHECK(cudaMalloc(&f, n * 4));
  CHECK(cudaMemset(x, 0, n * 2));
  CHECK(cudaMemset(y, 0, n * 2));
  CHECK(cudaMemset(f, 0, n * 4));
  THRICE axpy<<<n / 2 / 256, 256>>>(__float2half2_rn(2.0f), (half2*)x, (half2*)y, n / 2);
  THRICE axpy_single<<<n / 2 / 256, 256>>>(__float2half(2.0f), x, y, n / 2);
  THRICE dot<<<264, 256>>>((half2*)x, (half2*)y, f, n / 2);
  THRICE to_half<<<n / 4 / 256, 256>>>((float4*)f, (uint2*)x, n / 4);
  THRICE to_bfloat<<<n / 2 / 512, 512>>>(f, (__nv_bfloat16*)x, n / 2);
  THRICE product<<<dim3(16, 16), dim3(16, 16)>>>(x, y, x + (1 << 20), 256);
  THRICE activation<<<n / 2 / 128, 128>>>((__nv_bfloat162*)x, (__nv_bfloat162*)y, n / 2);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
