// A matrix product with warpgroup instructions, operands in shared memory. nvcc: -gencode=arch=compute_90a,code=sm_90a
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

__device__ void multiply(float (&d)[32], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
      "%32, %33, 1, 1, 1, 0, 0;"
      : D16(0), D16(16)
      : "l"(a), "l"(b));
}

// Rows of 64 halves, 128 bytes, with the swizzle of 128 bytes.
__device__ unsigned long long descriptor(const void* p) {
  const unsigned long long address = (__cvta_generic_to_shared(p) & 0x3ffff) >> 4;
  return address | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// 64 x 64 of c in a warpgroup; a is m x k, b is n x k.
__global__ void __launch_bounds__(128) product(const half* a, const half* b, float* c, int n, int k) {
  __shared__ __align__(1024) half sa[64 * 64], sb[64 * 64];
  const int t = threadIdx.x, row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  float d[32] = {};
  for (int k0 = 0; k0 < k; k0 += 64) {
    for (int i = t; i < 512; i += 128) {
      const int row = i / 8, chunk = i % 8, to = row * 64 + (chunk ^ row % 8) * 8;
      *(int4*)&sa[to] = *(const int4*)&a[size_t(row0 + row) * k + k0 + chunk * 8];
      *(int4*)&sb[to] = *(const int4*)&b[size_t(column0 + row) * k + k0 + chunk * 8];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int kk = 0; kk < 4; ++kk) multiply(d, descriptor(sa) + kk * 2, descriptor(sb) + kk * 2);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  const int row = row0 + t / 32 * 16 + t % 32 / 4;
  for (int j = 0; j < 8; ++j) {
    float* out = c + size_t(row) * n + column0 + j * 8 + t % 4 * 2;
    *(float2*)out = make_float2(d[4 * j], d[4 * j + 1]);
    *(float2*)(out + size_t(8) * n) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}

__global__ void fill(half* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = __float2half(i % 7 * 0.5f);
}

int main() {
  const int n = 2048;
  half *a, *b;
  float* c;
  CHECK(cudaMalloc(&a, n * n * 2));
  CHECK(cudaMalloc(&b, n * n * 2));
  CHECK(cudaMalloc(&c, n * n * 4));
  fill<<<n * n / 512, 512>>>(a, n * n);
  fill<<<n * n / 512, 512>>>(b, n * n);
  THRICE product<<<dim3(512 / 64, 512 / 64), 128>>>(a, b, c, 512, 512);
  THRICE product<<<dim3(1024 / 64, 1024 / 64), 128>>>(a, b, c, 1024, 1024);
  THRICE product<<<dim3(n / 64, n / 64), 128>>>(a, b, c, n, 512);
  float one;
  CHECK(cudaMemcpy(&one, c + 99, 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", one);
  return 0;
}
