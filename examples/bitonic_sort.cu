// bitonic_sort: a sorting network: in shared memory while the distance fits a block, in global memory beyond.
// Look at the direction bit: runs alternate between rising and falling so that two neighbours form a bitonic sequence.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kBlock = 256;

__device__ void compare_exchange(float& a, float& b, bool rising) {
  if ((a > b) == rising) {
    float t = a;
    a = b;
    b = t;
  }
}

__global__ void sort_in_shared(float* data) {
  __shared__ float tile[2 * kBlock];
  int base = blockIdx.x * 2 * kBlock, t = threadIdx.x;
  tile[t] = data[base + t];
  tile[t + kBlock] = data[base + t + kBlock];
  for (int size = 2; size <= 2 * kBlock; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      int low = 2 * t - (t & (distance - 1));
      compare_exchange(tile[low], tile[low + distance], ((base + low) & size) == 0);
    }
  }
  __syncthreads();
  data[base + t] = tile[t];
  data[base + t + kBlock] = tile[t + kBlock];
}

__global__ void step_in_global(float* data, int size, int distance) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, low = 2 * t - (t & (distance - 1));
  compare_exchange(data[low], data[low + distance], (low & size) == 0);
}

__global__ void steps_in_shared(float* data, int size) {
  __shared__ float tile[2 * kBlock];
  int base = blockIdx.x * 2 * kBlock, t = threadIdx.x;
  tile[t] = data[base + t];
  tile[t + kBlock] = data[base + t + kBlock];
  bool rising = (base & size) == 0;
  for (int distance = kBlock; distance > 0; distance /= 2) {
    __syncthreads();
    int low = 2 * t - (t & (distance - 1));
    compare_exchange(tile[low], tile[low + distance], rising);
  }
  __syncthreads();
  data[base + t] = tile[t];
  data[base + t + kBlock] = tile[t + kBlock];
}

int main(int argc, char** argv) {
  int n = 2 * kBlock;
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 16384;
  while (n < wanted) n *= 2;
  std::vector<float> keys(n), sorted(n);
  unsigned state = 99;
  for (float& key : keys) {
    state = state * 1103515245u + 12345u;
    key = (float)(int)(state >> 8) / 1000.0f - 8000.0f;
  }
  float* d_keys;
  CHECK(cudaMalloc(&d_keys, n * sizeof(float)));
  CHECK(cudaMemcpy(d_keys, keys.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  sort_in_shared<<<n / (2 * kBlock), kBlock>>>(d_keys);
  int launches = 1;
  for (int size = 4 * kBlock; size <= n; size *= 2) {
    for (int distance = size / 2; distance > kBlock; distance /= 2, ++launches)
      step_in_global<<<n / (2 * kBlock), kBlock>>>(d_keys, size, distance);
    steps_in_shared<<<n / (2 * kBlock), kBlock>>>(d_keys, size);
    ++launches;
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sorted.data(), d_keys, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_keys));
  std::sort(keys.begin(), keys.end());
  bool ok = sorted == keys;
  std::printf("bitonic_sort: %d keys in %d launches, from %.3f to %.3f, %s\n", n, launches, sorted.front(),
              sorted.back(), ok ? "sorted" : "FAILED");
  return ok ? 0 : 1;
}
