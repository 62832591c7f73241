// build: -I../../algorithms
#include <warpbeam/algorithms/device/by_key.cuh>
#include <warpbeam/algorithms/device/reduce.cuh>
#include <warpbeam/algorithms/iterators.cuh>

#include "check.h"

namespace wb = warpbeam;
using check::Array;

// Associative but not commutative: composition of the functions x -> a x + b, modulo 2^32.
struct Affine {
  unsigned a, b;
};
struct Compose {
  __host__ __device__ Affine operator()(const Affine& f, const Affine& g) const {
    return {f.a * g.a, f.b * g.a + g.b};
  }
};
struct Square {
  __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};

template <class T>
void sums(long long count, int offset) {
  auto host = check::random_values<T>(count, -100, 100);
  Array<T> in(host, offset);
  Array<T> out(1);
  T want{};
  for (T x : host) want = static_cast<T>(want + x);
  CHECK_CUDA(wb::reduce_sum(wb::on(), in.data(), in.data() + count, out.data()));
  CHECK(out.first() == want, count);
  T least = host.empty() ? T(101) : std::min(T(101), *std::min_element(host.begin(), host.end()));
  CHECK_CUDA(wb::reduce(wb::on(), in.data(), in.data() + count, out.data(), T(101), wb::Minimum{}));
  CHECK(out.first() == least, count);
  T most = host.empty() ? T(-101) : std::max(T(-101), *std::max_element(host.begin(), host.end()));
  CHECK_CUDA(wb::reduce(wb::on(), in.data(), in.data() + count, out.data(), T(-101), wb::Maximum{}));
  CHECK(out.first() == most, count);
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    Bits product = 3;
    for (T x : host) product = static_cast<Bits>(product * static_cast<unsigned long long>(static_cast<Bits>(x)));
    Array<Bits> bits(std::vector<Bits>(host.begin(), host.end()), offset), result(1);
    CHECK_CUDA(wb::reduce(wb::on(), bits.data(), bits.data() + count, result.data(), Bits(3), wb::Multiplies{}));
    CHECK(result.first() == product, count);
  }
}

void ordered(long long count, int offset) {
  std::vector<Affine> host(count);
  for (Affine& f : host) f = {static_cast<unsigned>(check::random_source()()) | 1, static_cast<unsigned>(check::random_source()())};
  Array<Affine> in(host, offset);
  Array<Affine> out(1);
  Affine want{1, 7};
  for (const Affine& f : host) want = Compose{}(want, f);
  CHECK_CUDA(wb::reduce(wb::on(), in.data(), in.data() + count, out.data(), Affine{1, 7}, Compose{}));
  CHECK(out.first().a == want.a && out.first().b == want.b, count);
}

void extremes(long long count) {
  auto host = check::random_values<int>(count, -50, 50);
  Array<int> in(host);
  Array<wb::IndexedValue<int>> out(1);
  CHECK_CUDA(wb::argmax(wb::on(), in.data(), in.data() + count, out.data()));
  long long want = host.empty() ? -1 : std::max_element(host.begin(), host.end()) - host.begin();
  CHECK(out.first().index == want, count);
  CHECK_CUDA(wb::argmin(wb::on(), in.data(), in.data() + count, out.data()));
  want = host.empty() ? -1 : std::min_element(host.begin(), host.end()) - host.begin();
  CHECK(out.first().index == want, count);
}

void transformed(long long count) {
  auto host = check::random_values<int>(count, -1000, 1000);
  Array<int> in(host);
  Array<long long> out(1);
  long long want = 5;
  for (int x : host) want += Square{}(x);
  CHECK_CUDA(wb::transform_reduce(wb::on(), in.data(), in.data() + count, out.data(), 5LL, wb::Plus{}, Square{}));
  CHECK(out.first() == want, count);
  wb::CountingIterator<long long> numbers(0);
  CHECK_CUDA(wb::reduce(wb::on(), numbers, numbers + count, out.data(), 0LL, wb::Plus{}));
  CHECK(out.first() == count * (count - 1) / 2, count);
}

struct ProductOfPair {
  __host__ __device__ long long operator()(const wb::Pair<int, int>& pair) const {
    return static_cast<long long>(pair.first) * pair.second;
  }
};
struct Weighted {
  __host__ __device__ int operator()(long long i) const { return static_cast<int>(i % 7); }
};

