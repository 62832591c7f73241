// Powers of two in a byte (__nv_fp8_e8m0), on the device and on the host, and grids that begin early.
#include <cuda_fp8.h>

#include <cstdio>

__global__ void encode(const float* values, unsigned char* bytes, float* back, int n) {
  cudaTriggerProgrammaticLaunchCompletion();
  const int i = threadIdx.x;
  if (i >= n) return;
  const __nv_fp8_e8m0 scale(values[i]);
  bytes[i] = scale.__x;
  back[i] = float(scale);
}

__global__ void add_one(float* values, int n) {
  cudaGridDependencySynchronize();
  if (threadIdx.x < n) values[threadIdx.x] += 1;
}

int main() {
  const float given[] = {1, 1.5f, -3, 0, 1e-40f, 0x1p-127f, 3e38f, 1024, 1025};
  const unsigned char expected[] = {127, 128, 129, 0, 1 - 1, 0, 254, 137, 138};
  constexpr int n = sizeof(given) / sizeof(float);
  float *values, *back;
  unsigned char* bytes;
  cudaMallocManaged(&values, sizeof given);
  cudaMallocManaged(&back, sizeof given);
  cudaMallocManaged(&bytes, n);
  for (int i = 0; i < n; ++i) values[i] = given[i];
  encode<<<1, 32>>>(values, bytes, back, n);

  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, add_one, values, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;

  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const __nv_fp8_e8m0 here(given[i]);
    if (bytes[i] != expected[i] || here.__x != expected[i] || back[i] != float(here) || values[i] != given[i] + 1) {
      printf("%a: device %d, host %d, expected %d\n", given[i], bytes[i], here.__x, expected[i]);
      ++wrong;
    }
  }
  const __nv_fp8_storage_t down = __nv_cvt_float_to_e8m0(3.9f, __NV_NOSAT, cudaRoundZero);
  const __nv_fp8_storage_t nan = __nv_cvt_float_to_e8m0(3e38f, __NV_NOSAT, cudaRoundPosInf);
  if (down != 128 || nan != 255) ++wrong;
  puts(wrong ? "wrong" : "right");
  return wrong != 0;
}
