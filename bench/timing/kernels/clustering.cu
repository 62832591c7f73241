// k-means: assignment with centres in shared memory and in constant memory, sums by atomics and by blocks.
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

const int kClusters = 16, kDimensions = 4;
__constant__ float fixed_centres[kClusters * kDimensions];

__global__ void assign(const float* points, const float* centres, int* label, int n) {
  __shared__ float c[kClusters * kDimensions];
  if (threadIdx.x < kClusters * kDimensions) c[threadIdx.x] = centres[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float best = 1e30f;
  int which = 0;
  for (int k = 0; k < kClusters; ++k) {
    float sum = 0;
#pragma unroll
    for (int d = 0; d < kDimensions; ++d) {
      float x = points[d * n + i] - c[k * kDimensions + d];
      sum += x * x;
    }
    if (sum < best) {
      best = sum;
      which = k;
    }
  }
  label[i] = which;
}

__global__ void assign_constant(const float4* points, int* label, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = points[i];
  float best = 1e30f;
  int which = 0;
#pragma unroll
  for (int k = 0; k < kClusters; ++k) {
    float x = p.x - fixed_centres[4 * k], y = p.y - fixed_centres[4 * k + 1], z = p.z - fixed_centres[4 * k + 2], w = p.w - fixed_centres[4 * k + 3];
    float sum = x * x + y * y + z * z + w * w;
    which = sum < best ? k : which;
    best = fminf(best, sum);
  }
  label[i] = which;
}

__global__ void sums_global(const float* points, const int* label, float* sums, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k = label[i];
  for (int d = 0; d < kDimensions; ++d) atomicAdd(&sums[k * kDimensions + d], points[d * n + i]);
  atomicAdd(&counts[k], 1);
}

__global__ void sums_shared(const float* points, const int* label, float* sums, int* counts, int n) {
  __shared__ float s[kClusters * kDimensions];
  __shared__ int c[kClusters];
  if (threadIdx.x < kClusters * kDimensions) s[threadIdx.x] = 0;
  if (threadIdx.x < kClusters) c[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int k = label[i];
    for (int d = 0; d < kDimensions; ++d) atomicAdd(&s[k * kDimensions + d], points[d * n + i]);
    atomicAdd(&c[k], 1);
  }
  __syncthreads();
  if (threadIdx.x < kClusters * kDimensions) atomicAdd(&sums[threadIdx.x], s[threadIdx.x]);
  if (threadIdx.x < kClusters) atomicAdd(&counts[threadIdx.x], c[threadIdx.x]);
}

__global__ void divide(float* centres, const float* sums, const int* counts) {
  int i = threadIdx.x;
  centres[i] = sums[i] / max(counts[i / kDimensions], 1);
}

int main() {
  const int n = 1 << 17;
  std::vector<float> host(n * kDimensions);
  for (size_t i = 0; i < host.size(); ++i) host[i] = (i * 2654435761u % 1000) * 0.001f;
  float *points, *centres, *sums;
  int *label, *counts;
  CHECK(cudaMalloc(&points, host.size() * 4));
  CHECK(cudaMalloc(&centres, 1024));
  CHECK(cudaMalloc(&sums, 1024));
  CHECK(cudaMalloc(&label, n * 4));
  CHECK(cudaMalloc(&counts, 1024));
  CHECK(cudaMemcpy(points, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(centres, host.data(), 256, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(fixed_centres, host.data(), 256));
  CHECK(cudaMemset(sums, 0, 1024));
  CHECK(cudaMemset(counts, 0, 1024));
  THRICE {
    assign<<<n / 256, 256>>>(points, centres, label, n);
    sums_shared<<<132, 256>>>(points, label, sums, counts, n);
    divide<<<1, 64>>>(centres, sums, counts);
  }
  THRICE assign_constant<<<n / 128, 128>>>((float4*)points, label, n);
  THRICE sums_global<<<n / 4 / 256, 256>>>(points, label, sums, counts, n / 4);
  CHECK(cudaMemcpy(host.data(), centres, 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[0]);
  return 0;
}
