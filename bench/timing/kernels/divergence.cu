// Branches: by lane, by warp, nested, loops of different length in a warp, early exits, both sides heavy.
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

__device__ float heavy(float x, int rounds) {
  for (int i = 0; i < rounds; ++i) x = x * 0.99f + __sinf(x);
  return x;
}

__global__ void by_lane(float* out, int modulus, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i * 0.001f;
  if (i % modulus == 0) x = heavy(x, rounds);
  else x = heavy(x + 1, rounds) * 2;
  out[i] = x;
}

__global__ void by_warp(float* out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i * 0.001f;
  if (i / 32 % 2 == 0) x = heavy(x, rounds);
  else x = heavy(x + 1, rounds) * 2;
  out[i] = x;
}

__global__ void lengths(float* out, int spread) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = heavy(i * 0.001f, 10 + i * 2654435761u % spread);
}

__global__ void early_exit(const int* flags, float* out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (flags[i]) return;
  out[i] = heavy(i * 0.001f, rounds);
}

__global__ void nested(float* out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i * 0.001f;
  if (i & 1) {
    x = heavy(x, rounds);
    if (i & 2) {
      x += heavy(x, rounds);
      if (i & 4) x *= heavy(x, rounds);
    } else {
      x -= heavy(x, rounds);
    }
  } else if (i & 8) {
    x = heavy(x, 2 * rounds);
  }
  out[i] = x;
}

__global__ void clamp_all(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  if (v < 0) v = -v;
  if (v > 10) v = 10;
  if (v > 5 && v < 7) v = v * v;
  else if (v >= 7) v = sqrtf(v);
  out[i] = v;
}

int main() {
  const int n = 1 << 18;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 2654435761u >> 30 != 0;
  int* flags;
  float* out;
  CHECK(cudaMalloc(&flags, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemcpy(flags, host.data(), n * 4, cudaMemcpyHostToDevice));
  for (int modulus : {1, 2, 32}) THRICE by_lane<<<264, 256>>>(out, modulus, 40);
  THRICE by_warp<<<264, 256>>>(out, 40);
  for (int spread : {2, 100}) THRICE lengths<<<264, 256>>>(out, spread);
  THRICE early_exit<<<1024, 256>>>(flags, out, 20);
  THRICE nested<<<264, 256>>>(out, 20);
  THRICE clamp_all<<<n / 256, 256>>>((float*)flags, out, n);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
