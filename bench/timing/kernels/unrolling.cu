// Sums with one to eight elements a thread, by hand, by pragma, by template; loads first or in turn.
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

template <int Count>
__global__ void by_template(const float* in, float* out) {
  int first = blockIdx.x * blockDim.x * Count + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < Count; ++k) sum += in[first + k * blockDim.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void by_loop(const float* in, float* out, int count) {
  int first = blockIdx.x * blockDim.x * count + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < count; ++k) sum += in[first + k * blockDim.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void by_compiler(const float* in, float* out, int count) {
  int first = blockIdx.x * blockDim.x * count + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += in[first + k * blockDim.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void by_hand_four(const float* in, float* out, int count) {
  int first = blockIdx.x * blockDim.x * count + threadIdx.x;
  float a = 0, b = 0, c = 0, d = 0;
  for (int k = 0; k < count; k += 4) {
    a += in[first + k * blockDim.x];
    b += in[first + (k + 1) * blockDim.x];
    c += in[first + (k + 2) * blockDim.x];
    d += in[first + (k + 3) * blockDim.x];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

__global__ void contiguous(const float* in, float* out, int count) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += in[thread * count + k];
  out[thread] = sum;
}

__global__ void contiguous_vectors(const float4* in, float* out) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float4 v = in[thread * 4 + k];
    sum += v.x + v.y + v.z + v.w;
  }
  out[thread] = sum;
}

int main() {
  const int n = 1 << 22;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemset(in, 0, n * 4));
  THRICE by_template<1><<<n / 2 / 256, 256>>>(in, out);
  THRICE by_template<2><<<n / 2 / 256, 256>>>(in, out);
  THRICE by_template<4><<<n / 4 / 256, 256>>>(in, out);
  THRICE by_template<8><<<n / 8 / 256, 256>>>(in, out);
  THRICE by_template<16><<<n / 16 / 128, 128>>>(in, out);
  THRICE by_loop<<<n / 16 / 128, 128>>>(in, out, 16);
  THRICE by_compiler<<<n / 16 / 128, 128>>>(in, out, 16);
  THRICE by_hand_four<<<n / 16 / 128, 128>>>(in, out, 16);
  THRICE contiguous<<<n / 16 / 128, 128>>>(in, out, 16);
  THRICE contiguous_vectors<<<n / 16 / 128, 128>>>((float4*)in, out);
  THRICE by_compiler<<<66, 128>>>(in, out, 200);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
