// Sets joined by compare-and-swap, a concurrent queue, locks of lists, work taken from a counter, unique keys.
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

__device__ int root(int* parent, int v) {
  while (true) {
    int p = ((volatile int*)parent)[v];
    if (p == v) return v;
    int g = ((volatile int*)parent)[p];
    if (p != g) atomicCAS(&parent[v], p, g);
    v = p;
  }
}

__global__ void unite(int* parent, const int2* pairs, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int a = pairs[i].x, b = pairs[i].y;
  while (true) {
    a = root(parent, a);
    b = root(parent, b);
    if (a == b) return;
    if (a < b) {
      int t = a;
      a = b;
      b = t;
    }
    if (atomicCAS(&parent[a], a, b) == a) return;
  }
}

__global__ void flatten(int* parent, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) parent[i] = root(parent, i);
}

__global__ void push_front(int* heads, int* next, const int* keys, int n, int lists) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  next[i] = atomicExch(&heads[keys[i] % lists], i);
}

__global__ void take_work(int* counter, const int* sizes, float* out, int jobs) {
  __shared__ int job;
  while (true) {
    if (threadIdx.x == 0) job = atomicAdd(counter, 1);
    __syncthreads();
    int own = job;
    __syncthreads();
    if (own >= jobs) return;
    float v = threadIdx.x;
    for (int i = 0; i < (sizes[own] & 127); ++i) v = v * 0.99f + 0.5f;
    out[own * blockDim.x + threadIdx.x] = v;
  }
}

__global__ void with_locks(int* locks, float* values, const int* keys, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (threadIdx.x % 32 || i >= n) return;
  int k = keys[i] & 255;
  while (atomicCAS(&locks[k], 0, 1) != 0) {
  }
  __threadfence();
  volatile float* v = &values[k];
  *v = *v * 0.5f + 1;
  __threadfence();
  atomicExch(&locks[k], 0);
}

int main() {
  const int n = 1 << 17;
  std::vector<int2> pairs(n);
  std::vector<int> self(n);
  for (int i = 0; i < n; ++i) {
    pairs[i] = make_int2(int(i * 2654435761u >> 15), int((i + 7) * 40503u % n));
    self[i] = i;
  }
  int2* d_pairs;
  int *parent, *heads, *counter;
  float* out;
  CHECK(cudaMalloc(&d_pairs, n * 8));
  CHECK(cudaMalloc(&parent, n * 4));
  CHECK(cudaMalloc(&heads, n * 4));
  CHECK(cudaMalloc(&counter, 4096));
  CHECK(cudaMalloc(&out, 1 << 22));
  CHECK(cudaMemcpy(d_pairs, pairs.data(), n * 8, cudaMemcpyHostToDevice));
  THRICE {
    CHECK(cudaMemcpy(parent, self.data(), n * 4, cudaMemcpyHostToDevice));
    unite<<<n / 2 / 256, 256>>>(parent, d_pairs, n / 2);
    flatten<<<n / 256, 256>>>(parent, n);
  }
  CHECK(cudaMemset(heads, -1, n * 4));
  THRICE push_front<<<n / 256, 256>>>(heads, parent, (int*)d_pairs, n, 1000);
  THRICE {
    CHECK(cudaMemset(counter, 0, 4096));
    take_work<<<264, 128>>>(counter, (int*)d_pairs, out, 4096);
  }
  CHECK(cudaMemset(counter, 0, 4096));
  THRICE with_locks<<<64, 256>>>(counter, out, (int*)d_pairs, 512);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
