// nvcc: no
// What newer versions of Thrust no longer have: tuples' null_type and ignore, optional values, algorithms that return at once,
// an allocator of pinned memory.
#include <thrust/async/reduce.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/optional.h>
#include <thrust/system/cuda/experimental/pinned_allocator.h>
#include <thrust/tuple.h>

#include <cstdio>

template <class T, class U = thrust::null_type>
struct Named {
  static constexpr bool has_two = !thrust::detail::is_same<U, thrust::null_type>::value;
};
static_assert(Named<int, int>::has_two && !Named<int>::has_two, "");

template <class T>
using Pinned = thrust::host_vector<T, thrust::cuda::experimental::pinned_allocator<T>>;

bool is_pinned(const void* p) {
  cudaPointerAttributes attributes;
  return cudaPointerGetAttributes(&attributes, p) == cudaSuccess && attributes.type == cudaMemoryTypeHost;
}

__global__ void kernel(int* out) {
  thrust::optional<int> none, some = 3;
  int second;
  thrust::tie(thrust::ignore, second) = thrust::make_tuple(1, 2);
  *out = none.value_or(4) * 100 + *some * 10 + second;
}

int main() {
  int* out;
  cudaMallocManaged(&out, sizeof(int));
  kernel<<<1, 1>>>(out);
  const bool ran = cudaDeviceSynchronize() == cudaSuccess;
  thrust::device_vector<int> ones(1000, 1);
  auto sum = thrust::async::reduce(thrust::device, ones.begin(), ones.end(), 5);
  Pinned<int> pinned = ones;
  const bool right = ran && *out == 432 && sum.get() == 1005 && is_pinned(pinned.data()) && pinned[999] == 1;
  std::printf(right ? "PASSED\n" : "FAILED\n");
  return !right;
}
