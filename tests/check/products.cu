// Products of warp groups (wgmma), which read shared memory by another proxy than the threads' own accesses and are complete when
// they have been waited for. An argument picks the case.
// options: -arch=sm_90a
#include <cuda/barrier>
#include <cuda_fp16.h>
#include "cases.h"

enum Fault { kNone, kNoFence, kEarly, kOneTooFew };
__device__ unsigned long long matrix(const void* p) {  // rows of eight halves, 128 bytes from one set of them to the next
  return (__cvta_generic_to_shared(p) & 0x3ffff) >> 4 | 8ull << 16 | 16ull << 32;
}
__device__ void multiply(float (&d)[4], const __half* a, const __half* b) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"  // expect no_fence race_proxy
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(matrix(a)), "l"(matrix(b)) : "memory");
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

// A group multiplies, one of its threads says that the tiles may be filled anew, and a fifth warp does that.
__global__ void refill(float* out, Fault fault) {
  __shared__ alignas(128) __half a[2][64 * 16], b[2][8 * 16];
  __shared__ cuda::barrier<cuda::thread_scope_block> free;
  const int t = threadIdx.x;
  if (t == 0) init(&free, 1 + 32);
  for (int k = t; k < 2 * 64 * 16; k += blockDim.x) (&a[0][0])[k] = __float2half(1);  // expect no_fence race_proxy
  for (int k = t; k < 2 * 8 * 16; k += blockDim.x) (&b[0][0])[k] = __float2half(2);  // expect no_fence race_proxy
  if (fault != kNoFence) asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t < 128) {
    float d[4] = {};
    multiply(d, a[0], b[0]);
    multiply(d, a[1], b[1]);
    if (fault == kNone || fault == kNoFence) wait<0>();
    if (fault == kOneTooFew) wait<1>();
    if (t == 40) (void)free.arrive();
    wait<0>();
    for (int k = 0; k < 4; ++k) out[4 * t + k] = d[k];
  } else {
    free.arrive_and_wait();
    for (int k = t - 128; k < 64 * 16; k += 32) a[1][k] = __float2half(3);  // expect released_early race_war; expect released_one_too_early race_war
  }
}
struct Data {
  float* out;
  Data() { cudaMalloc(&out, 128 * 4 * sizeof(float)); }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(out);
  }
};
CASE(released_by_one) { Data d; refill<<<1, 160>>>(d.out, kNone); }
CASE(no_fence) { Data d; refill<<<1, 160>>>(d.out, kNoFence); }
CASE(released_early) { Data d; refill<<<1, 160>>>(d.out, kEarly); }
CASE(released_one_too_early) { Data d; refill<<<1, 160>>>(d.out, kOneTooFew); }
