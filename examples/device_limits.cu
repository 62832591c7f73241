// device_limits: what kernels may use that nobody allocates for them: their stack, the heap behind malloc and new, and
// the buffer behind printf. Look at the heap: its size counts until the first kernel has run, and what does not fit is null.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

// Each level keeps 64 numbers on the stack: the paths through a grid of n x n fields.
__device__ __noinline__ unsigned paths(int right, int down) {
  volatile unsigned kept[64];
  for (int k = 0; k < 64; ++k) kept[k] = right * 64 + down + k;
  if (right == 0 || down == 0) return 1;
  unsigned sum = paths(right - 1, down) + paths(right, down - 1);
  return kept[63] == unsigned(right * 64 + down + 63) ? sum : 0;
}

__global__ void count_paths(unsigned* out) { out[threadIdx.x] = paths(threadIdx.x % 7, 6); }

// How many pieces of `bytes` the heap has, which all are given back.
__global__ void fill_heap(size_t bytes, int* pieces) {
  struct Piece {
    Piece* next;
  };
  Piece* all = nullptr;
  int count = 0;
  while (Piece* p = static_cast<Piece*>(malloc(bytes))) {
    p->next = all;
    all = p;
    ++count;
  }
  while (all) {
    Piece* next = all->next;
    free(all);
    all = next;
  }
  *pieces = count;
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16 * 1024));
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
  size_t stack, heap, printed;
  CHECK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  CHECK(cudaDeviceGetLimit(&printed, cudaLimitPrintfFifoSize));
  std::printf("stack of a thread %zu KiB, heap %zu MiB, printf %zu MiB\n", stack >> 10, heap >> 20, printed >> 20);

  unsigned* d_paths;
  unsigned h_paths[32];
  CHECK(cudaMalloc(&d_paths, sizeof h_paths));
  count_paths<<<1, 32>>>(d_paths);
  CHECK(cudaMemcpy(h_paths, d_paths, sizeof h_paths, cudaMemcpyDeviceToHost));
  const unsigned binomials[] = {1, 7, 28, 84, 210, 462, 924};
  int failures = 0;
  for (int t = 0; t < 32; ++t) failures += h_paths[t] != binomials[t % 7];

  int *d_pieces, pieces;
  const size_t megabyte = 1 << 20;
  CHECK(cudaMalloc(&d_pieces, sizeof *d_pieces));
  fill_heap<<<1, 1>>>(megabyte, d_pieces);
  CHECK(cudaMemcpy(&pieces, d_pieces, sizeof pieces, cudaMemcpyDeviceToHost));
  std::printf("the heap gives %s pieces of 1 MiB\n", pieces >= 16 && pieces <= 32 ? "16 to 32" : "another number of");
  failures += pieces < 16 || pieces > 32;

  // Too late: the heap is there.
  failures += cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20) == cudaSuccess;
  cudaGetLastError();
  CHECK(cudaFree(d_paths));
  CHECK(cudaFree(d_pieces));
  std::printf("device_limits: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}
