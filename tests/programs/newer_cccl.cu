// needs: /usr/local/cuda/include/cccl/cub/version.cuh
// build: -I/usr/local/cuda/include/cccl
// A newer CUB and Thrust than Debian's, from a directory of the user's, called by the host and by a kernel.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/merge.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include <cstdio>
#include <cub/device/device_scan.cuh>
#include <cuda/std/tuple>

// Sorts both halves and puts them together.
__global__ void work_alone(int* items, int* merged, int n, int* total) {
  thrust::sort(thrust::device, items, items + n / 2, thrust::greater<int>());
  thrust::sort(thrust::seq, items + n / 2, items + n, thrust::greater<int>());
  thrust::merge(thrust::device, items, items + n / 2, items + n / 2, items + n, merged, thrust::greater<int>());
  *total = thrust::reduce(thrust::device, merged, merged + n);
}

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
  thrust::device_vector<int> merged(n), alone(1);
  work_alone<<<1, 1>>>(in, thrust::raw_pointer_cast(merged.data()), n, thrust::raw_pointer_cast(alone.data()));
  for (int i = 0; i < n; i += 499)
    if (merged[i] != n - i) return 1;
  if (alone[0] != total) return 1;
  return total == n * (n + 1) / 2 && cuda::std::get<1>(pair) == total ? 0 : 1;
}
