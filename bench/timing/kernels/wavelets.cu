// Haar and Daubechies wavelets, 8x8 cosine transforms, Walsh-Hadamard transforms, run lengths.
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

__global__ void haar(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  float2 v = ((const float2*)in)[i];
  out[i] = (v.x + v.y) * 0.70710678f;
  out[n / 2 + i] = (v.x - v.y) * 0.70710678f;
}

__global__ void haar_in_shared(const float* in, float* out) {
  __shared__ float s[1024];
  const int t = threadIdx.x, base = blockIdx.x * 1024;
  s[t] = in[base + t];
  s[t + 512] = in[base + t + 512];
  for (int half = 512; half > 0; half /= 2) {
    __syncthreads();
    float a = 0, b = 0;
    if (t < half) {
      a = s[2 * t];
      b = s[2 * t + 1];
    }
    __syncthreads();
    if (t < half) {
      s[t] = (a + b) * 0.5f;
      out[base + half + t] = (a - b) * 0.5f;
    }
  }
  if (t == 0) out[base] = s[0];
}

__global__ void daubechies(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  float a = in[2 * i], b = in[2 * i + 1], c = in[(2 * i + 2) % n], d = in[(2 * i + 3) % n];
  out[i] = 0.4829629f * a + 0.8365163f * b + 0.2241439f * c - 0.1294095f * d;
  out[n / 2 + i] = -0.1294095f * a - 0.2241439f * b + 0.8365163f * c - 0.4829629f * d;
}

__constant__ float cosines[64];

__global__ void cosine_tiles(const float* in, float* out, int width) {
  __shared__ float tile[4][8][9], half[4][8][9];
  const int t = threadIdx.x, x = t % 8, y = t / 8, z = threadIdx.y;
  const int at = (blockIdx.y * 8 + y) * width + (blockIdx.x * 4 + z) * 8 + x;
  tile[z][y][x] = in[at];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += cosines[x * 8 + k] * tile[z][y][k];
  half[z][y][x] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += cosines[y * 8 + k] * half[z][k][x];
  out[at] = sum;
}

__global__ void walsh(float* data) {
  float v = data[blockIdx.x * blockDim.x + threadIdx.x];
  __shared__ float s[256];
  for (int d = 1; d < 32; d *= 2) {
    float o = __shfl_xor_sync(0xffffffff, v, d);
    v = threadIdx.x & d ? o - v : v + o;
  }
  for (int d = 32; d < 256; d *= 2) {
    s[threadIdx.x] = v;
    __syncthreads();
    float o = s[threadIdx.x ^ d];
    v = threadIdx.x & d ? o - v : v + o;
    __syncthreads();
  }
  data[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

int main() {
  const int n = 1 << 20;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 255;
  float table[64];
  for (int i = 0; i < 64; ++i) table[i] = 0.1f * (i % 9) - 0.3f;
  CHECK(cudaMemcpyToSymbol(cosines, table, sizeof table));
  float *a, *b;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMemcpy(a, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE haar<<<n / 2 / 256, 256>>>(a, b, n);
  THRICE haar_in_shared<<<n / 1024, 512>>>(a, b);
  THRICE daubechies<<<n / 2 / 128, 128>>>(a, b, n);
  THRICE cosine_tiles<<<dim3(1024 / 32, 1024 / 8), dim3(64, 4)>>>(a, b, 1024);
  THRICE walsh<<<n / 256, 256>>>(a);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
