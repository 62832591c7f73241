// needs: /usr/include/thrust/version.h
// thrust_algorithms: Thrust as Debian packages it (libthrust-dev): vectors, sorting, scans, reductions, compaction and
// fancy iterators, each held against the same computed on the host.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

struct Odd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};
struct Square {
  __host__ __device__ long long operator()(int x) const { return 1ll * x * x; }
};
struct DotPair {
  __host__ __device__ int operator()(const thrust::tuple<int, int>& t) const { return thrust::get<0>(t) * thrust::get<1>(t); }
};

int failures = 0;
void report(const char* what, bool right) {
  std::printf("%-28s %s\n", what, right ? "right" : "WRONG");
  failures += !right;
}

int main() {
  const int n = 1000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = (i * 7919 + 13) % 503;
  thrust::device_vector<int> values(host.begin(), host.end());

  thrust::device_vector<int> sorted = values;
  thrust::sort(sorted.begin(), sorted.end());
  std::vector<int> expected = host;
  std::sort(expected.begin(), expected.end());
  thrust::host_vector<int> back = sorted;
  report("sort", std::equal(expected.begin(), expected.end(), back.begin()));

  report("reduce", thrust::reduce(values.begin(), values.end()) == std::accumulate(host.begin(), host.end(), 0));
  report("transform_reduce", thrust::transform_reduce(values.begin(), values.end(), Square(), 0ll, thrust::plus<long long>()) ==
                                 std::accumulate(host.begin(), host.end(), 0ll, [](long long s, int x) { return s + 1ll * x * x; }));

  thrust::device_vector<int> scanned(n);
  thrust::exclusive_scan(values.begin(), values.end(), scanned.begin(), 5);
  std::vector<int> sums(n);
  int sum = 5;
  for (int i = 0; i < n; ++i) {
    sums[i] = sum;
    sum += host[i];
  }
  back = scanned;
  report("exclusive_scan", std::equal(sums.begin(), sums.end(), back.begin()));

  thrust::device_vector<int> odd(n);
  auto odd_end = thrust::copy_if(values.begin(), values.end(), odd.begin(), Odd());
  expected.clear();
  std::copy_if(host.begin(), host.end(), std::back_inserter(expected), Odd());
  odd.resize(odd_end - odd.begin());
  back = odd;
  report("copy_if", back.size() == expected.size() && std::equal(expected.begin(), expected.end(), back.begin()));

  auto unique_end = thrust::unique(sorted.begin(), sorted.end());
  expected = host;
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  report("unique", unique_end - sorted.begin() == long(expected.size()));

  thrust::device_vector<int> keys(n), ones(n, 1), out_keys(n), out_counts(n);
  for (int i = 0; i < n; ++i) host[i] = i / 37;
  keys.assign(host.begin(), host.end());
  auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), ones.begin(), out_keys.begin(), out_counts.begin());
  report("reduce_by_key", ends.first - out_keys.begin() == (n + 36) / 37 && out_counts[0] == 37);

  auto first = thrust::make_counting_iterator(1);
  auto squares = thrust::make_transform_iterator(first, Square());
  report("counting and transform", thrust::reduce(squares, squares + 100, 0ll) == 338350);
  auto pairs = thrust::make_zip_iterator(thrust::make_tuple(keys.begin(), ones.begin()));
  report("zip", thrust::transform_reduce(pairs, pairs + n, DotPair(), 0, thrust::plus<int>()) == std::accumulate(host.begin(), host.end(), 0));
  return failures;
}
