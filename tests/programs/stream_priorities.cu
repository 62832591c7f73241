// A small kernel of a stream with a high priority overtakes what is left of a large one: its blocks run as soon as a place is free.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void large(unsigned* done, float* out, int rounds) {
  float x = threadIdx.x;
  for (int k = 0; k < rounds; ++k) x = x * 1.0001f + 0.5f;
  out[threadIdx.x] = x;
  if (threadIdx.x == 0) atomicAdd(done, 1u);
}
// Of each block: how many of the other kernel's have ended.
__global__ void small(const volatile unsigned* done, unsigned* seen) {
  float x = threadIdx.x;
  for (int k = 0; k < 400; ++k) x = x * 1.0001f + 0.5f;
  if (threadIdx.x == 0 && x != 1) seen[blockIdx.x] = *done;
}

int main() {
  constexpr int kBlocks = 1 << 16, kSmall = 8192;
  int least, greatest, failures = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStream_t slow, urgent;
  cudaStreamCreateWithPriority(&slow, cudaStreamNonBlocking, least);
  cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest);
  unsigned *done, *seen;
  float* out;
  cudaMallocManaged(&done, sizeof *done);
  cudaMallocManaged(&seen, kSmall * sizeof *seen);
  cudaMalloc(&out, 128 * sizeof *out);
  for (int round = 0; round < 5; ++round) {
    *done = 0;
    large<<<kBlocks, 128, 0, slow>>>(done, out, 200);
    while (*(volatile unsigned*)done == 0) {}
    small<<<kSmall, 32, 0, urgent>>>(done, seen);
    cudaStreamSynchronize(urgent);
    cudaStreamSynchronize(slow);
    unsigned first = ~0u, last = 0;
    for (int k = 0; k < kSmall; ++k) first = seen[k] < first ? seen[k] : first, last = seen[k] > last ? seen[k] : last;
    // Other threads finish the blocks that they have taken.
    if (last - first > kBlocks / 4) ++failures, printf("while the small kernel ran, %u blocks of the large one ended\n", last - first);
    if (*done != kBlocks) ++failures, printf("%u blocks\n", *done);
  }
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0 && least != greatest;
}
