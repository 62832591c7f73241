// build: -arch=sm_90
// cuda::ptx: reductions in bulk and to shared memory, fences of a scope, and promises about functions.
#include <cuda/functional>
#include <cuda/ptx>

#include <cstdio>

namespace ptx = cuda::ptx;

__global__ void kernel(int* sums, unsigned* most, float* floats, unsigned long long* wide, unsigned* counts) {
  __shared__ alignas(16) int ints[64];
  __shared__ alignas(16) float values[64];
  __shared__ alignas(16) unsigned long long words[64];
  __shared__ alignas(16) unsigned more[64];
  __shared__ alignas(8) uint64_t bar;
  __shared__ unsigned total, bits;
  const unsigned i = threadIdx.x;
  ints[i] = static_cast<int>(i) - 5;
  values[i] = 0.5f * static_cast<float>(i);
  words[i] = 1ull << 40 | i;
  more[i] = (i + blockIdx.x) * 3;
  if (i == 0) {
    total = 0, bits = 0;
    ptx::mbarrier_init(&bar, 1);
  }
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (i == 0) {
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sums, ints, static_cast<uint32_t>(sizeof ints));
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, most, more, static_cast<uint32_t>(sizeof more));
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, floats, values, static_cast<uint32_t>(sizeof values));
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_or_op, reinterpret_cast<uint64_t*>(wide), reinterpret_cast<const uint64_t*>(words), static_cast<uint32_t>(sizeof words));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 2 * 64 * 4);
  }
  ptx::red_async(ptx::op_add, &total, i, &bar);
  ptx::red_async(ptx::op_or_op, &bits, 1u << (i % 8), &bar);
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
  }
  ptx::fence(ptx::sem_acq_rel, ptx::scope_cta);
  ptx::fence(ptx::sem_sc, ptx::scope_gpu);
  if (i == 0) counts[2 * blockIdx.x] = total, counts[2 * blockIdx.x + 1] = bits;
}

int main() {
  int* sums;
  unsigned *most, *counts;
  float* floats;
  unsigned long long* wide;
  cudaMallocManaged(&sums, 64 * 4);
  cudaMallocManaged(&most, 64 * 4);
  cudaMallocManaged(&floats, 64 * 4);
  cudaMallocManaged(&wide, 64 * 8);
  cudaMallocManaged(&counts, 6 * 4);
  for (int i = 0; i < 64; ++i) sums[i] = 100, most[i] = 30, floats[i] = 1, wide[i] = 1ull << 50;
  kernel<<<3, 64>>>(sums, most, floats, wide, counts);
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned largest = (i + 2) * 3 > 30 ? (i + 2) * 3 : 30;
    right &= sums[i] == 100 + 3 * (static_cast<int>(i) - 5) && most[i] == largest && floats[i] == 1 + 1.5f * static_cast<float>(i);
    right &= wide[i] == (1ull << 50 | 1ull << 40 | i);
  }
  for (int b = 0; b < 3; ++b) right &= counts[2 * b] == 63 * 32 && counts[2 * b + 1] == 255;
  auto twice = cuda::proclaim_copyable_arguments([](int x) { return 2 * x; });
  right &= twice(4) == 8;
  std::printf(right ? "PASSED\n" : "FAILED\n");
  for (void* p : {(void*)sums, (void*)most, (void*)floats, (void*)wide, (void*)counts}) cudaFree(p);
  return !right;
}
