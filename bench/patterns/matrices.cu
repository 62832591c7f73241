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
  const double* d = array<double>(32 * 256);
  float* out = array<float>(n * n);
  int* iout = array<int>(kWarps * 256);
  double* dout = array<double>(kWarps * 256);
  const pattern::Form fast{double(n) * n * n * 2 / 1000, [=] { tiles<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(f, f, out, n); }};
  row("wmma half, sums of float", "1000 op", {ops(16, 16), [=] { fragments<__half, float, 16><<<kBlocks, 128>>>(h, h, out); }}, "float in tiles", fast);
  row("wmma half, sums of half", "1000 op", {ops(16, 16), [=] { fragments<__half, __half, 16><<<kBlocks, 128>>>(h, h, reinterpret_cast<__half*>(out)); }}, "float in tiles", fast);
  row("wmma bfloat16", "1000 op", {ops(16, 16), [=] { fragments<__nv_bfloat16, float, 16><<<kBlocks, 128>>>(bf, bf, out); }}, "float in tiles", fast);
  row("wmma int8", "1000 op", {ops(16, 16), [=] { fragments<signed char, int, 16><<<kBlocks, 128>>>(s8, s8, iout); }}, "float in tiles", fast);
  row("wmma tf32", "1000 op", {ops(16, 8), [=] { tensor_float<<<kBlocks, 128>>>(f, f, out); }}, "float in tiles", fast);
  row("wmma double", "1000 op", {ops(8, 4), [=] { tensor_double<<<kBlocks, 128>>>(d, d, dout); }}, "float in tiles", fast);
}
