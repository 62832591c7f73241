// Shared memory by stride: words, doubles, vectors, columns with and without padding, a table looked up at random.
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

template <class T>
__global__ void strided(T* out, int stride, int rounds) {
  __shared__ T s[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = T(i);
  __syncthreads();
  int at = threadIdx.x * stride % 4096;
  T sum = 0;
  for (int r = 0; r < rounds; ++r) {
    sum += s[at];
    at = (at + stride * 32) % 4096;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int Pad>
__global__ void columns(float* out, int rounds) {
  __shared__ float s[32][32 + Pad];
  const int x = threadIdx.x, y = threadIdx.y;
  s[y][x] = x + y;
  __syncthreads();
  float v = 0;
  for (int r = 0; r < rounds; ++r) {
    v += s[x][(y + r) % 32];
    __syncthreads();
    s[(x + r) % 32][y] = v;
    __syncthreads();
  }
  out[(blockIdx.x * 32 + y) * 32 + x] = v;
}

__global__ void random_table(const unsigned* in, unsigned* out, int rounds) {
  __shared__ unsigned s[2048];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) s[i] = in[i];
  __syncthreads();
  unsigned v = threadIdx.x;
  for (int r = 0; r < rounds; ++r) v = s[v & 2047] ^ v >> 3;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void vectors(float4* out, int rounds) {
  __shared__ float4 s[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = make_float4(i, 1, 2, 3);
  __syncthreads();
  float4 sum = make_float4(0, 0, 0, 0);
  for (int r = 0; r < rounds; ++r) {
    float4 v = s[(threadIdx.x + r * 7) & 1023];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  float* out;
  unsigned* in;
  CHECK(cudaMalloc(&out, 1 << 21));
  CHECK(cudaMalloc(&in, 8192));
  std::vector<unsigned> host(2048);
  for (unsigned i = 0; i < 2048; ++i) host[i] = i * 2654435761u >> 5;
  CHECK(cudaMemcpy(in, host.data(), 8192, cudaMemcpyHostToDevice));
  for (int stride : {1, 2, 8, 32, 33}) THRICE strided<float><<<132, 256>>>(out, stride, 100);
  for (int stride : {1, 16}) THRICE strided<double><<<132, 256>>>((double*)out, stride, 100);
  THRICE columns<0><<<132, dim3(32, 32)>>>(out, 20);
  THRICE columns<1><<<132, dim3(32, 32)>>>(out, 20);
  THRICE random_table<<<264, 256>>>(in, (unsigned*)out, 100);
  THRICE vectors<<<132, 256>>>((float4*)out, 100);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
