// fences: a sum over the whole grid in one launch. Every block leaves its part, and whichever block comes last adds up.
// Look at __threadfence between the write and the ticket: whoever sees the ticket must also see the write. `volatile`
// makes the last block read memory and not what it may remember.
#include <cuda_runtime.h>

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

constexpr int kThreads = 128;

__device__ unsigned blocks_done = 0;

__device__ int block_sum(int value) {
  __shared__ int partial[kThreads];
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int s = kThreads / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  int sum = partial[0];
  __syncthreads();
  return sum;
}

__global__ void grid_sum(const int* in, int n, volatile int* partial, int* out) {
  __shared__ bool last;
  int value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) value += in[i];
  int mine = block_sum(value);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;  // wraps to 0: ready for the next launch
  }
  __syncthreads();
  if (!last) return;
  value = 0;
  for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) value += partial[b];
  int total = block_sum(value);
  if (threadIdx.x == 0) *out = total;
}

// The three scopes of a fence side by side: own block, own device, host and other devices too.
__global__ void publish(int* shared_with_host, int* device_words) {
  __shared__ volatile int word, ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    word = 17;
    __threadfence_block();
    ready = 1;
  }
  if (threadIdx.x == 0) {
    while (ready == 0) {
    }
    device_words[0] = word;
    __threadfence();
    device_words[1] = 1;
    shared_with_host[0] = 18;
    __threadfence_system();
    shared_with_host[1] = 1;
  }
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 200000, blocks = 40;
  std::vector<int> in(n);
  int expected = 0, failures = 0;
  for (int i = 0; i < n; ++i) expected += in[i] = i % 23 - 9;
  int *d_in, *d_partial, *d_out;
  CHECK(cudaMalloc(&d_in, n * sizeof(int)));
  CHECK(cudaMalloc(&d_partial, blocks * sizeof(int)));
  CHECK(cudaMalloc(&d_out, sizeof(int)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  for (int round = 0; round < 3; ++round) {
    int sum = 0;
    CHECK(cudaMemset(d_out, 0, sizeof(int)));
    grid_sum<<<blocks, kThreads>>>(d_in, n, d_partial, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&sum, d_out, sizeof sum, cudaMemcpyDeviceToHost));
    std::printf("launch %d: sum %d%s\n", round, sum, sum == expected ? "" : "  WRONG");
    failures += sum != expected;
  }

  int *mapped, words[2] = {};
  CHECK(cudaHostAlloc(&mapped, 2 * sizeof(int), cudaHostAllocMapped));
  mapped[0] = mapped[1] = 0;
  CHECK(cudaMemset(d_partial, 0, 2 * sizeof(int)));
  publish<<<1, 64>>>(mapped, d_partial);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(words, d_partial, sizeof words, cudaMemcpyDeviceToHost));
  failures += words[0] != 17 || words[1] != 1 || mapped[0] != 18 || mapped[1] != 1;
  CHECK(cudaFreeHost(mapped));
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_partial));
  CHECK(cudaFree(d_out));
  std::printf("fences: %s\n", failures ? "FAILED" : "the last block saw everything");
  return failures != 0;
}
