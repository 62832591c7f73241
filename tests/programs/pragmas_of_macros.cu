// A macro that brings a pragma, as libraries define one for loops that are unrolled on the device alone and on both sides.
#include <cstdio>

#define UNROLL #pragma unroll
#ifdef __CUDA_ARCH__
#define UNROLL_ON_DEVICE #pragma unroll 4
#else
#define UNROLL_ON_DEVICE
#endif

__host__ __device__ int sum(const int* a, int n) {
  int s = 0;
  UNROLL
  for (int i = 0; i < n; ++i) s += a[i];
  return s;
}

__global__ void sums(const int* a, int* out) {
  int own = 0;
  UNROLL_ON_DEVICE
  for (int i = 0; i < 8; ++i) own += a[i] * static_cast<int>(threadIdx.x);
  out[threadIdx.x] = own + sum(a, 8);
}

int main() {
  const int host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int *a, *out, got[4], bad = 0;
  bad += cudaMalloc(&a, sizeof host) != cudaSuccess;
  bad += cudaMalloc(&out, sizeof got) != cudaSuccess;
  bad += cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess;
  sums<<<1, 4>>>(a, out);
  bad += cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess;
  for (int t = 0; t < 4; ++t) bad += got[t] != 36 * t + sum(host, 8);
  std::printf("pragmas_of_macros: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
