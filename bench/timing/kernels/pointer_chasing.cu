// Lists followed by one thread and by many, in sets that fit into the first cache, the second, and neither.
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

__global__ void follow(const unsigned* next, unsigned* out, int steps, unsigned stride, unsigned mask) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * stride & mask;
  for (int i = 0; i < steps; ++i) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

struct Node {
  Node* next;
  int value;
  int padding[13];
};

__global__ void sum_list(const Node* first, int* out, int steps) {
  const Node* node = first + threadIdx.x;
  int sum = 0;
  for (int i = 0; i < steps; ++i) {
    sum += node->value;
    node = node->next;
  }
  out[threadIdx.x] = sum;
}

__global__ void shared_chase(unsigned* out, int steps) {
  __shared__ unsigned next[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (i * 5 + 7) % 1024;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (int i = 0; i < steps; ++i) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

__global__ void tree_search(const int* keys, const int* wanted, int* found, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int low = 0, high = n, key = wanted[i];
  while (low < high) {
    int middle = (low + high) / 2;
    if (keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  found[i] = low;
}

int main() {
  const unsigned n = 1 << 24;
  std::vector<unsigned> host(n);
  for (unsigned i = 0; i < n; ++i) host[i] = (i * 1664525u + 1013904223u) & (n - 1);
  unsigned *next, *out;
  CHECK(cudaMalloc(&next, size_t(n) * 4));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemcpy(next, host.data(), size_t(n) * 4, cudaMemcpyHostToDevice));
  THRICE follow<<<1, 1>>>(next, out, 200, 1, n - 1);
  THRICE follow<<<132, 32>>>(next, out, 100, 1, n - 1);
  THRICE follow<<<264, 256>>>(next, out, 20, 977, n - 1);
  for (unsigned i = 0; i < n; ++i) host[i] = (i & ~4095u) | ((i * 5 + 33) & 4095);
  CHECK(cudaMemcpy(next, host.data(), size_t(n) * 4, cudaMemcpyHostToDevice));
  THRICE follow<<<1, 1>>>(next, out, 500, 1, n - 1);
  THRICE follow<<<132, 128>>>(next, out, 100, 1, 4095);
  std::vector<Node> nodes(1 << 14);
  Node* list;
  CHECK(cudaMalloc(&list, nodes.size() * sizeof(Node)));
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = {list + (i * 5 + 3) % nodes.size(), int(i), {}};
  CHECK(cudaMemcpy(list, nodes.data(), nodes.size() * sizeof(Node), cudaMemcpyHostToDevice));
  THRICE sum_list<<<1, 32>>>(list, (int*)out, 300);
  THRICE shared_chase<<<132, 64>>>(out, 400);
  std::vector<int> keys(1 << 20);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = int(2 * i);
  CHECK(cudaMemcpy(next, keys.data(), keys.size() * 4, cudaMemcpyHostToDevice));
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = int(i * 2654435761u >> 11);
  CHECK(cudaMemcpy(next + (1 << 20), keys.data(), keys.size() * 4, cudaMemcpyHostToDevice));
  THRICE tree_search<<<(1 << 18) / 256, 256>>>((int*)next, (int*)next + (1 << 20), (int*)out, 1 << 20, 1 << 18);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
