// build: -I../../algorithms
#include <warpbeam/algorithms/device/select.cuh>
#include <warpbeam/algorithms/iterators.cuh>

#include "check.h"

namespace wb = warpbeam;
using check::Array;

struct Below {
  int limit;
  template <class T>
  __host__ __device__ bool operator()(const T& x) const {
    return x < T(limit);
  }
};

template <class T>
void selections(long long count, int offset, int limit) {
  auto host = check::random_values<T>(count, 0, 99);
  Array<T> in(host, offset), out(count), rest(count);
  Array<long long> kept(1);
  std::vector<T> want, others;
  for (T x : host) (Below{limit}(x) ? want : others).push_back(x);

  CHECK_CUDA(wb::copy_if(wb::on(), in.data(), in.data() + count, out.data(), kept.data(), Below{limit}));
  CHECK(kept.first() == static_cast<long long>(want.size()), count);
  auto got = out.host();
  got.resize(want.size());
  CHECK_EQUAL(got, want);

  CHECK_CUDA(wb::partition_copy(wb::on(), in.data(), in.data() + count, out.data(), rest.data(), kept.data(), Below{limit}));
  CHECK(kept.first() == static_cast<long long>(want.size()), count);
  got = out.host();
  got.resize(want.size());
  CHECK_EQUAL(got, want);
  got = rest.host();
  got.resize(others.size());
  CHECK_EQUAL(got, others);

  Array<T> both(count);
  Array<long long> selected(1);
  size_t bytes = 0;
  CHECK_CUDA(wb::partition(wb::on().measure(&bytes), in.data(), in.data() + count, both.data(), selected.data(), Below{limit}));
  Array<char> storage(bytes);
  CHECK_CUDA(wb::partition(wb::on().with_storage(storage.data(), bytes), in.data(), in.data() + count, both.data(), selected.data(), Below{limit}));
  CHECK(selected.first() == static_cast<long long>(want.size()), count);
  auto reversed = want;
  reversed.insert(reversed.end(), others.rbegin(), others.rend());
  want.insert(want.end(), others.begin(), others.end());
  CHECK_EQUAL(both.host(), want);
  CHECK_CUDA(wb::partition(wb::on(), in.data(), in.data() + count, both.data(), selected.data(), Below{limit}, wb::RestOrder::reversed));
  CHECK(selected.first() == static_cast<long long>(count - others.size()), count);
  CHECK_EQUAL(both.host(), reversed);
}

template <class T>
void uniques(long long count, int values, int offset) {
  auto host = check::random_values<T>(count, 0, values - 1);
  Array<T> in(host, offset), out(count);
  Array<long long> kept(1);
  CHECK_CUDA(wb::unique(wb::on(), in.data(), in.data() + count, out.data(), kept.data()));
  auto want = host;
  want.erase(std::unique(want.begin(), want.end()), want.end());
  CHECK(kept.first() == static_cast<long long>(want.size()), count);
  auto got = out.host();
  got.resize(want.size());
  CHECK_EQUAL(got, want);
}

struct Divides {
  int by;
  __host__ __device__ bool operator()(long long x) const { return x % by == 0; }
};

// Which numbers a predicate picks, from no memory at all.
void indices(long long count) {
  wb::CountingIterator<long long> numbers(0);
  Array<long long> out(count), kept(1);
  std::vector<long long> want;
  for (long long i = 0; i < count; i += 3) want.push_back(i);
  CHECK_CUDA(wb::copy_if(wb::on(), numbers, numbers + count, out.data(), kept.data(), Divides{3}));
  CHECK(kept.first() == static_cast<long long>(want.size()), count);
  auto got = out.host();
  got.resize(want.size());
  CHECK_EQUAL(got, want);
}

int main() {
  for (long long count : check::kSizes) {
    for (int limit : {0, 1, 50, 100}) {
      selections<int>(count, 0, limit);
      selections<int>(count, 1, limit);
      selections<long long>(count, 0, limit);
      selections<unsigned char>(count, 0, limit);
    }
    indices(count);
    for (int values : {1, 2, 50}) {
      uniques<int>(count, values, 0);
      uniques<float>(count, values, 1);
      uniques<short>(count, values, 0);
    }
  }
  selections<float>(check::kLarge, 0, 50);
  selections<double>(check::kLarge, 0, 3);
  uniques<int>(check::kLarge, 2, 0);
  return check::result("select");
}
