// What kernels call of cuda::std in C++17: the algorithms, and pairs, tuples, arrays, optional values, variants and owned
// objects that change their values. The same lines with the host's library tell what is right.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#if __has_include(<cuda/std/algorithm>)
#include <cuda/std/algorithm>
#else
#include <cuda/std/__algorithm_>
#endif
#include <cuda/std/array>
#include <cuda/std/functional>
#include <cuda/std/iterator>
#if __has_include(<cuda/std/memory>)
#include <cuda/std/memory>
#else
#include <cuda/std/__memory_>
#endif
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>

struct Odd {
  __host__ __device__ bool operator()(int i) const { return i % 2 != 0; }
};
struct Twice {
  __host__ __device__ int operator()(int i) const { return 2 * i; }
};
struct Counter {
  int next = 0;
  __host__ __device__ int operator()() { return next++; }
};
struct Owned {
  int* living;
  __host__ __device__ explicit Owned(int* l) : living(l) { ++*living; }
  __host__ __device__ ~Owned() { --*living; }
};

#define SEARCHES(ks)                                                                             \
  int a[10] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};                                                    \
  const int s[6] = {1, 2, 2, 4, 7, 9};                                                           \
  *o++ = int(ks::find(a, a + 10, 9) - a);                                                        \
  *o++ = int(ks::find_if(a, a + 10, Odd()) - a);                                                 \
  *o++ = int(ks::find_if_not(a, a + 10, Odd()) - a);                                             \
  *o++ = int(ks::adjacent_find(s, s + 6) - s);                                                   \
  *o++ = int(ks::find_first_of(a, a + 10, s + 3, s + 6) - a);                                    \
  *o++ = int(ks::find_end(a, a + 10, s, s + 1) - a);                                             \
  *o++ = int(ks::search(a, a + 10, a + 4, a + 6) - a);                                           \
  *o++ = int(ks::search_n(s, s + 6, 2, 2) - s);                                                  \
  *o++ = int(ks::count(a, a + 10, 5)) + 10 * int(ks::count_if(a, a + 10, Odd()));                \
  *o++ = ks::all_of(a, a + 10, Odd()) + 2 * ks::any_of(a, a + 10, Odd()) + 4 * ks::none_of(a, a + 10, Odd()); \
  *o++ = int(ks::lower_bound(s, s + 6, 2) - s) + 10 * int(ks::upper_bound(s, s + 6, 2) - s);     \
  *o++ = int(ks::equal_range(s, s + 6, 2).second - s) + 10 * ks::binary_search(s, s + 6, 7);     \
  *o++ = int(ks::min_element(a, a + 10) - a) + 10 * int(ks::max_element(a, a + 10) - a);         \
  *o++ = int(ks::minmax_element(a, a + 10).second - a) + 10 * ks::minmax(4, 3).first;            \
  *o++ = ks::clamp(11, 0, 9) + ks::max({1, 5, 2}) + ks::min(7, 4);                               \
  *o++ = int(ks::mismatch(a, a + 10, s).first - a) + 10 * ks::equal(a, a + 10, a);               \
  *o++ = ks::is_sorted(s, s + 6) + 2 * int(ks::is_sorted_until(a, a + 10) - a);                  \
  *o++ = ks::lexicographical_compare(a, a + 10, s, s + 6) + 2 * ks::includes(s, s + 6, s + 1, s + 3); \
  *o++ = ks::is_partitioned(a, a + 10, Odd()) + 2 * ks::is_permutation(a, a + 10, a) + 4 * ks::is_heap(a, a + 10);

