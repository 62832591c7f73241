// Tensor cores by wgmma (9.0a only): 64 x N x 16, f16 into f32, both operands from shared memory.
#include "harness.h"

namespace micro {
namespace {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)
#define MICRO_WGMMA 1
#endif

#define R8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define R32(i) R8(i), R8(i + 8), R8(i + 16), R8(i + 24)

__device__ void multiply(float (&d)[32], unsigned long long a, unsigned long long b) {
#ifdef MICRO_WGMMA
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
      "%32, %33, 1, 1, 1, 0, 0;"
      : R32(0)
      : "l"(a), "l"(b));
#endif
}

__device__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
#ifdef MICRO_WGMMA
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,"
      "%62,%63}, %64, %65, 1, 1, 1, 0, 0;"
      : R32(0), R32(32)
      : "l"(a), "l"(b));
#endif
}

// `count` multiplications in groups of `Group` between commit and wait.
template <int Registers, int Group>
__global__ void warpgroups(long long* times, float* sink, int count) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) reinterpret_cast<int*>(tiles)[i] = 0;
  float d[Registers];
  for (int i = 0; i < Registers; ++i) d[i] = 0;
  const unsigned long long address = (__cvta_generic_to_shared(tiles) & 0x3ffff) >> 4;
  // 128-byte swizzle, 1024 bytes from one group of eight rows to the next.
  const unsigned long long descriptor = address | 1ull << 16 | 64ull << 32 | 1ull << 62;
  __syncthreads();
  const long long start = clock64();
#ifdef MICRO_WGMMA
#pragma unroll 1
  for (int n = 0; n < count; n += Group) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int g = 0; g < Group; ++g) multiply(d, descriptor, descriptor);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
#endif
  const long long end = clock64();
  float sum = 0;
  for (int i = 0; i < Registers; ++i) sum += d[i];
  sink[threadIdx.x] = sum;
  if (threadIdx.x % 32 == 0) {
    times[threadIdx.x / 32 * 2] = start;
    times[threadIdx.x / 32 * 2 + 1] = end;
  }
}

template <int Registers, int Group>
void measure(int groups) {
  Buffer<long long> times(64);
  Buffer<float> sink(1024);
  const int count = quick() ? 2 * Group : 64 * Group, threads = groups * 128;
  report("wgmma.m64n" + number(Registers * 2) + "k16.in_group" + number(Group) + ".warpgroups" + number(groups), sample(5, [&] {
           warpgroups<Registers, Group><<<1, threads, 40 << 10>>>(times.data, sink.data, count);
           MICRO_CHECK(cudaDeviceSynchronize());
           const auto t = times.host();
           long long first = t[0], last = t[1];
           for (int w = 1; w < threads / 32; ++w) {
             first = std::min(first, t[2 * w]);
             last = std::max(last, t[2 * w + 1]);
           }
           return double(last - first) / count;
         }), "cycle/wgmma of each warpgroup");
}

}  // namespace

void warpgroup_pipes() {
  if (device().major != 9) return;
  for (int groups : {1, 2}) {
    measure<32, 1>(groups);
    measure<32, 4>(groups);
    measure<32, 16>(groups);
    measure<64, 1>(groups);
    measure<64, 4>(groups);
    measure<64, 16>(groups);
  }
}

}  // namespace micro
