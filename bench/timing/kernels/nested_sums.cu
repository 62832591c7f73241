// Segments of unequal length summed: a thread, a warp, a block a segment, and by a search for the segment; prefix sums of structures.
#include <cstdio>
#include <algorithm>
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

struct Moments {
  float sum, square;
  int count;
};

__device__ Moments join(Moments a, Moments b) { return {a.sum + b.sum, a.square + b.square, a.count + b.count}; }

__global__ void by_thread(const float* data, const int* starts, float* out, int segments) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= segments) return;
  float sum = 0;
  for (int i = starts[s]; i < starts[s + 1]; ++i) sum += data[i];
  out[s] = sum;
}

__global__ void by_warp(const float* data, const int* starts, float* out, int segments) {
  int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (s >= segments) return;
  float sum = 0;
  for (int i = starts[s] + lane; i < starts[s + 1]; i += 32) sum += data[i];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) out[s] = sum;
}

__global__ void by_block(const float* data, const int* starts, float* out) {
  __shared__ float part[128];
  float sum = 0;
  for (int i = starts[blockIdx.x] + threadIdx.x; i < starts[blockIdx.x + 1]; i += 128) sum += data[i];
  part[threadIdx.x] = sum;
  for (int s = 64; s; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void by_element(const float* data, const int* starts, float* out, int segments, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int low = 0, high = segments;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (starts[middle] <= i) low = middle;
    else high = middle;
  }
  atomicAdd(&out[low], data[i]);
}

__global__ void moments(const float* data, Moments* out) {
  __shared__ Moments part[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 256 + threadIdx.x;
  float v = data[i];
  Moments m = {v, v * v, v > 0.5f};
  for (int d = 1; d < 32; d *= 2) {
    Moments o = {__shfl_up_sync(~0u, m.sum, d), __shfl_up_sync(~0u, m.square, d), __shfl_up_sync(~0u, m.count, d)};
    if (lane >= d) m = join(o, m);
  }
  if (lane == 31) part[warp] = m;
  __syncthreads();
  for (int w = 0; w < warp; ++w) m = join(part[w], m);
  out[i] = m;
}

int main() {
  const int n = 1 << 20;
  std::vector<float> host(n);
  std::vector<int> starts = {0};
  for (int i = 0; i < n; ++i) host[i] = i % 10 * 0.1f;
  unsigned state = 1;
  while (starts.back() < n) {
    state = state * 1664525u + 1013904223u;
    int length = 1 + (state >> 26) + (state >> 8 & 63 ? 0 : 2000);
    starts.push_back(std::min(n, starts.back() + length));
  }
  const int segments = int(starts.size()) - 1;
  float *data, *out;
  int* d_starts;
  CHECK(cudaMalloc(&data, n * 4));
  CHECK(cudaMalloc(&out, n * sizeof(Moments)));
  CHECK(cudaMalloc(&d_starts, starts.size() * 4));
  CHECK(cudaMemcpy(data, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_starts, starts.data(), starts.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, n * 4));
  THRICE by_thread<<<(segments + 127) / 128, 128>>>(data, d_starts, out, segments);
  THRICE by_warp<<<(segments + 7) / 8, 256>>>(data, d_starts, out, segments);
  THRICE by_block<<<segments, 128>>>(data, d_starts, out);
  THRICE by_element<<<n / 256, 256>>>(data, d_starts, out, segments, n);
  THRICE moments<<<n / 256, 256>>>(data, (Moments*)out);
  CHECK(cudaDeviceSynchronize());
  std::printf("%d\n", segments);
  return 0;
}
