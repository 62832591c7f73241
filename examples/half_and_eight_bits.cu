// Numbers of 16 and of 8 bits: the same scalar product with float, with pairs of half, and with weights that were quantised
// to 8-bit floating point. What to see: two products per instruction with half2, and errors of the size that each format
// promises: 11 bits of fraction for half, 4 for e4m3, 3 for e5m2.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>

constexpr int kCount = 4096;

__global__ void quantise(const float* in, __nv_fp8_e4m3* e4m3, __nv_fp8_e5m2* e5m2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  e4m3[i] = __nv_fp8_e4m3(in[i]);
  e5m2[i] = __nv_fp8_e5m2(in[i]);
}

template <class T>
__global__ void largest_error(const float* exact, const T* rounded, float* largest) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float error = fabsf((float)rounded[i] - exact[i]) / exact[i];
  atomicMax((int*)largest, __float_as_int(error));  // not negative, so that it compares like an integer
}

__global__ void dot_half2(const float* a, const float* b, float* result) {
  __half2 sum = __float2half2_rn(0.f);
  for (int i = threadIdx.x * 2; i < kCount; i += blockDim.x * 2) sum = __hfma2(__floats2half2_rn(a[i], a[i + 1]), __floats2half2_rn(b[i], b[i + 1]), sum);
  float both = __low2float(sum) + __high2float(sum);
  for (int d = 16; d; d /= 2) both += __shfl_down_sync(~0u, both, d);
  if (threadIdx.x == 0) *result = both;
}

int main() {
  float *a, *b, *result;
  __nv_fp8_e4m3* e4m3;
  __nv_fp8_e5m2* e5m2;
  cudaMallocManaged(&a, kCount * sizeof(float));
  cudaMallocManaged(&b, kCount * sizeof(float));
  cudaMallocManaged(&result, 3 * sizeof(float));
  cudaMallocManaged(&e4m3, kCount);
  cudaMallocManaged(&e5m2, kCount);
  double exact = 0;
  for (int i = 0; i < kCount; ++i) {
    a[i] = 0.0625f + (float)(i * 37 % 1000) / 500;
    b[i] = (float)(i * 91 % 64) / 64;
    exact += (double)a[i] * b[i];
  }
  for (int i = 0; i < 3; ++i) result[i] = 0;
  quantise<<<kCount / 256, 256>>>(a, e4m3, e5m2);
  largest_error<<<kCount / 256, 256>>>(a, e4m3, result);
  largest_error<<<kCount / 256, 256>>>(a, e5m2, result + 1);
  dot_half2<<<1, 32>>>(a, b, result + 2);
  bool good = cudaDeviceSynchronize() == cudaSuccess;
  const double relative = std::fabs(result[2] - exact) / exact;
  std::printf("largest error of e4m3: 1/%.1f, of e5m2: 1/%.1f; of the product with half2: %.5f\n", 1 / result[0], 1 / result[1], relative);
  // Rounding to nearest is off by half a unit in the last place at most.
  good = good && result[0] <= 1.f / 16 && result[0] > 1.f / 20 && result[1] <= 1.f / 8 && result[1] > 1.f / 10 && relative < 0.004;
  good = good && (float)__nv_fp8_e4m3(1000.f) == 448.f;  // too large: the largest there is
  std::printf("%s\n", good ? "PASS" : "FAIL");
  cudaFree(a);
  cudaFree(b);
  cudaFree(result);
  cudaFree(e4m3);
  cudaFree(e5m2);
  return !good;
}
