// build: -I../../algorithms
#include <warpbeam/algorithms/device/by_key.cuh>
#include <warpbeam/algorithms/device/scan.cuh>

#include "check.h"

namespace wb = warpbeam;
using check::Array;

struct Affine {
  unsigned a, b;
};
struct Compose {
  __host__ __device__ Affine operator()(const Affine& f, const Affine& g) const {
    return {f.a * g.a, f.b * g.a + g.b};
  }
};
// 24 bytes: larger than any word the device reads at once.
struct Wide {
  unsigned long long count, sum, bits;
};
struct JoinWide {
  __host__ __device__ Wide operator()(const Wide& a, const Wide& b) const {
    return {a.count + b.count, a.sum + b.sum, a.bits | b.bits};
  }
};

template <class T, class Op>
void scans(const std::vector<T>& host, T init, Op op, int offset, wb::Policy policy) {
  const long long count = static_cast<long long>(host.size());
  Array<T> in(host, offset);
  Array<T> out(host.size(), offset);
  std::vector<T> exclusive(host.size()), inclusive(host.size());
  T before = init;
  for (long long i = 0; i < count; ++i) {
    exclusive[i] = before;
    before = op(before, host[i]);
    inclusive[i] = i ? op(inclusive[i - 1], host[i]) : host[i];
  }
  CHECK_CUDA(wb::exclusive_scan(policy, in.data(), in.data() + count, out.data(), init, op));
  CHECK_EQUAL(out.host(), exclusive);
  CHECK_CUDA(wb::inclusive_scan(policy, in.data(), in.data() + count, out.data(), op));
  CHECK_EQUAL(out.host(), inclusive);
  CHECK_CUDA(wb::inclusive_scan(policy, in.data(), in.data() + count, in.data(), op));  // in place
  CHECK_EQUAL(in.host(), inclusive);
}

template <class T>
void numbers(long long count, int offset) {
  auto host = check::random_values<T>(count, -9, 9);
  scans<T>(host, T(3), wb::Plus{}, offset, wb::on());
  scans<T>(host, T(3), wb::Plus{}, offset, wb::on().with_determinism());
  scans<T>(host, T(-9), wb::Maximum{}, offset, wb::on());
}

void structures(long long count) {
  std::vector<Affine> functions(count);
  for (Affine& f : functions) f = {static_cast<unsigned>(check::random_source()()) | 1, static_cast<unsigned>(check::random_source()())};
  scans(functions, Affine{3, 1}, Compose{}, 0, wb::on());
  scans(functions, Affine{3, 1}, Compose{}, 0, wb::on().with_determinism());
  std::vector<Wide> wide(count);
  for (Wide& w : wide) w = {1, check::random_source()() % 100, 1ull << check::random_source()() % 64};
  scans(wide, Wide{0, 0, 0}, JoinWide{}, 0, wb::on());
}

template <class Key, class T>
void by_key(long long count, int runs, int offset = 0) {
  std::vector<Key> keys(count);
  Key key = 0;
  for (Key& k : keys) k = key += check::random_source()() % runs == 0;
  auto host = check::random_values<T>(count, -9, 9);
  Array<Key> device_keys(keys, offset);
  Array<T> values(host, offset), out(count);
  std::vector<T> inclusive(count), exclusive(count), most(count);
  for (long long i = 0; i < count; ++i) {
    bool starts = i == 0 || keys[i] != keys[i - 1];
    inclusive[i] = starts ? host[i] : inclusive[i - 1] + host[i];
    exclusive[i] = starts ? 100 : exclusive[i - 1] + host[i - 1];
    most[i] = starts ? T(-3) : std::max(most[i - 1], host[i - 1]);
  }
  const Key *first = device_keys.data(), *last = first + count;
  CHECK_CUDA(wb::inclusive_scan_by_key(wb::on(), first, last, values.data(), out.data(), wb::Plus{}));
  CHECK_EQUAL(out.host(), inclusive);
  CHECK_CUDA(wb::exclusive_scan_by_key(wb::on(), first, last, values.data(), out.data(), T(100), wb::Plus{}));
  CHECK_EQUAL(out.host(), exclusive);
  CHECK_CUDA(wb::exclusive_scan_by_key(wb::on(), first, last, values.data(), out.data(), T(-3), wb::Maximum{}));
  CHECK_EQUAL(out.host(), most);
  CHECK_CUDA(wb::inclusive_scan_by_key(wb::on().with_determinism(), first, last, values.data(), out.data(), wb::Plus{}));
  CHECK_EQUAL(out.host(), inclusive);
}

int main() {
  for (long long count : check::kSizes) {
    for (int offset = 0; offset < 3; ++offset) {
      numbers<int>(count, offset);
      numbers<long long>(count, offset);
    }
    numbers<signed char>(count, 1);
    numbers<short>(count, 0);
    numbers<double>(count, 0);
    structures(count);
    by_key<int, int>(count, 7);
    by_key<int, int>(count, 3000);
    by_key<unsigned, float>(count, 40);
    by_key<long long, double>(count, 40);
    by_key<int, int>(count, 20, 1);
    by_key<short, long long>(count, 20);
  }
  numbers<float>(check::kLarge, 0);
  numbers<int>(check::kLarge, 0);
  numbers<long long>(check::kLarge, 0);
  by_key<int, int>(check::kLarge, 100);
  by_key<int, int>(check::kLarge, 1 << 20);
  by_key<long long, long long>(check::kLarge, 1000);
  return check::result("scan");
}
