// Prefix sums of a block: Hillis and Steele, Blelloch with and without bank conflicts, by shuffles; and over blocks.
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

__global__ void hillis_steele(const int* in, int* out) {
  __shared__ int data[2][512];
  int t = threadIdx.x, from = 0;
  data[0][t] = in[blockIdx.x * 512 + t];
  __syncthreads();
  for (int offset = 1; offset < 512; offset *= 2) {
    data[1 - from][t] = data[from][t] + (t >= offset ? data[from][t - offset] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * 512 + t] = data[from][t];
}

template <bool Padded>
__device__ int place(int i) { return Padded ? i + i / 32 : i; }

template <bool Padded>
__global__ void blelloch(const int* in, int* out) {
  __shared__ int data[1024 + 32];
  int t = threadIdx.x, base = blockIdx.x * 1024;
  data[place<Padded>(2 * t)] = in[base + 2 * t];
  data[place<Padded>(2 * t + 1)] = in[base + 2 * t + 1];
  int offset = 1;
  for (int d = 512; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) {
      int a = place<Padded>(offset * (2 * t + 1) - 1), b = place<Padded>(offset * (2 * t + 2) - 1);
      data[b] += data[a];
    }
    offset *= 2;
  }
  if (t == 0) data[place<Padded>(1023)] = 0;
  for (int d = 1; d < 1024; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      int a = place<Padded>(offset * (2 * t + 1) - 1), b = place<Padded>(offset * (2 * t + 2) - 1);
      int v = data[a];
      data[a] = data[b];
      data[b] += v;
    }
  }
  __syncthreads();
  out[base + 2 * t] = data[place<Padded>(2 * t)];
  out[base + 2 * t + 1] = data[place<Padded>(2 * t + 1)];
}

__global__ void shuffle_scan(const int* in, int* out, int* sums) {
  __shared__ int warp_sums[32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * blockDim.x + t;
  int v = in[i];
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += other;
  }
  if (lane == 31) warp_sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = lane < blockDim.x / 32 ? warp_sums[lane] : 0;
    for (int d = 1; d < 32; d *= 2) {
      int other = __shfl_up_sync(0xffffffff, s, d);
      if (lane >= d) s += other;
    }
    warp_sums[lane] = s;
  }
  __syncthreads();
  if (warp > 0) v += warp_sums[warp - 1];
  out[i] = v;
  if (sums && t == blockDim.x - 1) sums[blockIdx.x] = v;
}

__global__ void add_sums(int* data, const int* sums) {
  if (blockIdx.x > 0) data[blockIdx.x * blockDim.x + threadIdx.x] += sums[blockIdx.x - 1];
}

int main() {
  const int n = 1 << 20;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 5;
  int *in, *out, *sums;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&sums, 1024 * sizeof(int)));
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  THRICE hillis_steele<<<n / 512, 512>>>(in, out);
  THRICE blelloch<false><<<n / 1024, 512>>>(in, out);
  THRICE blelloch<true><<<n / 1024, 512>>>(in, out);
  THRICE {
    shuffle_scan<<<n / 1024, 1024>>>(in, out, sums);
    shuffle_scan<<<1, 1024>>>(sums, sums, nullptr);
    add_sums<<<n / 1024, 1024>>>(out, sums);
  }
  CHECK(cudaMemcpy(host.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("%d\n", host[n - 1]);
  return 0;
}
