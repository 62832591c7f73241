// A kernel that launches others: in one stream, beside that, one that launches some itself, and behind all.
#include <cuda_runtime.h>

#include <cstdio>

// Long enough that one still runs when the next but one has been launched.
__device__ void work(float* x) {
  float v = threadIdx.x;
  for (int k = 0; k < 20000; ++k) v = v * 0.99f + 0.5f;
  x[threadIdx.x] = v;
}

__global__ void chain(float* x) { work(x); }
__global__ void inner(float* x) { work(x); }
__global__ void tail(float* x) { work(x); }
__global__ void beside(float* x) {
  if (threadIdx.x == 0) inner<<<1, 32>>>(x);
}
__global__ void parent(float* x) {
  if (threadIdx.x) return;
  tail<<<1, 32, 0, cudaStreamTailLaunch>>>(x);
  for (int k = 0; k < 3; ++k) chain<<<1, 32>>>(x + 32);
  for (int k = 0; k < 2; ++k) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    beside<<<1, 32, 0, stream>>>(x + 64 + 32 * k);
  }
}

int main() {
  float* x;
  cudaMalloc(&x, 256 * sizeof(float));
  parent<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
  return cudaGetLastError() != cudaSuccess;
}
