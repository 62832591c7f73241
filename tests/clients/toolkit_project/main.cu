#include <cublas_v2.h>
#include <cufft.h>

#include <cstdio>
__device__ int one_more(int x);
__global__ void ask(int* out) { *out = one_more(4); }
int sum_of_filled();
int main() {
  int* five;
  if (cudaMallocManaged(&five, sizeof(int))) return 1;
  ask<<<1, 1>>>(five);
  cudaDeviceSynchronize();
  cublasHandle_t blas;
  cufftHandle plan;
  const bool libraries = cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS && cufftPlan1d(&plan, 64, CUFFT_C2C, 1) == CUFFT_SUCCESS;
  std::printf("%d %d %d\n", *five, sum_of_filled(), libraries);
  return *five != 5 || sum_of_filled() != 496 || !libraries;
}
