// Bulk copies, which another proxy makes than the threads' own accesses. An argument picks the case.
#include <cuda/barrier>
#include <cuda/ptx>
#include "cases.h"
namespace ptx = cuda::ptx;

enum Fence { kNone, kBefore, kByOne, kTooEarly };
__global__ void store(int* out, Fence fence) {
  __shared__ alignas(16) int s[128];
  if (fence == kTooEarly) ptx::fence_proxy_async(ptx::space_shared);
  s[threadIdx.x] = threadIdx.x;  // expect no_fence race_proxy; expect fence_too_early race_proxy
  if (fence == kBefore) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fence == kByOne) ptx::fence_proxy_async(ptx::space_shared);
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 128, s, sizeof s);  // expect no_fence race_proxy
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
__global__ void store_twice(int* out, int waits, bool syncs) {
  __shared__ alignas(16) int s[2][128];
  for (int k = 0; k < 4; ++k) {
    s[k % 2][threadIdx.x] = k;  // expect source_overwritten race_war; expect waited_for_one_too_few race_war; expect waited_alone race_war
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + k * 128, s[k % 2], sizeof s[0]);
      ptx::cp_async_bulk_commit_group();
      if (waits == 1) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
      if (waits == 2) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<2>());
    }
    if (syncs) __syncthreads();
  }
}
// What a bulk copy has brought a bulk copy may take away.
__global__ void pass_on(const int* in, int* out) {
  __shared__ alignas(16) int s[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    cuda::memcpy_async(s, in, cuda::aligned_size_t<16>(sizeof s), bar);
    bar.arrive_and_wait();
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, s, sizeof s);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}
struct Data {
  int *in, *out;
  Data() {
    cudaMalloc(&in, 512);
    cudaMalloc(&out, 2048);
    cudaMemset(in, 0, 512);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
  }
};
CASE(no_fence) { Data d; store<<<4, 128>>>(d.out, kNone); }
CASE(fence_by_all) { Data d; store<<<4, 128>>>(d.out, kBefore); }
CASE(fence_by_one) { Data d; store<<<4, 128>>>(d.out, kByOne); }
CASE(fence_too_early) { Data d; store<<<4, 128>>>(d.out, kTooEarly); }
CASE(source_overwritten) { Data d; store_twice<<<1, 128>>>(d.out, 0, true); }
CASE(source_waited_for) { Data d; store_twice<<<1, 128>>>(d.out, 1, true); }
CASE(waited_for_one_too_few) { Data d; store_twice<<<1, 128>>>(d.out, 2, true); }
CASE(waited_alone) { Data d; store_twice<<<1, 128>>>(d.out, 1, false); }
CASE(passed_on) { Data d; pass_on<<<1, 128>>>(d.in, d.out); }
