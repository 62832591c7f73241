// Products of warps' fragments, against the same arithmetic by each thread for itself.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "pattern.h"

using namespace nvcuda;

constexpr int kRounds = 16;

template <class In, class Out, int K> __global__ void fragments(const In* a, const In* b, Out* c) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  wmma::fragment<wmma::matrix_a, 16, 16, K, In, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, K, In, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, K, Out> fc;
  wmma::fill_fragment(fc, Out(0));
  for (int k = 0; k < kRounds; ++k) {
    wmma::load_matrix_sync(fa, a + (warp + k) % 32 * 256, K);
    wmma::load_matrix_sync(fb, b + k * 256, K);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + warp * 256, fc, 16, wmma::mem_row_major);
}

__global__ void tensor_float(const float* a, const float* b, float* c) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k = 0; k < kRounds; ++k) {
    wmma::load_matrix_sync(fa, a + (warp + k) % 32 * 256, 8);
    wmma::load_matrix_sync(fb, b + k * 256, 8);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + warp * 256, fc, 16, wmma::mem_row_major);
}

__global__ void tensor_double(const double* a, const double* b, double* c) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
  wmma::fill_fragment(fc, 0.0);
  for (int k = 0; k < kRounds; ++k) {
    wmma::load_matrix_sync(fa, a + (warp + k) % 32 * 32, 4);
    wmma::load_matrix_sync(fb, b + k * 32, 4);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + warp * 64, fc, 8, wmma::mem_row_major);
}

// A warp group's product of 64 by 64, A and B in shared memory as rows of 32 bytes that are swizzled.
__global__ void group(const __half* a, float* c) {
  __shared__ alignas(1024) __half s[2][64 * 16];
  for (int k = threadIdx.x; k < 64 * 16; k += blockDim.x) s[0][k] = s[1][k] = a[k];
  __syncthreads();
  const auto matrix = [](const void* at) {
    constexpr unsigned long long kRows32 = 3ull << 62, kNext8Rows = 256 >> 4;
    return kRows32 | kNext8Rows << 32 | 1 << 16 | __cvta_generic_to_shared(at) >> 4;
  };
  float sum[32] = {};
#define FOUR(k) "+f"(sum[k]), "+f"(sum[k + 1]), "+f"(sum[k + 2]), "+f"(sum[k + 3])
  for (int k = 0; k < kRounds; ++k) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0; }"
        : FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28)
        : "l"(matrix(s[0])), "l"(matrix(s[1])));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  for (int k = 0; k < 32; ++k) c[(blockIdx.x * 32 + k) * blockDim.x + threadIdx.x] = sum[k];
}

__global__ void tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float left[32][32], right[32][32];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, line = blockIdx.y * 32 + y;
  float sum = 0;
  for (int t = 0; t < n; t += 32) {
    left[y][x] = a[line * n + t + x];
    right[y][x] = b[(t + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  c[line * n + column] = sum;
}

void rows() {
  constexpr int kBlocks = 32, kWarps = kBlocks * 4, n = 256;
  const auto ops = [](double m, double k) { return kWarps * kRounds * m * m * k * 2 / 1000; };
  const __half* h = array<__half>(32 * 256 + 4096, __half(1.0f));
  const __nv_bfloat16* bf = array<__nv_bfloat16>(32 * 256 + 4096, __nv_bfloat16(1.0f));
  const signed char* s8 = array<signed char>(32 * 256 + 4096);
  const float* f = array<float>(n * n);
  // Sums of numbers with many digits have to be cut product by product, sums of whole numbers need not.
  const __half* digits_h = array<__half>(32 * 256 + 4096, __half(0.1f), __half(0.0037f));
  const float* digits_f = array<float>(n * n, 0.1f, 0.0037f);
  const double* d = array<double>(32 * 256);
  float* out = array<float>(n * n);
  int* iout = array<int>(kWarps * 256);
  double* dout = array<double>(kWarps * 256);
  const pattern::Form fast{double(n) * n * n * 2 / 1000, [=] { tiles<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(f, f, out, n); }};
  row("wmma half, sums of float", "1000 op", {ops(16, 16), [=] { fragments<__half, float, 16><<<kBlocks, 128>>>(h, h, out); }}, "float in tiles", fast);
  row("wmma half, sums of half", "1000 op", {ops(16, 16), [=] { fragments<__half, __half, 16><<<kBlocks, 128>>>(h, h, reinterpret_cast<__half*>(out)); }}, "float in tiles", fast);
  row("wgmma half", "1000 op", {kBlocks / 2 * kRounds * 64. * 64 * 16 * 2 / 1000, [=] { group<<<kBlocks / 2, 128>>>(h, out); }}, "float in tiles", fast);
  row("wmma bfloat16", "1000 op", {ops(16, 16), [=] { fragments<__nv_bfloat16, float, 16><<<kBlocks, 128>>>(bf, bf, out); }}, "float in tiles", fast);
  row("wmma int8", "1000 op", {ops(16, 16), [=] { fragments<signed char, int, 16><<<kBlocks, 128>>>(s8, s8, iout); }}, "float in tiles", fast);
  row("wmma tf32", "1000 op", {ops(16, 8), [=] { tensor_float<<<kBlocks, 128>>>(f, f, out); }}, "float in tiles", fast);
  row("wmma half, many digits", "1000 op", {ops(16, 16), [=] { fragments<__half, float, 16><<<kBlocks, 128>>>(digits_h, digits_h, out); }}, "float in tiles", fast, 4);
  row("wmma tf32, many digits", "1000 op", {ops(16, 8), [=] { tensor_float<<<kBlocks, 128>>>(digits_f, digits_f, out); }}, "float in tiles", fast, 6);
  row("wmma double", "1000 op", {ops(8, 4), [=] { tensor_double<<<kBlocks, 128>>>(d, d, dout); }}, "float in tiles", fast);
}
