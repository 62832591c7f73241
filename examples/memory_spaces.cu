// memory_spaces: one kernel that uses registers, local, shared, constant and global memory.
// Look at which variables the host can reach: __device__ and __constant__ ones, by symbol; the others live and die
// with a thread or a block.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kThreads = 64;

__device__ float bias;          // global memory, one for the whole program
__device__ int launches = 40;   // with a start value
__device__ float* buffer;       // a pointer that itself lives on the device
__constant__ float weights[8];  // read-only for kernels
__constant__ int shape[2] = {3, 5};

__global__ void mix(const int* order) {
  __shared__ float exchange[kThreads];  // one copy per block
  float scratch[8];                     // per thread; the unknown index below sends it to local memory
  int id = threadIdx.x;                 // a register

  for (int k = 0; k < 8; ++k) scratch[k] = weights[k] * (id + k);
  exchange[id] = scratch[order[id] & 7];
  __syncthreads();
  buffer[id] = exchange[kThreads - 1 - id] + bias + shape[0] * shape[1];
  __syncthreads();  // nobody may change bias while others still read it
  if (id == 0) {
    launches += 1;
    bias += 2.0f;
  }
}

int main() {
  float h_weights[8], back[8], value = 3.25f, out[kThreads];
  int h_order[kThreads], count = 0;
  for (int k = 0; k < 8; ++k) h_weights[k] = 0.5f * (k + 1);
  for (int i = 0; i < kThreads; ++i) h_order[i] = (i * 5 + 3) % 11;

  CHECK(cudaMemcpyToSymbol(bias, &value, sizeof value));
  CHECK(cudaMemcpyToSymbol(weights, h_weights, 4 * sizeof(float)));
  CHECK(cudaMemcpyToSymbol(weights, h_weights + 4, 4 * sizeof(float), 4 * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyFromSymbol(back, weights, sizeof back));
  bool same = std::memcmp(back, h_weights, sizeof back) == 0;

  // The pointer variable gets its value the same way: copy the pointer, not what it points to.
  float* d_out;
  int* d_order;
  CHECK(cudaMalloc(&d_out, sizeof out));
  CHECK(cudaMalloc(&d_order, sizeof h_order));
  CHECK(cudaMemcpyToSymbol(buffer, &d_out, sizeof d_out));
  CHECK(cudaMemcpy(d_order, h_order, sizeof h_order, cudaMemcpyHostToDevice));

  mix<<<1, kThreads>>>(d_order);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));

  // A symbol also has an address and a size, and the address works with plain cudaMemcpy.
  void* address = nullptr;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, bias));
  CHECK(cudaGetSymbolSize(&bytes, weights));
  CHECK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&count, launches, sizeof count));
  CHECK(cudaFree(d_out));
  CHECK(cudaFree(d_order));

  int wrong = 0;
  for (int i = 0; i < kThreads; ++i) {
    int source = kThreads - 1 - i, k = h_order[source] & 7;
    float expected = h_weights[k] * (source + k) + 3.25f + 15;
    wrong += out[i] != expected;
  }
  std::printf("bias is now %.2f, launches %d, weights take %zu bytes, %d results wrong\n", value, count, bytes, wrong);
  bool ok = same && wrong == 0 && value == 5.25f && count == 41 && bytes == 32;
  std::printf("memory_spaces: %s\n", ok ? "every space held what was put there" : "FAILED");
  return ok ? 0 : 1;
}
