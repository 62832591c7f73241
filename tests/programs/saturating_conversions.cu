// Floating-point numbers to 64-bit integers: all roundings, saturation at the ends, and NaN.
#include <cmath>
#include <cstdio>
#include <cstring>

constexpr int kNumbers = 4096;
struct Integers {
  long long s[4];           // rounded to zero, to nearest, down, up
  unsigned long long u[4];
};

__global__ void convert(const double* in, Integers* doubles, Integers* floats) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double d = in[i];
  const float f = static_cast<float>(d);
  doubles[i] = {{__double2ll_rz(d), __double2ll_rn(d), __double2ll_rd(d), __double2ll_ru(d)},
                {__double2ull_rz(d), __double2ull_rn(d), __double2ull_rd(d), __double2ull_ru(d)}};
  floats[i] = {{__float2ll_rz(f), __float2ll_rn(f), __float2ll_rd(f), __float2ll_ru(f)},
               {__float2ull_rz(f), __float2ull_rn(f), __float2ull_rd(f), __float2ull_ru(f)}};
}

bool right(double x, const Integers& got) {
  constexpr double k2to63 = 9223372036854775808.0;
  const double whole[] = {std::trunc(x), std::nearbyint(x), std::floor(x), std::ceil(x)};
  for (int k = 0; k < 4; ++k) {
    const double w = whole[k];
    long long s = w >= k2to63 ? 0x7fffffffffffffffll : w < -k2to63 ? -0x7fffffffffffffffll - 1 : 0;
    unsigned long long u = w >= 2 * k2to63 ? ~0ull : 0;
    if (std::isnan(w)) {
      u = 1ull << 63;
      s = static_cast<long long>(u);
    } else {
      if (w >= -k2to63 && w < k2to63) s = static_cast<long long>(w);
      if (w > 0 && w < 2 * k2to63) u = w >= k2to63 ? static_cast<unsigned long long>(w - k2to63) + (1ull << 63) : static_cast<unsigned long long>(w);
    }
    if (got.s[k] == s && got.u[k] == u) continue;
    printf("%a: rounding %d gives %lld and %llu, not %lld and %llu\n", x, k, got.s[k], got.u[k], s, u);
    return false;
  }
  return true;
}

int main() {
  double* in;
  Integers *doubles, *floats;
  cudaMallocManaged(&in, kNumbers * sizeof(double));
  cudaMallocManaged(&doubles, kNumbers * sizeof(Integers));
  cudaMallocManaged(&floats, kNumbers * sizeof(Integers));
  const double special[] = {0., -0., 0.5, -0.5, 1.5, 2.5, 0.49999999999999994, 4503599627370497.5, 0x1p63, -0x1p63, 0x1.0000000000001p63,
                            -0x1.0000000000001p63, 0x1.fffffffffffffp62, 0x1p64, 0x1.fffffffffffffp63, 1e300, -1e300, INFINITY, -INFINITY,
                            NAN, 5e-324, -5e-324, 2147483648.5, -0.999999, 4294967295.5};
  unsigned long long state = 88172645463325252;
  for (int i = 0; i < kNumbers; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    // Half of them around the sizes where something happens.
    const unsigned long long exponent = 1019 + (state >> 20) % 80;
    const unsigned long long bits = i % 2 ? (state & 0x800fffffffffffff) | exponent << 52 : state;
    memcpy(&in[i], &bits, 8);
    if (i < static_cast<int>(sizeof special / 8)) in[i] = special[i];
  }
  convert<<<kNumbers / 256, 256>>>(in, doubles, floats);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kNumbers; ++i)
    if (!right(in[i], doubles[i]) || !right(static_cast<float>(in[i]), floats[i])) return 1;
  puts("all as the host has them");
}
