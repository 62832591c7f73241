// build: --extended-lambda
// What newer versions of Thrust have beyond Debian's: structured bindings of tuples, iterators that tabulate and move, vectors in
// pinned memory.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/offset_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
#include <thrust/type_traits/unwrap_contiguous_iterator.h>
#include <thrust/universal_vector.h>
#include <thrust/zip_function.h>
#include <cuda/functional>
#include <cuda/std/tuple>

#include <cstdio>

static int wrong = 0;
static void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++wrong;
}

struct Place {
  int* items;
  __host__ __device__ void operator()(int at, int value) const { items[at] = at * value; }
};
struct Odd {
  __host__ __device__ bool operator()(int i) const { return i % 2 != 0; }
};

int main() {
  constexpr int n = 3000;
  thrust::device_vector<int> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i % 17, b[i] = i % 5 - 2;

  const auto zipped = thrust::make_zip_iterator(a.begin(), b.begin());
  thrust::transform(zipped, zipped + n, c.begin(), [] __host__ __device__(const thrust::tuple<int, int>& pair) {
    const auto [x, y] = pair;
    return x * y + cuda::std::get<0>(pair);
  });
  bool right = true;
  for (int i = 0; i < n; i += 13) right &= c[i] == (i % 17) * (i % 5 - 2) + i % 17;
  expect(right, "structured bindings in a kernel");
  auto [first, second, third] = thrust::make_tuple(1, 2.5, 'c');
  expect(first == 1 && second == 2.5 && third == 'c', "structured bindings");
  thrust::transform(zipped, zipped + n, c.begin(), thrust::make_zip_function(cuda::minimum<>{}));
  right = true;
  for (int i = 0; i < n; i += 13) right &= c[i] == std::min(i % 17, i % 5 - 2);
  expect(right, "zip_function");

  const auto tabulated = thrust::make_tabulate_output_iterator(Place{thrust::raw_pointer_cast(c.data())});
  thrust::copy(a.begin(), a.end(), tabulated);
  right = true;
  for (int i = 0; i < n; i += 13) right &= c[i] == i * (i % 17);
  expect(right, "tabulate_output_iterator");

  thrust::offset_iterator moved(a.begin(), 10);
  expect(*moved == 10 && moved[3] == 13 && *(moved + 1) == 11, "offset_iterator");
  expect(thrust::reduce(moved, moved + 7) == 10 + 11 + 12 + 13 + 14 + 15 + 16, "offset_iterator in reduce");
  thrust::device_vector<int> by(1, 20);
  thrust::offset_iterator later(a.begin(), by.begin());
  expect(thrust::reduce(later, later + 3) == 3 + 4 + 5, "offset_iterator by a number of the device's");

  thrust::universal_host_pinned_vector<int> pinned(n, 3);
  pinned[5] = 10;
  expect(thrust::reduce(pinned.begin(), pinned.end()) == 3 * n + 7, "universal_host_pinned_vector");
  thrust::universal_vector<int> managed(n, 2);
  managed[7] = 9;
  expect(thrust::reduce(thrust::cuda::par_nosync, managed.begin(), managed.end(), 0, cuda::maximum<>{}) == 9, "universal_vector");
  expect(thrust::count_if(a.begin(), a.end(), thrust::not_fn(Odd())) + thrust::count_if(a.begin(), a.end(), Odd()) == n, "not_fn");
  int* raw = thrust::unwrap_contiguous_iterator(managed.begin());
  expect(raw[7] == 9, "unwrap_contiguous_iterator");

  std::printf(wrong ? "FAILED\n" : "PASSED\n");
  return wrong != 0;
}
