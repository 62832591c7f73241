// build: --extended-lambda
// Function objects of <cuda/functional>: device lambdas whose result type the host names, maxima and minima.
#include <cuda/functional>

#include <cstdio>
#include <type_traits>

template <class Callable>
__global__ void apply(Callable callable, double* results, int n) {
  const int i = threadIdx.x;
  if (i < n) results[i] = callable(i);
}

int main() {
  double* results;
  cudaMallocManaged(&results, 32 * sizeof(double));
  const int scale = 3;
  auto half = cuda::proclaim_return_type<double>([scale] __device__(int i) { return i * scale / 2.0; });
  static_assert(std::is_same_v<decltype(half(1)), double>);
  apply<<<1, 32>>>(half, results, 32);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < 32; ++i)
    if (results[i] != i * 1.5) return 1;
  auto bounded = cuda::proclaim_return_type<double>([] __device__(int i) { return cuda::minimum<>{}(cuda::maximum<int>{}(i, 4), 9.5); });
  apply<<<1, 32>>>(bounded, results, 32);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < 32; ++i)
    if (results[i] != (i < 4 ? 4 : i > 9 ? 9.5 : i)) return 1;
  puts("right");
  return 0;
}
