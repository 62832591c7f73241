// build: -std=c++14
// Optional values of Thrust before C++17, in kernels and as references.
#include <thrust/optional.h>
#include <cassert>
#include <cstdio>
__global__ void halves(const int* in, int* out) {
  thrust::optional<int> half;
  if (in[threadIdx.x] % 2 == 0) half = in[threadIdx.x] / 2;
  out[threadIdx.x] = half.value_or(-1);
}
int main() {
  int *in, *out;
  cudaMallocManaged(&in, 32 * sizeof(int));
  cudaMallocManaged(&out, 32 * sizeof(int));
  for (int i = 0; i < 32; i++) in[i] = i;
  halves<<<1, 32>>>(in, out);
  assert(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 32; i++) assert(out[i] == (i % 2 ? -1 : i / 2));
  int n = 3;
  thrust::optional<int&> seen = n;
  *seen = 4;
  assert(n == 4 && seen.has_value());
  thrust::optional<int> none = thrust::nullopt, five;
  five.emplace(5);
  none = five.map([](int v) { return v + 1; });
  assert(none && *none == 6);
  puts("ok");
}
