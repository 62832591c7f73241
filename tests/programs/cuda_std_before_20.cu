// C++20's and C++23's traits, concepts and small functions that libcu++ has in C++17, in constants and in a kernel.
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/concepts>
#include <cuda/std/cstring>
#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <cuda/std/numbers>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/source_location>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include <cstdio>

namespace ks = cuda::std;

enum class Colour : unsigned char { red = 3 };
enum Plain { plain };
struct Incomparable {};
struct Member {
  int value;
  __host__ __device__ int plus(int other) const { return value + other; }
};

static_assert(ks::is_same_v<ks::remove_cvref_t<const int&>, int> && ks::is_same_v<ks::type_identity_t<float>, float>, "");
static_assert(ks::is_scoped_enum_v<Colour> && !ks::is_scoped_enum_v<Plain> && !ks::is_scoped_enum_v<int>, "");
static_assert(ks::is_bounded_array_v<int[3]> && ks::is_unbounded_array_v<int[]> && !ks::is_bounded_array_v<int*>, "");
static_assert(ks::integral<char> && ks::floating_point<double> && ks::unsigned_integral<unsigned> && !ks::signed_integral<unsigned>, "");
static_assert(ks::same_as<int, int> && ks::convertible_to<int, float> && !ks::derived_from<int, float>, "");
static_assert(ks::equality_comparable<int> && !ks::equality_comparable<Incomparable> && ks::regular<int> && ks::semiregular<Incomparable>, "");
static_assert(ks::invocable<ks::plus<>, int, int> && ks::predicate<ks::less<>, int, int>, "");
static_assert(ks::cmp_less(-1, 1u) && ks::cmp_equal(1, 1u) && !ks::cmp_greater(-1, 0ull) && ks::in_range<signed char>(127u) &&
                  !ks::in_range<signed char>(128) && !ks::in_range<unsigned>(-1), "");
static_assert(ks::to_underlying(Colour::red) == 3 && ks::byteswap(0x01020304u) == 0x04030201u && ks::byteswap((short)0x0102) == 0x0201, "");
static_assert(ks::midpoint(1, 4) == 2 && ks::midpoint(4, 1) == 3 && ks::midpoint(~0u, ~0u - 2) == ~0u - 1 &&
                  ks::midpoint(-3, 4) == 0 && ks::midpoint(1.0f, 2.0f) == 1.5f, "");
static_assert(ks::numbers::pi_v<float> == 3.14159265f && ks::numbers::e > 2.718, "");
static_assert(ks::identity()(7) == 7, "");
static_assert(ks::source_location::current().line() == __LINE__, "");

template <class T, ks::enable_if_t<ks::integral<T>, int> = 0>
__host__ __device__ int kind(T) {
  return 1;
}
template <class T, ks::enable_if_t<ks::floating_point<T>, int> = 0>
__host__ __device__ int kind(T) {
  return 2;
}

__host__ __device__ void fill(int* o, int seven) {
  constexpr auto table = ks::to_array({3, 1, 2});
  *o++ = table[0] * 100 + int(table.size()) * 10 + int(ks::ssize(table));
  *o++ = kind(seven) + 10 * kind(1.0f);
  *o++ = ks::invoke(&Member::plus, Member{5}, seven) + ks::invoke_r<int>(ks::multiplies<>(), seven, 3);
  *o++ = ks::identity()(seven) + ks::midpoint(seven, 20);
  *o++ = ks::cmp_less(-seven, 7u) + 2 * ks::in_range<signed char>(seven * 100);
  *o++ = int(ks::byteswap((unsigned)seven) >> 24);
  *o++ = int(1000 * ks::numbers::pi_v<float>);
  *o++ = ks::memcmp("abc", "abd", 3) < 0;
  const ks::optional<int> some = ks::make_optional(seven), none;
  *o++ = (some == 7) + 2 * (none < some) + 4 * (none == ks::nullopt) + 8 * (7 <= some) + 16 * (some != none);
  *o++ = *some.or_else([] { return ks::optional<int>(1); }) + *none.or_else([] { return ks::optional<int>(2); });
  const ks::optional<long> wider = some;
  *o++ = int(wider.value());
}
__global__ void kernel(int* o) { fill(o, 7); }

int main() {
  const int wanted[] = {333, 21, 33, 20, 1, 7, 3141, 1, 31, 9, 7};
  int *device, host[16];
  cudaMallocManaged(&device, sizeof(host));
  kernel<<<1, 1>>>(device);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  fill(host, 7);
  int wrong = 0, i = 0;
  for (int w : wanted) {
    if (device[i] != w || host[i] != w) wrong = printf("%d: %d and %d instead of %d\n", i, device[i], host[i], w);
    ++i;
  }
  puts(wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
