// build: -I../../algorithms
// The table of docs/algorithms.md on what each call takes: iterators in place of pointers, and types the other tests leave
// out. Results are compared with the host's on a few hundred items.
#include <warpbeam/algorithms/algorithms.cuh>

#include <numeric>

#include "check.h"

using namespace warpbeam;
using check::Array;

constexpr long long kCount = 777;

struct Halved {
  __host__ __device__ int operator()(int x) const { return x / 2; }
};
struct IsThird {
  __host__ __device__ bool operator()(int x) const { return x % 3 == 0; }
};
struct Tenth {
  __host__ __device__ long long operator()(long long i) const { return i * 10; }
};
// 12 bytes: nothing that a fast path would take.
struct Triple {
  int a, b, c;
  __host__ __device__ bool operator==(const Triple& other) const { return a == other.a && b == other.b && c == other.c; }
};
struct AddTriples {
  __host__ __device__ Triple operator()(const Triple& x, const Triple& y) const { return {x.a + y.a, x.b + y.b, x.c + y.c}; }
};
struct FirstIsEven {
  __host__ __device__ bool operator()(const Triple& x) const { return x.a % 2 == 0; }
};
struct ByFirst {
  __host__ __device__ bool operator()(const Triple& x, const Triple& y) const { return x.a < y.a; }
};

void iterators() {
  const auto host = check::random_values<int>(kCount, 0, 40);
  Array<int> in(host), out(kCount), rest(kCount);
  Array<long long> wide(kCount), kept(1);
  TransformIterator<int*, Halved> halved(in.data(), Halved{});
  CountingIterator<int> numbers(0);
  std::vector<int> half(kCount);
  for (long long i = 0; i < kCount; ++i) half[i] = host[i] / 2;

  std::vector<int> want(kCount);
  std::partial_sum(half.begin(), half.end(), want.begin());
  CHECK_CUDA(inclusive_scan(on(), halved, halved + kCount, out.data(), Plus{}));
  CHECK_EQUAL(out.host(), want);
  CHECK_CUDA(inclusive_scan(on().with_determinism(), halved, halved + kCount, out.data(), Plus{}));
  CHECK_EQUAL(out.host(), want);

  Array<IndexedValue<int>> best(1);
  CHECK_CUDA(argmax(on(), halved, halved + kCount, best.data()));
  CHECK(best.first().index == std::max_element(half.begin(), half.end()) - half.begin(), best.first().index);

  std::vector<int> thirds, others;
  for (int i = 0; i < kCount; ++i) (i % 3 ? others : thirds).push_back(i);
  CHECK_CUDA(partition_copy(on(), numbers, numbers + kCount, out.data(), rest.data(), kept.data(), IsThird{}));
  auto first = [](const Array<int>& array, size_t count) {
    auto all = array.host();
    all.resize(count);
    return all;
  };
  CHECK_EQUAL(first(out, thirds.size()), thirds);
  CHECK_EQUAL(first(rest, others.size()), others);

  auto runs = half;
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  CHECK_CUDA(unique(on(), halved, halved + kCount, out.data(), kept.data()));
  CHECK_EQUAL(first(out, runs.size()), runs);

  // A segment for every run of equal halves; the items are their own places.
  for (long long i = 0; i < kCount; ++i) want[i] = static_cast<int>(i) + (i > 0 && half[i] == half[i - 1] ? want[i - 1] : 0);
  CHECK_CUDA(inclusive_scan_by_key(on(), halved, halved + kCount, numbers, out.data(), Plus{}));
  CHECK_EQUAL(out.host(), want);

  TransformIterator<CountingIterator<long long>, Tenth> offsets(CountingIterator<long long>(0), Tenth{});
  CHECK_CUDA(segmented_reduce(on(), halved, kCount, offsets, 77, out.data(), 5, Plus{}));
  std::vector<int> sums(77);
  for (int s = 0; s < 77; ++s) sums[s] = std::accumulate(half.begin() + s * 10, half.begin() + s * 10 + 10, 5);
  CHECK_EQUAL(first(out, 77), sums);
}

void structures() {
  std::vector<Triple> host(kCount);
  const auto a = check::random_values<int>(kCount, 0, 30);
  for (int i = 0; i < kCount; ++i) host[i] = {a[i], i, -i};
  Array<Triple> in(host), out(kCount), one(1);
  Array<long long> kept(1);
  std::vector<Triple> want(kCount);
  std::partial_sum(host.begin(), host.end(), want.begin(), AddTriples{});
  CHECK_CUDA(inclusive_scan(on(), in.data(), in.data() + kCount, out.data(), AddTriples{}));
  CHECK_EQUAL(out.host(), want);
  CHECK_CUDA(reduce(on(), in.data(), in.data() + kCount, one.data(), Triple{}, AddTriples{}));
  CHECK(one.first() == want.back(), one.first().a);
  CHECK_CUDA(copy_if(on(), in.data(), in.data() + kCount, out.data(), kept.data(), FirstIsEven{}));
  want.clear();
  for (const Triple& x : host)
    if (x.a % 2 == 0) want.push_back(x);
  auto got = out.host();
  got.resize(want.size());
  CHECK_EQUAL(got, want);
  want = host;
  std::stable_sort(want.begin(), want.end(), ByFirst{});
  CHECK_CUDA(merge_sort_keys(on(), in.data(), out.data(), kCount, ByFirst{}));
  CHECK_EQUAL(out.host(), want);
  // Values of any size follow their keys.
  Array<int> keys(a), keys_out(kCount);
  CHECK_CUDA(sort_pairs(on(), keys.data(), keys_out.data(), in.data(), out.data(), kCount));
  CHECK_EQUAL(out.host(), want);
  CHECK_CUDA(merge_sort_pairs(on(), keys.data(), keys_out.data(), in.data(), out.data(), kCount, Less{}));
  CHECK_EQUAL(out.host(), want);
}

// Samples and counters of other types than bytes and 32 bits.
template <class T, class Counter>
void histograms() {
  const auto host = check::random_values<T>(kCount, 0, 99);
  Array<T> in(host);
  Array<Counter> counts(10);
  std::vector<Counter> want(10);
  for (T x : host) ++want[static_cast<int>(x) / 10];
  CHECK_CUDA(histogram_even(on(), in.data(), kCount, counts.data(), 10, 0, 100));
  CHECK_EQUAL(counts.host(), want);
}

int main() {
  iterators();
  structures();
  histograms<unsigned short, unsigned>();
  histograms<int, unsigned long long>();
  histograms<float, unsigned>();
  histograms<double, unsigned>();
  return check::result("types");
}
