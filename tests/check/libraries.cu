// Mistakes that end in headers of CUB, Thrust and cuda::std are told at the program's line. An argument picks the case.
#include <cub/block/block_reduce.cuh>
#include <cuda/std/array>
#include <thrust/device_vector.h>
#include "cases.h"

__global__ void two_sums(const int* in, int* out, bool waits) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage place;
  const int sum = Reduce(place).Sum(in[threadIdx.x]);  // expect storage_reused race_raw
  if (waits) __syncthreads();
  const int double_sum = Reduce(place).Sum(2 * in[threadIdx.x]);  // expect storage_reused race_raw
  if (threadIdx.x == 0) out[0] = sum, out[1] = double_sum;
}
__global__ void past_array(const int* in, int* out) {
  __shared__ cuda::std::array<int, 32> s;
  s[threadIdx.x] = in[threadIdx.x];  // expect array_too_short out_of_bounds
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x % 32];
}

struct Data {
  int *in, *out;
  Data() {
    cudaMalloc(&in, 512);
    cudaMalloc(&out, 512);
    cudaMemset(in, 0, 512);
  }
  ~Data() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
  }
};
CASE(storage_reused) { Data d; two_sums<<<1, 128>>>(d.in, d.out, false); }
CASE(storage_in_turn) { Data d; two_sums<<<1, 128>>>(d.in, d.out, true); }
CASE(array_too_short) { Data d; past_array<<<1, 33>>>(d.in, d.out); }
CASE(array_long_enough) { Data d; past_array<<<1, 32>>>(d.in, d.out); }

// Memory that vectors give back is no sign that the program gives its own back.
CASE(leaves_own_memory) {
  thrust::device_vector<int> in(128, 1);
  int* out;
  cudaMalloc(&out, 512);  // warn leaves_own_memory leak
  two_sums<<<1, 128>>>(thrust::raw_pointer_cast(in.data()), out, true);
  cudaDeviceSynchronize();
}
CASE(frees_half) {
  thrust::device_vector<int> in(128, 1);
  int *out, *more;
  cudaMalloc(&out, 512);
  cudaMalloc(&more, 512);  // expect frees_half leak
  two_sums<<<1, 128>>>(thrust::raw_pointer_cast(in.data()), out, true);
  cudaDeviceSynchronize();
  cudaFree(out);
}
