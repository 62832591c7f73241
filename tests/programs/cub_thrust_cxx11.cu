// build: -std=c++11
// CUB and Thrust in the oldest C++ that they know: many programs still ask for it. cub_thrust_cxx14.cu is the same in C++14.
#include <cub/cub.cuh>
#include <cuda/std/utility>
#include <thrust/complex.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include <algorithm>
#include <cstdio>
#include <vector>

const int kItems = 10000;
int bad = 0;

void expect(bool right, const char* what) {
  if (right) return;
  printf("  %s is wrong\n", what);
  ++bad;
}

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
struct Even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct First {
  __host__ __device__ int operator()(thrust::tuple<int, int> t) const { return thrust::get<0>(t) - thrust::get<1>(t); }
};

// Calls a function of CUB twice, as all of them want to be.
template <class Call>
void with_storage(Call call) {
  size_t bytes = 0;
  call(static_cast<void*>(nullptr), bytes);
  thrust::device_vector<char> storage(bytes);
  call(static_cast<void*>(thrust::raw_pointer_cast(storage.data())), bytes);
}

void device_wide() {
  std::vector<int> host(kItems);
  for (int i = 0; i < kItems; ++i) host[i] = i * 7919 % 1000;
  thrust::device_vector<int> in(host.begin(), host.end()), out(kItems), one(1);
  int *i = thrust::raw_pointer_cast(in.data()), *o = thrust::raw_pointer_cast(out.data()), *n = thrust::raw_pointer_cast(one.data());
  int sum = 0, evens = 0, least = 1000, zeros = 0;
  for (int x : host) sum += x, evens += x % 2 == 0, least = std::min(least, x), zeros += x < 100;

  with_storage([&](void* s, size_t& b) { cub::DeviceReduce::Sum(s, b, i, n, kItems); });
  expect(one[0] == sum, "DeviceReduce::Sum");
  with_storage([&](void* s, size_t& b) { cub::DeviceReduce::Reduce(s, b, i, n, kItems, cub::Min(), 5000); });
  expect(one[0] == least, "DeviceReduce::Reduce");
  with_storage([&](void* s, size_t& b) { cub::DeviceScan::InclusiveSum(s, b, i, o, kItems); });
  expect(out[kItems - 1] == sum, "DeviceScan::InclusiveSum");
  with_storage([&](void* s, size_t& b) { cub::DeviceSelect::If(s, b, i, o, n, kItems, Even()); });
  expect(one[0] == evens && out[0] == 0, "DeviceSelect::If");
  with_storage([&](void* s, size_t& b) { cub::DeviceRadixSort::SortKeysDescending(s, b, i, o, kItems); });
  expect(out[0] == 999 && out[kItems - 1] == least, "DeviceRadixSort::SortKeysDescending");
  with_storage([&](void* s, size_t& b) { cub::DeviceHistogram::HistogramEven(s, b, i, o, 11, 0, 1000, kItems); });
  expect(out[0] == zeros, "DeviceHistogram::HistogramEven");
}

__global__ void block_sums(const int* in, int* out) {
  typedef cub::BlockReduce<int, 128> Reduce;
  typedef cub::BlockScan<int, 128> Scan;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } shared;
  int mine = in[threadIdx.x], before;
  int all = Reduce(shared.reduce).Sum(mine);
  __syncthreads();
  Scan(shared.scan).ExclusiveSum(mine, before);
  int other = cuda::std::exchange(mine, before);
  cuda::std::swap(mine, other);
  out[threadIdx.x] = threadIdx.x == 0 ? all : other + (mine == in[threadIdx.x] ? 0 : 1000);
}

void in_blocks() {
  thrust::device_vector<int> in(128), out(128);
  thrust::sequence(in.begin(), in.end());
  block_sums<<<1, 128>>>(thrust::raw_pointer_cast(in.data()), thrust::raw_pointer_cast(out.data()));
  expect(out[0] == 127 * 64 && out[100] == 99 * 50, "BlockReduce and BlockScan");
}

void vectors() {
  thrust::device_vector<int> a(kItems), b(kItems), keys(kItems);
  thrust::sequence(a.begin(), a.end());
  thrust::transform(a.begin(), a.end(), b.begin(), Square());
  expect(thrust::reduce(b.begin(), b.begin() + 10, 0, thrust::plus<int>()) == 285, "transform");
  expect(thrust::inner_product(a.begin(), a.begin() + 5, b.begin(), 0) == 100, "inner_product");
  thrust::transform(thrust::make_zip_iterator(thrust::make_tuple(b.begin(), a.begin())),
                    thrust::make_zip_iterator(thrust::make_tuple(b.end(), a.end())), keys.begin(), First());
  expect(keys[7] == 42, "a zip iterator");
  thrust::sort_by_key(keys.begin(), keys.end(), a.begin(), thrust::greater<int>());
  expect(a[0] == kItems - 1 && keys[kItems - 1] == 0, "sort_by_key");
  thrust::exclusive_scan(a.begin(), a.end(), b.begin());
  expect(b[2] == 2 * kItems - 3, "exclusive_scan");
  thrust::device_vector<thrust::complex<float>> c(3, thrust::complex<float>(0, 1));
  thrust::complex<float> product = thrust::reduce(c.begin(), c.end(), thrust::complex<float>(1), thrust::multiplies<thrust::complex<float>>());
  expect(product == thrust::complex<float>(0, -1), "a product of complex numbers");
}

int main() {
  device_wide();
  in_blocks();
  vectors();
  expect(cudaDeviceSynchronize() == cudaSuccess, "some call");
  printf("cub_thrust in C++ %ld: %s\n", static_cast<long>(__cplusplus), bad ? "FAILED" : "PASSED");
  return bad != 0;
}
