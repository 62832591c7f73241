// Sizes that programs call N or m, by -D and by #define before the headers, do not reach into the headers.

// build: -DA=1 -DB=2 -DC=3 -DD=4 -DF=5 -DG=6 -DK=7 -DL=8 -DM=9 -DN=10 -DP=11 -DS=12 -DT=float -DU=13 -DV=14 -DW=15 -Dn=16 -Dm=17
#define E 169
#define H 172
#define J 174
#define O 179
#define Q 181
#define R 182
#define X 188
#define Y 189
#define Z 190
#define a 197
#define b 198
#define c 199
#define d 200
#define e 201
#define f 202
#define g 203
#define i 205
#define j 206
#define k 207
#define l 208
#define o 211
#define p 212
#define q 213
#define r 214
#define s 215
#define t 216
#define u 217
#define v 218
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <curand_kernel.h>
#include <mma.h>
#include <nvtx3/nvToolsExt.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <nv/target>

#include <cstdio>

__global__ void product(const T* left, const T* right, T* out) {
  T sum = 0;
  for (int step = 0; step < K; ++step) sum += left[threadIdx.y * K + step] * right[step * N + threadIdx.z];
  out[threadIdx.y * N + threadIdx.z] = sum + n + m;
}

int main() {
  T *left, *right, *out;
  cudaMallocManaged(&left, M * K * sizeof(T));
  cudaMallocManaged(&right, K * N * sizeof(T));
  cudaMallocManaged(&out, M * N * sizeof(T));
  for (int at = 0; at < M * K; ++at) left[at] = at % 5;
  for (int at = 0; at < K * N; ++at) right[at] = at % 7;
  product<<<1, dim3(1, M, N)>>>(left, right, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  int wrong = 0;
  for (int row = 0; row < M; ++row)
    for (int column = 0; column < N; ++column) {
      T sum = 0;
      for (int step = 0; step < K; ++step) sum += left[row * K + step] * right[step * N + column];
      wrong += out[row * N + column] != sum + 16 + 17;
    }
  printf("%d wrong, q is still %d\n", wrong, q);
  return wrong != 0 || q != 213 || A != 1;
}
