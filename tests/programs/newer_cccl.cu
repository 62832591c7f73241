// needs: /usr/local/cuda/include/cccl/cub/version.cuh
// build: -I/usr/local/cuda/include/cccl
// A newer CUB and Thrust than Debian's, from a directory of the user's.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>

#include <cstdio>
#include <cub/device/device_scan.cuh>
#include <cuda/std/tuple>

int main() {
  constexpr int n = 5000;
  thrust::device_vector<int> items(n), sums(n);
  thrust::sequence(items.begin(), items.end(), 1);
  const int total = thrust::reduce(items.begin(), items.end());
  size_t bytes = 0;
  int *in = thrust::raw_pointer_cast(items.data()), *out = thrust::raw_pointer_cast(sums.data());
  cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n);
  thrust::device_vector<char> scratch(bytes);
  cub::DeviceScan::InclusiveSum(thrust::raw_pointer_cast(scratch.data()), bytes, in, out, n);
  const auto pair = cuda::std::make_tuple(total, static_cast<int>(sums[n - 1]));
  printf("%d %d\n", cuda::std::get<0>(pair), cuda::std::get<1>(pair));
  return total == n * (n + 1) / 2 && cuda::std::get<1>(pair) == total ? 0 : 1;
}