// Counting, constant, transformed and zipped inputs, and one made of several.
void iterators(long long count) {
  auto host = check::random_values<int>(count, -1000, 1000), other = check::random_values<int>(count, -1000, 1000);
  Array<int> a(host), b(other);
  Array<long long> out(1);
  long long dot = 0, weighted = 0, squares = 0;
  for (long long i = 0; i < count; ++i) {
    dot += static_cast<long long>(host[i]) * other[i];
    weighted += host[i] * (i % 7);
    squares += Square{}(host[i]);
  }
  wb::ZipIterator<int*, int*> both(a.data(), b.data());
  CHECK_CUDA(wb::transform_reduce(wb::on(), both, both + count, out.data(), 0LL, wb::Plus{}, ProductOfPair{}));
  CHECK(out.first() == dot, count);
  wb::TransformIterator<int*, Square> squared(a.data(), Square{});
  CHECK_CUDA(wb::reduce(wb::on(), squared, squared + count, out.data(), 0LL, wb::Plus{}));
  CHECK(out.first() == squares, count);
  wb::ConstantIterator<long long> threes(3);
  CHECK_CUDA(wb::reduce(wb::on(), threes, threes + count, out.data(), 0LL, wb::Plus{}));
  CHECK(out.first() == 3 * count, count);
  using Weights = wb::TransformIterator<wb::CountingIterator<long long>, Weighted>;
  wb::ZipIterator<int*, Weights> mixed(a.data(), Weights(wb::CountingIterator<long long>(0), Weighted{}));
  CHECK_CUDA(wb::transform_reduce(wb::on(), mixed, mixed + count, out.data(), 0LL, wb::Plus{}, ProductOfPair{}));
  CHECK(out.first() == weighted, count);
}

void deterministic(long long count) {
  std::vector<float> host(count);
  for (float& x : host) x = static_cast<float>(check::random_source()() % 1000) / 7.0f;
  Array<float> in(host);
  Array<float> out(1);
  double want = 0;
  for (float x : host) want += x;
  float before = 0;
  for (int run = 0; run < 3; ++run) {
    CHECK_CUDA(wb::reduce_sum(wb::on().with_determinism(), in.data(), in.data() + count, out.data()));
    float got = out.first();
    CHECK(std::abs(got - want) <= 1e-5 * want + 1e-6, count);
    if (run > 0) CHECK(std::memcmp(&got, &before, 4) == 0, count);
    before = got;
  }
}

void two_phase() {
  Array<int> in(check::random_values<int>(check::kLarge, 0, 9));
  Array<int> out(1);
  size_t bytes = 0;
  CHECK_CUDA(wb::reduce_sum(wb::on().measure(&bytes), in.data(), in.data() + check::kLarge, out.data()));
  CHECK(bytes > 0, bytes);
  Array<char> storage(bytes);
  CHECK_CUDA(wb::reduce_sum(wb::on().with_storage(storage.data(), bytes), in.data(), in.data() + check::kLarge, out.data()));
  int want = 0;
  for (int x : in.host()) want += x;
  CHECK(out.first() == want, out.first());
  CHECK(wb::reduce_sum(wb::on().with_storage(storage.data(), 1), in.data(), in.data() + check::kLarge, out.data()) ==
            cudaErrorInvalidValue, 0);
}

template <class T, class Op>
void segments(const std::vector<T>& host, long long most, T init, Op op) {
  const long long count = static_cast<long long>(host.size());
  std::vector<int> offsets = {0};
  while (offsets.back() < count)
    offsets.push_back(static_cast<int>(std::min<long long>(count, offsets.back() + check::random_source()() % (most + 1))));
  Array<T> in(host);
  Array<int> bounds(offsets);
  const long long number = static_cast<long long>(offsets.size()) - 1;
  Array<T> out(number);
  CHECK_CUDA(wb::segmented_reduce(wb::on(), in.data(), count, bounds.data(), number, out.data(), init, op));
  std::vector<T> want(number, init);
  for (long long s = 0; s < number; ++s)
    for (int i = offsets[s]; i < offsets[s + 1]; ++i) want[s] = op(want[s], host[i]);
  CHECK_EQUAL(out.host(), want);
}

// Each of the forms that short and long, many and few segments get.
void segments(long long count) {
  std::vector<Affine> functions(count);
  for (Affine& f : functions) f = {static_cast<unsigned>(check::random_source()()) | 1, static_cast<unsigned>(check::random_source()())};
  const auto numbers = check::random_values<unsigned>(count, 0, 1000);
  for (long long most : {40, 300, 1200, 6000, 40000}) {
    segments(functions, most, Affine{1, 0}, Compose{});
    segments(numbers, most, 7u, wb::Plus{});
  }
}

int main() {
  for (long long count : check::kSizes) {
    for (int offset = 0; offset < 3; ++offset) {
      sums<int>(count, offset);
      sums<long long>(count, offset);
      sums<signed char>(count, offset);
    }
    sums<double>(count, 0);
    ordered(count, count % 2);
    extremes(count);
    transformed(count);
    iterators(count);
    deterministic(count);
    segments(count);
  }
  sums<float>(1000, 1);
  sums<int>(check::kLarge, 1);
  ordered(check::kLarge / 4, 0);
  segments(check::kLarge);
  two_phase();
  return check::result("reduce");
}
