// Long chains of dependent operations in few warps: floats, integers, special functions, divisions, barriers, shuffles.
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

__global__ void multiply_adds(float* out, int rounds) {
  float v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = v * 0.999f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void four_chains(float* out, int rounds) {
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  for (int i = 0; i < rounds; ++i) {
    a = a * 0.999f + 0.5f;
    b = b * 0.999f + 0.5f;
    c = c * 0.999f + 0.5f;
    d = d * 0.999f + 0.5f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

__global__ void integers(unsigned* out, int rounds) {
  unsigned v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = (v ^ v << 13) * 1664525u + (v >> 7);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void functions(float* out, int rounds) {
  float v = threadIdx.x * 0.01f;
  for (int i = 0; i < rounds; ++i) v = __sinf(v) + __expf(-v) + rsqrtf(v * v + 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void divisions(float* out, int rounds) {
  float v = threadIdx.x + 1;
  for (int i = 0; i < rounds; ++i) v = 3.0f / (v + 1.0f) + sqrtf(v);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void barriers(int* out, int rounds) {
  __shared__ int v[256];
  v[threadIdx.x] = threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    int other = v[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    v[threadIdx.x] = other + 1;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = v[threadIdx.x];
}

__global__ void shuffles(int* out, int rounds) {
  int v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v += __shfl_xor_sync(0xffffffff, v, 1 << i % 5);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void doubles(double* out, int rounds) {
  double v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) v = v * 0.999 + 0.5;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

int main() {
  float* out;
  CHECK(cudaMalloc(&out, 1 << 20));
  THRICE multiply_adds<<<132, 32>>>(out, 5000);
  THRICE multiply_adds<<<132, 512>>>(out, 1000);
  THRICE four_chains<<<132, 128>>>(out, 1000);
  THRICE integers<<<132, 32>>>((unsigned*)out, 2000);
  THRICE functions<<<132, 64>>>(out, 500);
  THRICE divisions<<<132, 64>>>(out, 300);
  THRICE barriers<<<132, 256>>>((int*)out, 300);
  THRICE barriers<<<1, 64>>>((int*)out, 1000);
  THRICE shuffles<<<132, 128>>>((int*)out, 1000);
  THRICE doubles<<<132, 64>>>((double*)out, 1000);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
