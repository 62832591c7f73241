// build: --extended-lambda
// Thrust's tuples and pairs are those of cuda::std, as in CCCL 3: functions of either name take both, on the host and in kernels.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/mismatch.h>
#include <thrust/pair.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
#include <cuda/std/tuple>
#include <cuda/std/utility>

#include <cstdio>
#include <type_traits>

static int wrong = 0;
static void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++wrong;
}

static_assert(std::is_same<thrust::tuple<int, float>, cuda::std::tuple<int, float>>::value, "");
static_assert(std::is_same<thrust::pair<int, float>, cuda::std::pair<int, float>>::value, "");
static_assert(thrust::tuple_size<thrust::tuple<int, char, float>>::value == 3, "");
static_assert(cuda::std::tuple_size<thrust::pair<int, char>>::value == 2, "");
static_assert(std::is_same<thrust::tuple_element<1, cuda::std::tuple<int, char>>::type, char>::value, "");

using Pair = thrust::tuple<int, float>;

__host__ __device__ int sum_of_three(cuda::std::tuple<int, int, int> t) {
  int a, c;
  thrust::tie(a, cuda::std::ignore, c) = t;
  return a + cuda::std::get<1>(t) + c;
}

// Both sides of everything: what it gives on the host is what it gives here.
__host__ __device__ int mixed(int seed) {
  thrust::tuple<int, int, int> t = cuda::std::make_tuple(seed, seed + 1, seed + 2);
  thrust::get<2>(t) += 5;
  cuda::std::get<0>(t) *= 2;
  auto [x, y, z] = t;
  int out = x + 10 * y + 100 * z + sum_of_three(t);
  thrust::pair<int, float> p = cuda::std::make_pair(seed, 2.5f);
  thrust::tuple<int, float> from_pair = p;
  out += static_cast<int>(2 * thrust::get<1>(from_pair)) + p.first;
  thrust::tuple<long, double> wider = from_pair;
  out += wider == thrust::make_tuple(static_cast<long>(seed), 2.5) ? 1000 : 0;
  out += thrust::make_tuple(1, 2) < cuda::std::make_tuple(1, 3) ? 2000 : 0;
  out += thrust::make_pair(2, 2) != cuda::std::make_pair(1, 3) ? 4000 : 0;
  auto other = thrust::make_tuple(7, 8, 9);
  t.swap(other);
  swap(t, other);
  out += cuda::std::apply([](int a, int b, int c) { return a - b + c; }, t);
  t = cuda::std::make_tuple(1, 2, 3);
  return out + thrust::get<1>(t);
}

__global__ void run_mixed(int* out) { out[threadIdx.x] = mixed(static_cast<int>(threadIdx.x)); }

struct Larger {
  __host__ __device__ Pair operator()(const Pair& a, const Pair& b) const { return thrust::get<1>(a) < cuda::std::get<1>(b) ? b : a; }
};
struct ByFirst {
  template <class A, class B>
  __host__ __device__ bool operator()(const A& a, const B& b) const { return thrust::get<0>(a) < thrust::get<0>(b); }
};

