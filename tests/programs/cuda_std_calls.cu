// cuda::std in kernels: numbers, exchanges, callables, optional and expected values, and clocks.
#include <cuda/std/chrono>
#include <cuda/std/cmath>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/utility>
#include <cuda_fp16.h>

#include <cstdio>

__global__ void k(int* o) {
  namespace ks = cuda::std;
  int a[5] = {5, 2, 4, 1, 3}, b[5];
  *o++ = ks::accumulate(a, a + 5, 0) + ks::reduce(a, a + 5);  // 30
  *o++ = ks::inner_product(a, a + 5, a, 0);  // 55
  *o++ = ks::partial_sum(a, a + 5, b) == b + 5 ? b[4] : 0;  // 15
  *o++ = ks::exclusive_scan(a, a + 5, b, 1) == b + 5 ? b[4] : 0;  // 13
  ks::iota(b, b + 5, 7);
  *o++ = b[4] + ks::gcd(12, -18) + ks::lcm(4, 6);  // 11 + 6 + 12
  *o++ = ks::exchange(a[0], 8);  // 5
  ks::swap(a[0], a[1]);
  *o++ = a[1];  // 8
  ks::optional<int> w(3), none;
  const auto add = [](int i) { return i + 1; };
  *o++ = *w.transform(add) + none.transform(add).value_or(20);  // 24
  *o++ = w.and_then([](int i) { return ks::optional<int>(i * 2); }).value_or(0);  // 6
  *o++ = none == ks::optional<int>() && w != none;  // 1
  ks::expected<int, char> bad = ks::unexpected<char>('x'), good = 4;
  *o++ = bad.value_or(4) + *good.transform(add) + (bad.error() == 'x');  // 10
  *o++ = ks::isnan(__float2half(0.f)) + 2 * ks::isnan(0.f / (o ? 0.f : 1.f)) + 4 * ks::isinf(1);  // 2
  *o++ = ks::not_fn([](int i) { return i > 2; })(1);  // 1
  *o++ = ks::bind_front([](int x, int y) { return x - y; }, 10)(3);  // 7
  *o++ = (int)ks::lerp(1.f, 3.f, 0.5f);  // 2
  const auto then = ks::chrono::system_clock::now();
  *o++ = then.time_since_epoch().count() > 0 && ks::chrono::steady_clock::now().time_since_epoch().count() > 0;  // 1
}

int main() {
  const int expected[] = {30, 55, 15, 13, 29, 5, 8, 24, 6, 1, 10, 2, 1, 7, 2, 1};
  int* o;
  cudaMallocManaged(&o, 64 * sizeof(int));
  k<<<1, 1>>>(o);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int wrong = 0, i = 0;
  for (int e : expected) {
    if (o[i] != e) wrong = printf("%d: %d instead of %d\n", i, o[i], e);
    ++i;
  }
  if (!wrong) puts("PASSED");
  return wrong != 0;
}
