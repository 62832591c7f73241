// Fourier transforms of radix 2: stages in global memory, 1024 points in shared memory, four points in registers, a direct sum.
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

__device__ float2 multiply(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__global__ void stage(const float2* in, float2* out, int n, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = i % half;
  float s, c;
  sincospif(-float(k) / half, &s, &c);
  float2 a = in[i], b = multiply(in[i + n / 2], make_float2(c, s));
  int to = (i - k) * 2 + k;
  out[to] = make_float2(a.x + b.x, a.y + b.y);
  out[to + half] = make_float2(a.x - b.x, a.y - b.y);
}

__global__ void in_shared(const float2* in, float2* out) {
  __shared__ float2 data[1024];
  const int t = threadIdx.x, base = blockIdx.x * 1024;
  for (int i = t; i < 1024; i += 512) data[__brev(i) >> 22] = in[base + i];
  for (int half = 1; half < 1024; half *= 2) {
    __syncthreads();
    int k = t % half, i = (t - k) * 2 + k;
    float s, c;
    __sincosf(-3.14159265f * k / half, &s, &c);
    float2 a = data[i], b = multiply(data[i + half], make_float2(c, s));
    data[i] = make_float2(a.x + b.x, a.y + b.y);
    data[i + half] = make_float2(a.x - b.x, a.y - b.y);
  }
  __syncthreads();
  for (int i = t; i < 1024; i += 512) out[base + i] = data[i];
}

__global__ void radix_four(const float2* in, float2* out, int n, int quarter) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % quarter, step = n / 4;
  float2 v[4];
  for (int j = 0; j < 4; ++j) {
    float s, c;
    sincospif(-float(j * k) / (2 * quarter), &s, &c);
    v[j] = multiply(in[i + j * step], make_float2(c, s));
  }
  float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
  float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
  int to = (i - k) * 4 + k;
  out[to] = make_float2(a.x + c.x, a.y + c.y);
  out[to + quarter] = make_float2(b.x + d.x, b.y + d.y);
  out[to + 2 * quarter] = make_float2(a.x - c.x, a.y - c.y);
  out[to + 3 * quarter] = make_float2(b.x - d.x, b.y - d.y);
}

__global__ void direct(const float2* in, float2* out, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  float2 sum = make_float2(0, 0);
  for (int j = 0; j < n; ++j) {
    float s, c;
    sincosf(-6.2831853f * (j * k % n) / n, &s, &c);
    float2 p = multiply(in[j], make_float2(c, s));
    sum.x += p.x;
    sum.y += p.y;
  }
  out[k] = sum;
}

int main() {
  const int n = 1 << 18;
  std::vector<float2> host(n);
  for (int i = 0; i < n; ++i) host[i] = make_float2(i % 64, 0);
  float2 *a, *b;
  CHECK(cudaMalloc(&a, n * 8));
  CHECK(cudaMalloc(&b, n * 8));
  CHECK(cudaMemcpy(a, host.data(), n * 8, cudaMemcpyHostToDevice));
  for (int half : {1, 16, 4096}) THRICE stage<<<n / 2 / 256, 256>>>(a, b, n, half);
  THRICE in_shared<<<n / 1024, 512>>>(a, b);
  for (int quarter : {1, 1024}) THRICE radix_four<<<n / 4 / 128, 128>>>(a, b, n, quarter);
  THRICE direct<<<16, 128>>>(a, b, 1024);
  CHECK(cudaMemcpy(host.data(), b, n * 8, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[0].x);
  return 0;
}