#define CHANGES(ks)                                                                              \
  int b[20], c[20];                                                                              \
  auto put = [&o](const int* first, const int* last) {                                           \
    int sum = 0;                                                                                 \
    for (int k = 1; first != last; ++first, ++k) sum += k * *first;                              \
    *o++ = sum;                                                                                  \
  };                                                                                             \
  put(b, ks::copy(a, a + 10, b));                                                                \
  put(b, ks::copy_if(a, a + 10, b, Odd()));                                                      \
  put(b, ks::copy_n(a, 7, b));                                                                   \
  put(ks::copy_backward(a, a + 10, b + 12), b + 12);                                             \
  put(b, ks::transform(a, a + 10, b, Twice()));                                                  \
  put(b, ks::transform(a, a + 10, b, b, ks::plus<int>()));                                       \
  put(b, ks::remove_copy(a, a + 10, b, 5));                                                      \
  put(b, ks::replace_copy(a, a + 10, b, 5, 8));                                                  \
  put(b, ks::reverse_copy(a, a + 10, b));                                                        \
  put(b, ks::rotate_copy(a, a + 3, a + 10, b));                                                  \
  put(b, ks::unique_copy(s, s + 6, b));                                                          \
  put(b, ks::merge(s, s + 6, s, s + 4, b));                                                      \
  put(b, ks::set_union(s, s + 6, s + 1, s + 4, b));                                              \
  put(b, ks::set_intersection(s, s + 6, s + 1, s + 4, b));                                       \
  put(b, ks::set_difference(s, s + 6, s + 1, s + 4, b));                                         \
  put(b, ks::set_symmetric_difference(s, s + 6, s + 1, s + 4, b));                               \
  put(b, ks::partition_copy(a, a + 10, b, c, Odd()).first);                                      \
  put(b, ks::generate_n(b, 5, Counter()));                                                       \
  ks::generate(b, b + 4, Counter());                                                             \
  put(b, ks::fill_n(b, 2, 9) + 3);                                                               \
  ks::fill(b, b + 3, 4);                                                                         \
  ks::copy(a, a + 10, b);                                                                        \
  put(b, ks::remove_if(b, b + 10, Odd()));                                                       \
  ks::replace(b, b + 3, 4, 44);                                                                  \
  ks::reverse(b, b + 3);                                                                         \
  put(b, b + 3);                                                                                 \
  ks::copy(a, a + 10, b);                                                                        \
  ks::rotate(b, b + 4, b + 10);                                                                  \
  ks::swap_ranges(b, b + 2, b + 5);                                                              \
  ks::iter_swap(b, b + 9);                                                                       \
  put(b, b + 10);                                                                                \
  *o++ = ks::next_permutation(b, b + 10) + 2 * ks::prev_permutation(c, c + 1);                   \
  put(b, b + 10);                                                                                \
  ks::partial_sort(b, b + 4, b + 10);                                                            \
  put(b, b + 4);                                                                                 \
  ks::make_heap(b, b + 10);                                                                      \
  ks::pop_heap(b, b + 10);                                                                       \
  ks::push_heap(b, b + 10);                                                                      \
  *o++ = b[0];                                                                                   \
  ks::sort_heap(b, b + 10);                                                                      \
  put(b, b + 10);                                                                                \
  ks::copy(a, a + 10, b);                                                                        \
  put(b, ks::partition(b, b + 10, Odd()) - 6);                                                   \
  ks::for_each(a, a + 10, [&](int i) { *o += i; });                                              \
  ++o;

