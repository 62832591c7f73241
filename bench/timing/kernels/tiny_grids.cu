// Next to nothing: empty kernels of many shapes, one warp, one block, one thread.
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

__global__ void empty() {}

__global__ void one_store(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void one_thread_sum(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

__global__ void one_warp_scan(int* data) {
  int v = data[threadIdx.x];
  for (int d = 1; d < 32; d *= 2) {
    int o = __shfl_up_sync(0xffffffff, v, d);
    if (threadIdx.x >= d) v += o;
  }
  data[threadIdx.x] = v;
}

int main() {
  int* data;
  CHECK(cudaMalloc(&data, 1 << 22));
  CHECK(cudaMemset(data, 0, 1 << 22));
  for (int blocks : {1, 132, 1000, 5000, 20000}) THRICE empty<<<blocks, 32>>>();
  for (int blocks : {132, 1000, 5000}) THRICE empty<<<blocks, 256>>>();
  for (int blocks : {132, 1000, 5000}) THRICE empty<<<blocks, 1024>>>();
  THRICE one_store<<<1, 32>>>(data);
  THRICE one_store<<<4096, 32>>>(data);
  THRICE one_store<<<1024, 1024>>>(data);
  THRICE one_thread_sum<<<1, 1>>>(data, data + 10000, 1000);
  THRICE one_warp_scan<<<1, 32>>>(data);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
