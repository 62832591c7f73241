// Bulk copies with an mbarrier: one and several buffers, back to global memory, sums into it. needs 9.0
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

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__device__ void arm(unsigned long long* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ void fetch(void* to, const void* from, int bytes, unsigned long long* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from),
               "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

__device__ void await(unsigned long long* barrier, int phase) {
  asm volatile(
      "{\n\t.reg .pred done;\n"
      "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra again;\n\t}" ::"r"(shared_address(barrier)), "r"(phase)
      : "memory");
}

template <int Buffers>
__global__ void sums(const float* in, float* out, int tiles, int floats) {
  extern __shared__ __align__(128) float memory[];
  __shared__ __align__(8) unsigned long long barrier[Buffers];
  if (threadIdx.x == 0) {
    for (int b = 0; b < Buffers; ++b) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier[b])));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  const float* from = in + size_t(blockIdx.x) * tiles * floats;
  if (threadIdx.x == 0)
    for (int b = 0; b < Buffers && b < tiles; ++b) {
      arm(&barrier[b], floats * 4);
      fetch(memory + b * floats, from + size_t(b) * floats, floats * 4, &barrier[b]);
    }
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int b = tile % Buffers;
    await(&barrier[b], tile / Buffers % 2);
    for (int i = threadIdx.x; i < floats; i += blockDim.x) sum += memory[b * floats + i];
    __syncthreads();
    if (threadIdx.x == 0 && tile + Buffers < tiles) {
      arm(&barrier[b], floats * 4);
      fetch(memory + b * floats, from + size_t(tile + Buffers) * floats, floats * 4, &barrier[b]);
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void copy_back(const float* in, float* out, int floats) {
  extern __shared__ __align__(128) float memory[];
  __shared__ __align__(8) unsigned long long barrier;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
    asm volatile("fence.mbarrier_init.release.cluster;");
    arm(&barrier, floats * 4);
    fetch(memory, in + size_t(blockIdx.x) * floats, floats * 4, &barrier);
  }
  __syncthreads();
  await(&barrier, 0);
  for (int i = threadIdx.x; i < floats; i += blockDim.x) memory[i] = memory[i] * 2 + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + size_t(blockIdx.x) * floats), "r"(shared_address(memory)),
                 "r"(floats * 4)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

int main() {
  const int blocks = 132, tiles = 16, floats = 4096;
  const size_t n = size_t(blocks) * tiles * floats;
  float *in, *out;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemset(in, 0, n * 4));
  CHECK(cudaFuncSetAttribute(sums<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 4 * floats * 4));
  CHECK(cudaFuncSetAttribute(sums<2>, cudaFuncAttributeMaxDynamicSharedMemorySize, 4 * floats * 4));
  THRICE sums<1><<<blocks, 256, floats * 4>>>(in, out, tiles, floats);
  THRICE sums<2><<<blocks, 256, 2 * floats * 4>>>(in, out, tiles, floats);
  THRICE sums<4><<<blocks, 256, 4 * floats * 4>>>(in, out, tiles, floats);
  THRICE sums<2><<<blocks * 4, 128, 2 * 1024 * 4>>>(in, out, tiles, 1024);
  THRICE copy_back<<<blocks * 8, 128, 2048 * 4>>>(in, out, 2048);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