#define VALUES(ks)                                                                               \
  ks::pair<int, float> p(1, 2.5f), q;                                                            \
  q = p;                                                                                         \
  q.first = 7;                                                                                   \
  ks::swap(p, q);                                                                                \
  q = ks::make_pair(p.first + 1, 3);                                                             \
  *o++ = p.first * 100 + q.first * 10 + int(q.second) + 1000 * (p < q) + 2000 * (p == p);        \
  ks::tuple<int, char, double> t(1, 'a', 2.0), u;                                                \
  u = t;                                                                                         \
  ks::get<2>(u) = 3;                                                                             \
  ks::swap(t, u);                                                                                \
  int x = 0;                                                                                     \
  ks::tie(x, ks::ignore, ks::ignore) = u;                                                        \
  *o++ = x + int(ks::get<2>(t)) * 10 + 100 * (u < t) + int(ks::tuple_size<decltype(t)>::value) * 1000; \
  *o++ = ks::apply([](int i, char, double d) { return i + int(d); }, t);                         \
  ks::array<int, 4> r{1, 2, 3, 4}, v;                                                            \
  v.fill(3);                                                                                     \
  *o++ = (r < v) + 2 * (r == v) + 4 * (r != v);                                                  \
  r.swap(v);                                                                                     \
  r = v;                                                                                         \
  *o++ = r.at(2) + r.back() * 10 + ks::get<1>(r) * 100;                                          \
  ks::optional<int> w, e;                                                                        \
  w = 3;                                                                                         \
  w.emplace(*w + 1);                                                                             \
  e = w;                                                                                         \
  w.reset();                                                                                     \
  w.swap(e);                                                                                     \
  *o++ = w.value() + 10 * e.value_or(7) + 100 * (w > e) + 200 * bool(e);                         \
  e = 5;                                                                                         \
  e = ks::nullopt;                                                                               \
  *o++ = e.has_value() + 2 * (e == ks::nullopt) + 4 * (w == 4) + 8 * (w != e);                   \
  ks::variant<int, float> n = 4;                                                                 \
  n = 2.5f;                                                                                      \
  *o++ = int(ks::get<1>(n) * 2) + 10 * int(n.index()) + 100 * ks::holds_alternative<int>(n);     \
  n.emplace<0>(6);                                                                               \
  *o++ = ks::visit([](auto i) { return int(i) + int(sizeof(i)); }, n) + (ks::get_if<1>(&n) ? 50 : 0); \
  int living = 0;                                                                                \
  {                                                                                              \
    auto one = ks::make_unique<Owned>(&living);                                                  \
    ks::unique_ptr<Owned> two(new Owned(&living)), three;                                        \
    three = ks::move(one);                                                                       \
    *o++ = living + 10 * !one + 20 * (three != nullptr) + 100 * *three->living;                  \
    two.reset();                                                                                 \
    ks::unique_ptr<int[]> many(new int[3]);                                                      \
    many[2] = living;                                                                            \
    *o++ = many[2];                                                                              \
  }                                                                                              \
  *o++ = living;                                                                                 \
  *o++ = ks::exchange(x, 9) + x;                                                                 \
  ks::reverse_iterator<int*> back(b + 10);                                                       \
  *o++ = *ks::next(back, 2) + int(ks::distance(b, b + 4)) + *ks::prev(b + 5);                    \
  *o++ = ks::invoke(Twice(), 21) + ks::ref(x).get();

__global__ void on_device(int* o) {
  SEARCHES(cuda::std)
  CHANGES(cuda::std)
  VALUES(cuda::std)
}
int* cuda_on_host(int* o) {
  SEARCHES(cuda::std)
  CHANGES(cuda::std)
  VALUES(cuda::std)
  return o;
}
int* on_host(int* o) {
  SEARCHES(std)
  CHANGES(std)
  VALUES(std)
  return o;
}

// The program's own, which stays the host's.
struct Swapped {
  int value;
};
namespace std {
template <>
void swap(Swapped& a, Swapped& b) noexcept {
  const int old = a.value;
  a.value = b.value + 100;
  b.value = old + 100;
}
}  // namespace std

int main() {
  int* results;
  cudaMallocManaged(&results, 400 * sizeof(int));
  static int expected[400], again[400];
  on_device<<<1, 1>>>(results);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  const int n = int(on_host(expected) - expected);
  int wrong = cuda_on_host(again) - again != n;
  for (int i = 0; i < n; ++i)
    if (results[i] != expected[i] || again[i] != expected[i])
      wrong = printf("%d: %d and %d instead of %d\n", i, results[i], again[i], expected[i]);
  Swapped one{1}, two{2};
  std::swap(one, two);
  if (one.value != 102 || two.value != 101) wrong = printf("swap: %d %d\n", one.value, two.value);
  printf(wrong ? "FAILED\n" : "PASSED (%d values)\n", n);
  return wrong != 0;
}
