// Directed rounding against the host's own floating-point unit, switched with fesetround.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#include "isa/arith/convert.h"
#include "isa/arith/half.h"
#include "operands.h"

namespace warpbeam::arith_test {
namespace {

using namespace warpbeam::isa;

constexpr int kHostModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

template <class F>
bool same(F a, F b) {
  return (a != a && b != b) || bits_of(a) == bits_of(b);
}

// Computes with the host in one of its modes; volatile operands keep the compiler from moving the work out.
template <class F, class Op>
F on_host(int mode, Op op, F a, F b, F c) {
  volatile F va = a, vb = b, vc = c;
  std::fesetround(kHostModes[mode]);
  volatile F r = op(va, vb, vc);
  std::fesetround(FE_TONEAREST);
  return r;
}

template <class F>
struct Operands {
  Rng g{1};
  F next() {
    const uint64_t bits = shaped(sizeof(F) == 4 ? "f32" : "f64", g);
    if constexpr (sizeof(F) == 4) {
      return f32_of(static_cast<uint32_t>(bits));
    } else {
      return f64_of(bits);
    }
  }
};

// Operands that make sums cancel and fused sums nearly cancel are mixed in.
template <class F, class Check>
void sweep(Check check) {
  Operands<F> operands;
  for (int i = 0; i < 200000; ++i) {
    F a = operands.next(), b = operands.next(), c = operands.next();
    if (i % 3 == 0) c = -(a * b) * (i % 2 ? F(1) : F(1) + std::numeric_limits<F>::epsilon());
    if (i % 7 == 0) b = -a * (i % 2 ? F(1) : F(1) + std::numeric_limits<F>::epsilon());
    for (int mode = 0; mode < 4; ++mode) check(a, b, c, mode);
  }
}

TEST(Rounding, F32FollowsTheHost) {
  sweep<float>([](float a, float b, float c, int mode) {
    const FloatMode m{static_cast<Rounding>(mode), false, false};
    auto add = [](float x, float y, float) { return x + y; };
    auto mul = [](float x, float y, float) { return x * y; };
    auto div = [](float x, float y, float) { return x / y; };
    auto fma = [](float x, float y, float z) { return std::fma(x, y, z); };
    auto root = [](float x, float, float) { return std::sqrt(x); };
    ASSERT_TRUE(same(add_f32(a, b, m), on_host(mode, add, a, b, c))) << a << " + " << b << " mode " << mode;
    ASSERT_TRUE(same(mul_f32(a, b, m), on_host(mode, mul, a, b, c))) << a << " * " << b << " mode " << mode;
    ASSERT_TRUE(same(div_f32(a, b, m), on_host(mode, div, a, b, c))) << a << " / " << b << " mode " << mode;
    ASSERT_TRUE(same(fma_f32(a, b, c, m), on_host(mode, fma, a, b, c))) << a << ' ' << b << ' ' << c << " mode " << mode;
    ASSERT_TRUE(same(sqrt_f32(a, m), on_host(mode, root, a, b, c))) << "sqrt " << a << " mode " << mode;
  });
}

TEST(Rounding, F64FollowsTheHost) {
  sweep<double>([](double a, double b, double c, int mode) {
    const Rounding r = static_cast<Rounding>(mode);
    auto add = [](double x, double y, double) { return x + y; };
    auto mul = [](double x, double y, double) { return x * y; };
    auto div = [](double x, double y, double) { return x / y; };
    auto fma = [](double x, double y, double z) { return std::fma(x, y, z); };
    auto root = [](double x, double, double) { return std::sqrt(x); };
    ASSERT_TRUE(same(add_f64(a, b, r), on_host(mode, add, a, b, c))) << a << " + " << b << " mode " << mode;
    ASSERT_TRUE(same(mul_f64(a, b, r), on_host(mode, mul, a, b, c))) << a << " * " << b << " mode " << mode;
    ASSERT_TRUE(same(div_f64(a, b, r), on_host(mode, div, a, b, c))) << a << " / " << b << " mode " << mode;
    ASSERT_TRUE(same(fma_f64(a, b, c, r), on_host(mode, fma, a, b, c))) << a << ' ' << b << ' ' << c << " mode " << mode;
    ASSERT_TRUE(same(sqrt_f64(a, r), on_host(mode, root, a, b, c))) << "sqrt " << a << " mode " << mode;
  });
}

TEST(Rounding, IntegersToFloatsFollowTheHost) {
  Rng g{2};
  for (int i = 0; i < 200000; ++i) {
    const uint64_t x = shaped("u64", g);
    for (int mode = 0; mode < 4; ++mode) {
      const Rounding r = static_cast<Rounding>(mode);
      volatile uint64_t u = x;
      volatile int64_t s = static_cast<int64_t>(x);
      std::fesetround(kHostModes[mode]);
      volatile double du = static_cast<double>(static_cast<long double>(u)), ds = static_cast<double>(s);
      volatile float fu = static_cast<float>(static_cast<long double>(u)), fs = static_cast<float>(s);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(int_to_f64(x, r), du) << x << " mode " << mode;
      ASSERT_EQ(int_to_f64(static_cast<int64_t>(x), r), ds) << x << " mode " << mode;
      ASSERT_EQ(int_to_f32(x, r), fu) << x << " mode " << mode;
      ASSERT_EQ(int_to_f32(static_cast<int64_t>(x), r), fs) << x << " mode " << mode;
    }
  }
}

// f16 values are whole multiples of 2^-24, so a fused multiply-add is exact in 128-bit integers.
uint16_t exact_f16_fma(uint16_t a, uint16_t b, uint16_t c) {
  auto whole = [](uint16_t h) { return static_cast<__int128>(f16_to_f32(h) * 0x1p24f); };
  const __int128 sum = whole(a) * whole(b) + (whole(c) << 24);
  if (sum == 0) return f32_to_f16(f16_to_f32(a) * f16_to_f32(b) + f16_to_f32(c), Rounding::NearestEven);
  unsigned __int128 size = static_cast<unsigned __int128>(sum < 0 ? -sum : sum);
  int exponent = -48;
  bool lost = false;
  for (; size >> 64 != 0; size >>= 1, ++exponent) lost |= static_cast<bool>(size & 1);
  const uint64_t significand = static_cast<uint64_t>(size) | lost;
  return static_cast<uint16_t>(round_and_pack(kFormatF16, sum < 0, exponent, significand, Rounding::NearestEven));
}

TEST(Rounding, F16FusedMultiplyAddRoundsOnce) {
  Rng g{3};
  for (int i = 0; i < 3000000; ++i) {
    const uint64_t r = g.next();
    uint16_t a = r & 0xffff, b = r >> 16 & 0xffff, c = r >> 32 & 0xffff;
    // A third of the time c nearly cancels the product, or lies half an ulp beside it.
    if (i % 3 == 0) c = half_mul<F16>(a, b) ^ (r >> 48 & 0x8001);
    if (!is_finite(f16_to_f32(a)) || !is_finite(f16_to_f32(b)) || !is_finite(f16_to_f32(c))) continue;
    ASSERT_EQ(half_fma<F16>(a, b, c), exact_f16_fma(a, b, c)) << std::hex << a << ' ' << b << ' ' << c;
  }
}

TEST(Rounding, Bf16FusedMultiplyAddRoundsOnce) {
  // 2^-60 beside a product that is a tie: one rounding sees it, two would not.
  const uint16_t above_one = 0x3f81;                          // 1 + 2^-7
  const uint16_t tie = half_mul<Bf16>(above_one, above_one);  // 1 + 2^-6 + 2^-14 -> 1 + 2^-6
  EXPECT_EQ(tie, 0x3f82);
  const uint16_t one_and_a_half = 0x3fc0, odd = 0x3f83;  // 1.5 * (1 + 3 * 2^-7) = 1.53515625 is a tie
  EXPECT_EQ(half_fma<Bf16>(one_and_a_half, odd, 0x2180), 0x3fc5);
  EXPECT_EQ(half_fma<Bf16>(one_and_a_half, odd, 0xa180), 0x3fc4);
}

TEST(Rounding, HalvesNarrowLikeTheCompiler) {
  for (uint64_t i = 0; i < uint64_t{1} << 32; i += 251) {
    const float x = f32_of(static_cast<uint32_t>(i));
    if (x != x) continue;
    const uint16_t expected = std::bit_cast<uint16_t>(static_cast<_Float16>(x));
    ASSERT_EQ(f32_to_f16(x, Rounding::NearestEven), expected) << x;
  }
}

TEST(Rounding, NarrowingFromF64DoesNotRoundTwice) {
  // Just above a tie of f16, closer than f32 can tell.
  EXPECT_EQ(f64_to_f16(0x1.002p0, Rounding::NearestEven), 0x3c00);
  EXPECT_EQ(f64_to_f16(0x1.0020000000001p0, Rounding::NearestEven), 0x3c01);
  EXPECT_EQ(f64_to_bf16(0x1.01p0, Rounding::NearestEven), 0x3f80);
  EXPECT_EQ(f64_to_bf16(0x1.0100000000001p0, Rounding::NearestEven), 0x3f81);
}

}  // namespace
}  // namespace warpbeam::arith_test
