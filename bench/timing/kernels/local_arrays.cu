// Arrays indexed at run time, which live in local memory: small sorts, stacks, queues, histograms of a thread.
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

__global__ void small_sort(const float* in, float* out, int count) {
  float v[32];
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = 0; i < count; ++i) v[i] = in[i * threads + thread];
  for (int i = 1; i < count; ++i) {
    float key = v[i];
    int j = i - 1;
    while (j >= 0 && v[j] > key) {
      v[j + 1] = v[j];
      --j;
    }
    v[j + 1] = key;
  }
  for (int i = 0; i < count; ++i) out[i * threads + thread] = v[i];
}

__global__ void histogram_of_thread(const unsigned char* in, int* out, int each) {
  int counts[16] = {};
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = 0; i < each; ++i) ++counts[in[i * threads + thread] & 15];
  int best = 0;
  for (int i = 1; i < 16; ++i)
    if (counts[i] > counts[best]) best = i;
  out[thread] = best;
}

__global__ void tree_depth(const int2* children, int* out, int nodes) {
  int stack[24], depth[24], top = 0, deepest = 0;
  stack[0] = (blockIdx.x * blockDim.x + threadIdx.x) % (nodes / 2);
  depth[0] = 0;
  while (top >= 0) {
    int node = stack[top], d = depth[top];
    --top;
    deepest = max(deepest, d);
    if (d >= 8) continue;
    int2 c = children[node];
    if (c.x >= 0) {
      stack[++top] = c.x;
      depth[top] = d + 1;
    }
    if (c.y >= 0) {
      stack[++top] = c.y;
      depth[top] = d + 1;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = deepest;
}

__global__ void permuted(const int* order, float* out, int rounds) {
  float v[16];
  for (int i = 0; i < 16; ++i) v[i] = threadIdx.x + i;
  for (int r = 0; r < rounds; ++r) {
    int a = order[r % 64] & 15, b = order[(r + 7) % 64] & 15;
    v[a] = v[b] * 0.5f + 1;
  }
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += v[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  const int n = 1 << 20;
  std::vector<unsigned> host(n);
  unsigned state = 3;
  for (auto& v : host) v = ((state = state * 1664525u + 1013904223u) >> 9) | 0x3f000000u;
  unsigned *in, *out;
  int2* children;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMalloc(&children, 1 << 18));
  std::vector<int2> tree(1 << 15);
  for (int i = 0; i < 1 << 15; ++i) tree[i] = make_int2(2 * i + 1 < 1 << 15 ? 2 * i + 1 : -1, 2 * i + 2 < 1 << 15 && i % 3 ? 2 * i + 2 : -1);
  CHECK(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(children, tree.data(), tree.size() * 8, cudaMemcpyHostToDevice));
  THRICE small_sort<<<n / 32 / 128, 128>>>((float*)in, (float*)out, 32);
  THRICE small_sort<<<64, 64>>>((float*)in, (float*)out, 12);
  THRICE histogram_of_thread<<<128, 256>>>((unsigned char*)in, (int*)out, 64);
  THRICE tree_depth<<<32, 128>>>(children, (int*)out, 1 << 15);
  THRICE permuted<<<132, 256>>>((int*)in, (float*)out, 100);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
