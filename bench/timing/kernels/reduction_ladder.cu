// The seven steps of the well-known lecture on reductions.
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

__global__ void interleaved_divergent(const int* in, int* out) {
  extern __shared__ int data[];
  unsigned t = threadIdx.x;
  data[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) data[t] += data[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void interleaved_conflicts(const int* in, int* out) {
  extern __shared__ int data[];
  unsigned t = threadIdx.x;
  data[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned index = 2 * s * t;
    if (index < blockDim.x) data[index] += data[index + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void sequential(const int* in, int* out) {
  extern __shared__ int data[];
  unsigned t = threadIdx.x;
  data[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) data[t] += data[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void first_add_on_load(const int* in, int* out) {
  extern __shared__ int data[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  data[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) data[t] += data[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__device__ void last_warp(volatile int* data, unsigned t) {
  for (int s = 32; s > 0; s >>= 1) {
    int v = data[t] + data[t + s];
    __syncwarp();
    data[t] = v;
    __syncwarp();
  }
}

__global__ void last_warp_unrolled(const int* in, int* out) {
  extern __shared__ int data[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  data[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) data[t] += data[t + s];
    __syncthreads();
  }
  if (t < 32) last_warp(data, t);
  if (t == 0) out[blockIdx.x] = data[0];
}

template <unsigned Threads>
__device__ int finish(int* data, unsigned t) {
  __syncthreads();
  if (Threads >= 512) { if (t < 256) data[t] += data[t + 256]; __syncthreads(); }
  if (Threads >= 256) { if (t < 128) data[t] += data[t + 128]; __syncthreads(); }
  if (Threads >= 128) { if (t < 64) data[t] += data[t + 64]; __syncthreads(); }
  if (t < 32) last_warp(data, t);
  return data[0];
}

template <unsigned Threads>
__global__ void completely_unrolled(const int* in, int* out) {
  extern __shared__ int data[];
  unsigned t = threadIdx.x, i = blockIdx.x * Threads * 2 + t;
  data[t] = in[i] + in[i + Threads];
  int sum = finish<Threads>(data, t);
  if (t == 0) out[blockIdx.x] = sum;
}

template <unsigned Threads>
__global__ void many_per_thread(const int* in, int* out, unsigned n) {
  extern __shared__ int data[];
  unsigned t = threadIdx.x, i = blockIdx.x * Threads * 2 + t;
  int sum = 0;
  for (; i < n; i += Threads * 2 * gridDim.x) sum += in[i] + in[i + Threads];
  data[t] = sum;
  sum = finish<Threads>(data, t);
  if (t == 0) out[blockIdx.x] = sum;
}

int main() {
  const int n = 1 << 21, threads = 256;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 7;
  int *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n / threads * sizeof(int)));
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  const int bytes = threads * sizeof(int) + 128;
  THRICE interleaved_divergent<<<n / threads, threads, bytes>>>(in, out);
  THRICE interleaved_conflicts<<<n / threads, threads, bytes>>>(in, out);
  THRICE sequential<<<n / threads, threads, bytes>>>(in, out);
  THRICE first_add_on_load<<<n / threads / 2, threads, bytes>>>(in, out);
  THRICE last_warp_unrolled<<<n / threads / 2, threads, bytes>>>(in, out);
  THRICE completely_unrolled<threads><<<n / threads / 2, threads, bytes>>>(in, out);
  THRICE many_per_thread<threads><<<264, threads, bytes>>>(in, out, n);
  int one;
  CHECK(cudaMemcpy(&one, out, sizeof one, cudaMemcpyDeviceToHost));
  std::printf("%d\n", one);
  return 0;
}
