// Kernels that take a device function as a template argument, by a name that several functions have.
#include <cstdio>

using Binary = float (*)(float, float);

__device__ float add(float a, float b) { return a + b; }
__device__ double add(double a, double b) { return a - b; }

namespace device {
__device__ float scale(float a, float b) {
  float r;
  asm("mul.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
__device__ int scale(int a) { return __brev(a); }
}  // namespace device

template <Binary F, int N>
__global__ void fold(float* values) {
  float r = values[threadIdx.x];
  for (int i = 1; i <= N; ++i) r = F(r, i);
  values[threadIdx.x] = r;
}

int main() {
  float* values;
  cudaMallocManaged(&values, 32 * sizeof(float));
  for (int i = 0; i < 32; ++i) values[i] = i;
  fold<add, 3><<<1, 32>>>(values);
  fold<&device::scale, 2><<<1, 32>>>(values);
  if (const cudaError_t error = cudaDeviceSynchronize()) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  for (int i = 0; i < 32; ++i)
    if (values[i] != (i + 6) * 2) return 1;
  return 0;
}
