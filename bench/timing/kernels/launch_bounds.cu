// One kernel with several launch bounds: registers against occupancy, with and without spills.
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

__device__ void body(const float* in, float* out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[24];
#pragma unroll
  for (int k = 0; k < 24; ++k) v[k] = in[(i + k * stride) % n];
#pragma unroll
  for (int round = 0; round < 4; ++round)
#pragma unroll
    for (int k = 0; k < 24; ++k) v[k] = fmaf(v[k], v[(k + 5 + round) % 24], v[(k + 11) % 24]);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 24; ++k) sum += v[k] * v[23 - k];
  out[i] = sum;
}

__global__ void without(const float* in, float* out, int n, int stride) { body(in, out, n, stride); }
__global__ void __launch_bounds__(256) with_256(const float* in, float* out, int n, int stride) { body(in, out, n, stride); }
__global__ void __launch_bounds__(256, 8) with_256_8(const float* in, float* out, int n, int stride) { body(in, out, n, stride); }
__global__ void __launch_bounds__(1024, 2) with_1024_2(const float* in, float* out, int n, int stride) { body(in, out, n, stride); }
__global__ void __launch_bounds__(128, 16) with_128_16(const float* in, float* out, int n, int stride) { body(in, out, n, stride); }

int main() {
  const int n = 1 << 19;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 100 * 0.01f;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE without<<<n / 256, 256>>>(in, out, n, 4096);
  THRICE with_256<<<n / 256, 256>>>(in, out, n, 4096);
  THRICE with_256_8<<<n / 256, 256>>>(in, out, n, 4096);
  THRICE with_1024_2<<<n / 1024, 1024>>>(in, out, n, 4096);
  THRICE with_128_16<<<n / 128, 128>>>(in, out, n, 33);
  CHECK(cudaMemcpy(host.data(), out, 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[0]);
  return 0;
}
