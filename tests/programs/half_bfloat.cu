// Half and bfloat16: conversions, arithmetic, comparisons, packed pairs and atomics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void halves(const float* in, float* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  __half a = __float2half(in[i]), b = __float2half_rn(0.333251953125f);
  out[i * 8 + 0] = __half2float(__hadd(a, b));
  out[i * 8 + 1] = __half2float(__hmul(a, b));
  out[i * 8 + 2] = __half2float(__hfma(a, a, b));
  out[i * 8 + 3] = __half2float(a / b);
  out[i * 8 + 4] = __hgt(a, b) ? 1.0f : __heq(a, b) ? 0.0f : -1.0f;
  out[i * 8 + 5] = (float)__half2int_rn(a) + __half2float(__int2half_rn(i));
  out[i * 8 + 6] = __half2float(hsqrt(__habs(a)));
  __half2 p = __halves2half2(a, b), q = __floats2half2_rn(2.0f, 4.0f);
  p = __hfma2(p, q, q);
  p = p - __half2half2(__float2half(1.0f));
  out[i * 8 + 7] = __low2float(p) + __high2float(p);
}

__global__ void bfloats(const float* in, float* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  __nv_bfloat16 a = __float2bfloat16(in[i]), b = __float2bfloat16_rn(1.5f);
  out[i * 4 + 0] = __bfloat162float(a);
  out[i * 4 + 1] = __bfloat162float(__hadd(a, b));
  out[i * 4 + 2] = __bfloat162float(__hmul(a, b));
  out[i * 4 + 3] = a < b ? 1.0f : 0.0f;
}

__global__ void sums(__half* h, __half2* h2, float* f) {
  atomicAdd(h, __float2half(0.5f));
  atomicAdd(h2, __floats2half2_rn(1.0f, 0.25f));
  __syncthreads();
  if (threadIdx.x == 0) f[0] = __half2float(*h), f[1] = __low2float(*h2), f[2] = __high2float(*h2);
}

static float round_half(float x) { return __half2float(__float2half(x)); }

int main() {
  const int n = 64;
  float in[n], out[n * 8], *d_in, *d_out;
  for (int i = 0; i < n; i++) in[i] = (i - 20) * 0.37f;
  in[0] = 65504.0f, in[1] = 1e-7f, in[2] = 70000.0f;
  CHECK(cudaMalloc(&d_in, sizeof in));
  CHECK(cudaMalloc(&d_out, sizeof out));
  CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
  halves<<<1, n>>>(d_in, d_out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  int bad = 0;
  const float b = 0.333251953125f;
  for (int i = 3; i < n; i++) {
    float a = round_half(in[i]), *o = out + i * 8;
    bad += o[0] != round_half(a + b) || o[1] != round_half(a * b) || o[2] != round_half((float)((double)a * a + b));
    bad += !(std::fabs(o[3] - a / b) <= 2e-3f * std::fabs(a / b)) || o[4] != (a > b ? 1.0f : a == b ? 0.0f : -1.0f);
    bad += o[5] != std::nearbyint(a) + i ||
           !(std::fabs(o[6] - std::sqrt(std::fabs(a))) <= 2e-3f * std::sqrt(std::fabs(a)));
    bad += o[7] != round_half(round_half(a * 2 + 2) - 1) + round_half(round_half(b * 4 + 4) - 1);
  }
  bad += out[0] != 65504.0f || !std::isinf(out[2 * 8]) || out[8] != round_half(round_half(1e-7f) + b);
  bfloats<<<1, n>>>(d_in, d_out, n);
  CHECK(cudaMemcpy(out, d_out, n * 4 * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) {
    union {
      float f;
      unsigned u;
    } v = {in[i]};
    v.u = (v.u + 0x7fff + ((v.u >> 16) & 1)) & 0xffff0000u;
    bad += out[i * 4] != v.f || out[i * 4 + 3] != (v.f < 1.5f ? 1.0f : 0.0f);
    bad += !(std::fabs(out[i * 4 + 1] - (v.f + 1.5f)) <= 0.004f * std::fabs(v.f + 1.5f) + 1e-6f);
    bad += !(std::fabs(out[i * 4 + 2] - v.f * 1.5f) <= 0.004f * std::fabs(v.f * 1.5f));
  }
  __half* d_h;
  CHECK(cudaMalloc(&d_h, 16));
  CHECK(cudaMemset(d_h, 0, 16));
  sums<<<1, 64>>>(d_h, (__half2*)(d_h + 2), d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, 3 * sizeof(float), cudaMemcpyDeviceToHost));
  bad += out[0] != 32.0f || out[1] != 64.0f || out[2] != 16.0f;
  bad +=
      sizeof(__half) != 2 || sizeof(__half2) != 4 || sizeof(__nv_bfloat162) != 4 || __half2float(__half(2.5f)) != 2.5f;
  printf("half_bfloat: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