int main() {
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  run_mixed<<<1, 32>>>(out);
  expect(cudaDeviceSynchronize() == cudaSuccess, "kernel");
  bool right = true;
  for (int i = 0; i < 32; ++i) right &= out[i] == mixed(i);
  expect(right, "kernel and host");

  constexpr int n = 3000;
  thrust::device_vector<int> keys(n);
  thrust::device_vector<float> values(n);
  for (int i = 0; i < n; ++i) keys[i] = (i * 7919) % n, values[i] = static_cast<float>(i);
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(keys.begin(), values.begin()));
  auto same = thrust::make_zip_iterator(keys.begin(), values.begin());
  expect(zipped == same, "make_zip_iterator");

  thrust::device_vector<int> products(n);
  thrust::transform(zipped, zipped + n, products.begin(),
                    [] __device__(auto t) { return thrust::get<0>(t) * 2 + static_cast<int>(cuda::std::get<1>(t)); });
  right = true;
  for (int i = 0; i < n; i += 17) right &= products[i] == (i * 7919) % n * 2 + i;
  expect(right, "generic lambda");
  thrust::for_each(zipped, zipped + n, [] __device__(auto&& t) {
    auto&& [key, value] = t;
    value += 0 * key;
    thrust::get<0>(t) += 1;
  });
  expect(keys[3] == 3 * 7919 % n + 1, "for_each changes what a zip_iterator refers to");

  thrust::sort(zipped, zipped + n);
  right = true;
  for (int i = 0; i < n; i += 11) right &= keys[i] == i + 1 && (static_cast<int>(values[i]) * 7919) % n == i;
  expect(right, "sort");
  thrust::reverse(zipped, zipped + n);
  thrust::sort(zipped, zipped + n, ByFirst());
  expect(keys[5] == 6, "reverse and sort by a comparison");
  thrust::host_vector<Pair> pairs(n);
  thrust::copy(zipped, zipped + n, pairs.begin());
  expect(thrust::get<0>(pairs[9]) == 10, "copy to tuples of the host");
  thrust::device_vector<Pair> on_device = pairs;
  Pair one = on_device[4];
  expect(cuda::std::get<0>(one) == 5, "tuple of the device's");
  on_device[4] = thrust::make_tuple(50, 0.5f);
  thrust::copy(on_device.begin(), on_device.end(), zipped);
  expect(keys[4] == 50 && values[4] == 0.5f, "tuples into a zip_iterator");
  thrust::sort(on_device.begin(), on_device.end());
  expect(Pair(on_device[0]) == Pair(pairs[0]), "sort of tuples");
  Pair most = thrust::reduce(zipped, zipped + n, Pair(0, -1.f), Larger());
  expect(thrust::get<1>(most) == n - 1, "reduce of tuples");
  Pair first = *zipped;
  *zipped = thrust::make_tuple(-3, 4.f);
  expect(keys[0] == -3 && thrust::get<0>(first) == 1, "assignment to a temporary");
  thrust::host_vector<int> ha(2), hb(2);
  ha[0] = 1, ha[1] = 2, hb[0] = 3, hb[1] = 4;
  auto hz = thrust::make_zip_iterator(ha.begin(), hb.begin());
  thrust::swap_ranges(hz, hz + 1, hz + 1);
  auto r0 = hz[0], r1 = hz[1];
  expect(ha[0] == 2 && hb[1] == 3, "swap_ranges");
  using thrust::swap;
  swap(r0, r1);
  expect(ha[0] == 1 && hb[1] == 4, "swap");

  auto ends = thrust::minmax_element(keys.begin(), keys.end());
  expect(*ends.first == -3 && *ends.second == n, "minmax_element");
  thrust::device_vector<int> a(8, 3), b(8, 3);
  b[5] = 4;
  thrust::device_vector<int>::iterator ia, ib;
  thrust::tie(ia, ib) = thrust::mismatch(a.begin(), a.end(), b.begin());
  expect(ia - a.begin() == 5 && ib - b.begin() == 5, "mismatch");
  for (int i = 0; i < 8; ++i) a[i] = i / 3, b[i] = 1;
  thrust::device_vector<int> uniques(8), counts(8);
  const auto [key_end, count_end] = thrust::reduce_by_key(a.begin(), a.end(), b.begin(), uniques.begin(), counts.begin());
  expect(key_end - uniques.begin() == 3 && counts[2] == 2 && count_end - counts.begin() == 3, "reduce_by_key");
  thrust::device_vector<int> labels(8);
  for (int i = 0; i < 8; ++i) labels[i] = i % 2;
  auto small = thrust::make_zip_iterator(a.begin(), labels.begin());
  auto rest = thrust::remove_if(small, small + 8, [] __host__ __device__(const thrust::tuple<int, int>& t) { return cuda::std::get<1>(t) == 1; });
  expect(rest - small == 4 && a[3] == 2, "remove_if");
  auto last = thrust::unique(small, small + 4);
  expect(last - small == 3, "unique");
  auto middle = thrust::partition(small, small + 3, [] __device__(auto t) { return thrust::get<0>(t) > 0; });
  expect(middle - small == 2, "partition");
  auto sums = thrust::make_zip_iterator(uniques.begin(), counts.begin());
  thrust::inclusive_scan(small, small + 3, sums, [] __host__ __device__(thrust::tuple<int, int> x, thrust::tuple<int, int> y) {
    return thrust::make_tuple(thrust::get<0>(x) + thrust::get<0>(y), cuda::std::get<1>(x) + cuda::std::get<1>(y));
  });
  expect(uniques[2] == 3, "scan of tuples");
  const int dot = thrust::inner_product(a.begin(), a.end(), b.begin(), 0, thrust::plus<int>(), thrust::multiplies<int>());
  expect(dot == thrust::transform_reduce(thrust::make_zip_iterator(a.begin(), b.begin()), thrust::make_zip_iterator(a.end(), b.end()),
                                         [] __device__(auto t) -> int { return thrust::get<0>(t) * thrust::get<1>(t); }, 0, thrust::plus<int>()), "transform_reduce");
  using namespace thrust::placeholders;
  thrust::transform(a.begin(), a.end(), b.begin(), a.begin(), 2 * _1 + _2);
  thrust::counting_iterator<int> count(0);
  auto deep = thrust::make_zip_iterator(thrust::make_tuple(count, thrust::make_constant_iterator(2), thrust::make_zip_iterator(a.begin(), b.begin())));
  const int nested = thrust::transform_reduce(deep, deep + 8, [] __device__(auto t) -> int {
    return thrust::get<0>(t) * cuda::std::get<1>(t) + 0 * thrust::get<0>(thrust::get<2>(t)); }, 0, thrust::plus<int>());
  expect(nested == 56, "zip_iterator of a zip_iterator");

  std::printf(wrong ? "FAILED\n" : "PASSED\n");
  return wrong != 0;
}
