// Level-one linear algebra on vectors of eight million floats.
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

__global__ void axpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

__global__ void scale(int n, float a, float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}

__global__ void dot(int n, const float* x, const float* y, float* result) {
  __shared__ float cache[256];
  int tid = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
  cache[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) cache[tid] += cache[tid + s];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(result, cache[0]);
}

__global__ void norm_squared(int n, const float4* x, float* result) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if ((threadIdx.x & 31) == 0) atomicAdd(result, sum);
}

__global__ void index_of_max(int n, const float* x, float* best, int* where) {
  __shared__ float values[512];
  __shared__ int places[512];
  float value = -1e30f;
  int place = 0;
  for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512)
    if (fabsf(x[i]) > value) {
      value = fabsf(x[i]);
      place = i;
    }
  values[threadIdx.x] = value;
  places[threadIdx.x] = place;
  __syncthreads();
  for (int s = 256; s > 0; s /= 2) {
    if (threadIdx.x < s && values[threadIdx.x + s] > values[threadIdx.x]) {
      values[threadIdx.x] = values[threadIdx.x + s];
      places[threadIdx.x] = places[threadIdx.x + s];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    best[blockIdx.x] = values[0];
    where[blockIdx.x] = places[0];
  }
}

int main() {
  const int n = 8 << 20;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(i * 37 % 1001) * 0.001f;
  float *x, *y, *r;
  int* where;
  CHECK(cudaMalloc(&x, n * 4));
  CHECK(cudaMalloc(&y, n * 4));
  CHECK(cudaMalloc(&r, 4096 * 4));
  CHECK(cudaMalloc(&where, 4096 * 4));
  CHECK(cudaMemcpy(x, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(y, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(r, 0, 4096 * 4));
  THRICE axpy<<<1024, 256>>>(n, 0.5f, x, y);
  THRICE scale<<<(n + 255) / 256, 256>>>(n, 0.99f, x);
  THRICE dot<<<512, 256>>>(n, x, y, r);
  THRICE norm_squared<<<264, 512>>>(n, reinterpret_cast<float4*>(x), r + 1);
  THRICE index_of_max<<<256, 512>>>(n, x, r + 2, where);
  float one;
  CHECK(cudaMemcpy(&one, r, 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", one);
  return 0;
}
