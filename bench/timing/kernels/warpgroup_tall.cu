// Warpgroup products of 64 x 128, two warpgroups a block, tiles brought by bulk copies. nvcc: -gencode=arch=compute_90a,code=sm_90a
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

#include <cuda_fp16.h>

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)

__device__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,"
      "%62,%63}, %64, %65, 1, 1, 1, 0, 0;"
      : D16(0), D16(16), D16(32), D16(48)
      : "l"(a), "l"(b));
}

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__device__ unsigned long long descriptor(const void* p) {
  return ((__cvta_generic_to_shared(p) & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// The operands lie in memory as the tiles want them (64 columns, swizzled): a tile is one piece, which one bulk copy fetches.
template <int Stages>
__global__ void __launch_bounds__(256) product(const half* a, const half* b, float* c, int n, int k) {
  extern __shared__ __align__(1024) half tiles[];
  __shared__ __align__(8) unsigned long long full[Stages];
  const int t = threadIdx.x, group = t / 128, steps = k / 64, kTile = 256 * 64;
  if (t == 0)
    for (int s = 0; s < Stages; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[s])));
  asm volatile("fence.mbarrier_init.release.cluster;");
  __syncthreads();
  const auto fetch = [&](int step) {
    const unsigned barrier = shared_address(&full[step % Stages]);
    half* to = tiles + step % Stages * kTile;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(kTile * 2) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(a + (size_t(blockIdx.y) * steps + step) * 128 * 64), "r"(128 * 64 * 2), "r"(barrier)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to + 128 * 64)),
                 "l"(b + (size_t(blockIdx.x) * steps + step) * 128 * 64), "r"(128 * 64 * 2), "r"(barrier)
                 : "memory");
  };
  if (t == 0)
    for (int s = 0; s < Stages - 1 && s < steps; ++s) fetch(s);
  float d[64] = {};
  for (int step = 0; step < steps; ++step) {
    if (t == 0 && step + Stages - 1 < steps) fetch(step + Stages - 1);
    asm volatile(
        "{\n\t.reg .pred done;\n"
        "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra again;\n\t}" ::"r"(shared_address(&full[step % Stages])),
        "r"(step / Stages % 2)
        : "memory");
    const half* tile = tiles + step % Stages * kTile;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int kk = 0; kk < 4; ++kk) multiply(d, descriptor(tile + group * 64 * 64) + kk * 2, descriptor(tile + 128 * 64) + kk * 2);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  const int row = blockIdx.y * 128 + group * 64 + t % 128 / 32 * 16 + t % 32 / 4;
  for (int j = 0; j < 16; ++j) {
    float* out = c + size_t(row) * n + blockIdx.x * 128 + j * 8 + t % 4 * 2;
    *(float2*)out = make_float2(d[4 * j], d[4 * j + 1]);
    *(float2*)(out + size_t(8) * n) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}

__global__ void fill(half* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = __float2half(i % 64 / 8 * 0.25f);
}

int main() {
  const int n = 1024;
  half *a, *b;
  float* c;
  CHECK(cudaMalloc(&a, n * n * 2));
  CHECK(cudaMalloc(&b, n * n * 2));
  CHECK(cudaMalloc(&c, n * n * 4));
  fill<<<n * n / 256, 256>>>(a, n * n);
  fill<<<n * n / 256, 256>>>(b, n * n);
  CHECK(cudaFuncSetAttribute(product<2>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  CHECK(cudaFuncSetAttribute(product<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072));
  THRICE product<2><<<dim3(8, 8), 256, 65536>>>(a, b, c, n, 1024);
  THRICE product<4><<<dim3(8, 8), 256, 131072>>>(a, b, c, n, 1024);
  THRICE product<4><<<dim3(2, 2), 256, 131072>>>(a, b, c, n, 1024);
  float one;
  CHECK(cudaMemcpy(&one, c + 99, 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", one);
  return 0;
}
