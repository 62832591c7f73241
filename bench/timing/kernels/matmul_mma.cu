// A matrix product with mma instructions, ldmatrix and asynchronous copies in two to four stages.
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

#include <cuda_bf16.h>
#include <cuda_pipeline.h>

// 128 x 64 of c in a block of eight warps; 32 x 32 in a warp; k in steps of 32.
template <int Stages>
__global__ void __launch_bounds__(256) product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  extern __shared__ __align__(128) __nv_bfloat16 memory[];
  const int kA = 128 * 40, kB = 64 * 40;  // rows of 32 with 8 of padding; b is given with its columns in rows
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wr = warp / 2 * 32, wc = warp % 2 * 32;
  const int row0 = blockIdx.y * 128, column0 = blockIdx.x * 64;
  const auto load = [&](int stage, int k0) {
    __nv_bfloat16 *sa = memory + stage * (kA + kB), *sb = sa + kA;
    for (int i = t; i < 512; i += 256) __pipeline_memcpy_async(&sa[i / 4 * 40 + i % 4 * 8], &a[(row0 + i / 4) * k + k0 + i % 4 * 8], 16);
    __pipeline_memcpy_async(&sb[t / 4 * 40 + t % 4 * 8], &b[(column0 + t / 4) * k + k0 + t % 4 * 8], 16);
  };
  for (int s = 0; s < Stages - 1; ++s) {
    load(s, s * 32);
    __pipeline_commit();
  }
  float sum[2][4][4] = {};
  const int steps = k / 32;
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(Stages - 2);
    __syncthreads();
    if (step + Stages - 1 < steps) load((step + Stages - 1) % Stages, (step + Stages - 1) * 32);
    __pipeline_commit();
    const __nv_bfloat16 *sa = memory + step % Stages * (kA + kB), *sb = sa + kA;
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      unsigned fa[2][4], fb[4][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        unsigned from = unsigned(__cvta_generic_to_shared(&sa[(wr + i * 16 + lane % 16) * 40 + kk + lane / 16 * 8]));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3]) : "r"(from));
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned from = unsigned(__cvta_generic_to_shared(&sb[(wc + j * 8 + lane % 8) * 40 + kk + lane / 8 % 2 * 8]));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(fb[j][0]), "=r"(fb[j][1]) : "r"(from));
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                       : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
    }
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      float* out = c + (row0 + wr + i * 16 + lane / 4) * n + column0 + wc + j * 8 + lane % 4 * 2;
      *(float2*)out = make_float2(sum[i][j][0], sum[i][j][1]);
      *(float2*)(out + 8 * n) = make_float2(sum[i][j][2], sum[i][j][3]);
    }
}

__global__ void fill(__nv_bfloat16* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = __float2bfloat16(i % 7 * 0.5f);
}

template <int Stages>
int run(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int m, int n, int k) {
  const int bytes = Stages * (128 + 64) * 40 * 2;
  CHECK(cudaFuncSetAttribute(product<Stages>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  THRICE product<Stages><<<dim3(n / 64, m / 128), 256, bytes>>>(a, b, c, n, k);
  CHECK(cudaGetLastError());
  return 0;
}

int main() {
  const int n = 2048;
  __nv_bfloat16 *a, *b;
  float* c;
  CHECK(cudaMalloc(&a, n * n * 2));
  CHECK(cudaMalloc(&b, n * n * 2));
  CHECK(cudaMalloc(&c, n * n * sizeof(float)));
  fill<<<n * n / 512, 512>>>(a, n * n);
  fill<<<n * n / 512, 512>>>(b, n * n);
  if (run<2>(a, b, c, 1024, 1024, 1024) || run<3>(a, b, c, 1024, 1024, 1024) || run<4>(a, b, c, 1024, 1024, 1024)) return 1;
  if (run<3>(a, b, c, 256, 256, 2048) || run<3>(a, b, c, 2048, 2048, 512)) return 1;
  float one;
  CHECK(cudaMemcpy(&one, c + 99, sizeof one, cudaMemcpyDeviceToHost));
  std::printf("%f\n", one);
  return 0;
}
