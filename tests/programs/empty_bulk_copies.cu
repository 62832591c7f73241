// build: -arch=sm_90
// A bulk copy of nothing asks nothing of its addresses (an H200 neither): CUB's copies of a few bytes have such a middle part.
#include <cstdint>
#include <cstdio>

__global__ void kernel(const char* from, int bytes, int* done) {
  __shared__ alignas(16) char to[64];
  __shared__ uint64_t barrier;
  const uint32_t at = __cvta_generic_to_shared(&barrier), target = __cvta_generic_to_shared(to) + 13;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(target), "l"(from), "r"(bytes),
               "r"(at)
               : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
  uint32_t over = 0;
  while (!over)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }" : "=r"(over) : "r"(at) : "memory");
  *done = 1;
}

int main() {
  char* from;
  int* done;
  cudaMalloc(&from, 64);
  cudaMallocManaged(&done, sizeof(int));
  *done = 0;
  kernel<<<1, 1>>>(from, 0, done);
  const cudaError_t status = cudaDeviceSynchronize();
  const bool right = status == cudaSuccess && *done == 1;
  std::puts(right ? "PASSED" : cudaGetErrorString(status));
  return !right;
}
