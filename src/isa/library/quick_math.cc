#include "isa/library/quick_math.h"

#include <array>

#define BOOST_MATH_DISABLE_FLOAT128
#include <boost/math/special_functions/erf.hpp>

namespace warpbeam::isa::library {
namespace {

namespace policies = boost::math::policies;
using Quiet = policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                               policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
                               policies::denorm_error<policies::ignore_error>, policies::rounding_error<policies::ignore_error>,
                               policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

}  // namespace

// The ends of what they are defined for are left to the exact ones, which a NaN brings in.
double erfinv_near(double x) { return magnitude(x) < 1 && x != 0 ? boost::math::erf_inv(x, Quiet()) : NAN; }
double erfcinv_near(double x) { return x > 0 && x < 2 ? boost::math::erfc_inv(x, Quiet()) : NAN; }
double normcdfinv_near(double x) {
  return x > 0 && x < 1 && x != 0.5 ? -1.4142135623730950488 * boost::math::erfc_inv(2 * x, Quiet()) : NAN;
}

double lgamma_near(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

double cbrt_f64(double x) {
  const double size = magnitude(x);
  if (!(size > 0x1p-900 && size < 0x1p900)) return static_cast<double>(std::cbrt(static_cast<long double>(x)));
  // What is missing to x, exactly but for the last sum, says what is missing to the root.
  const double root = std::cbrt(x), square = root * root, square_rest = std::fma(root, root, -square);
  const double cube = square * root, cube_rest = std::fma(square, root, -cube) + square_rest * root;
  const double more = ((x - cube) - cube_rest) / (3 * square), sum = root + more, rest = (root - sum) + more;
  const double error = magnitude(root) * 0x1p-60;
  if (sum + (rest - error) == sum + (rest + error)) return sum + rest;
  return static_cast<double>(std::cbrt(static_cast<long double>(x)));
}

// |x|^y for positive finite x and finite y: logarithm and power in pairs of doubles, of which only the first terms of each series need
// both, with steps from tables so that few terms are left.
namespace {

using Wide = long double;

constexpr Wide kLog2E = 1.442695040888963407359924681001892137L, kLn2 = 0.693147180559945309417232121458176568L;

struct Pair {
  double high = 0, low = 0;
};
constexpr Pair pair_of(Wide w) { return {static_cast<double>(w), static_cast<double>(w - static_cast<double>(w))}; }
constexpr Pair kLog2EPair = pair_of(kLog2E), kLn2Pair = pair_of(kLn2);

Pair sum_of(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
Pair product_of(double a, double b) { return {a * b, std::fma(a, b, -(a * b))}; }

constexpr Wide log2_by_series(Wide m) {
  const Wide s = (m - 1) / (m + 1), z = s * s;
  Wide p = Wide(1) / 41;
  for (int k = 39; k >= 3; k -= 2) p = p * z + Wide(1) / k;
  return 2 * kLog2E * (s + s * z * p);
}
constexpr Wide exp2_by_series(Wide x) {
  Wide p = 1;
  for (int k = 22; k >= 1; --k) p = 1 + p * x * kLn2 / k;
  return p;
}

// By a significand's upper bits: a factor that brings it near 1, so short that the difference to 1 is exact, and what the logarithm
// grows by: `high` has few bits.
struct LogStep {
  double inverse = 1, high = 0, low = 0;
};
constexpr int kFirstStep = 181, kSteps = 183;
constexpr auto kLogs = [] {
  std::array<LogStep, kSteps> all{};
  for (int k = 0; k < kSteps; ++k) {
    const int i = kFirstStep + k, inverse = (128 * 256 + i / 2) / i;
    const Wide log = inverse == 128 ? 0 : -log2_by_series(Wide(inverse) / 128);
    const double high = static_cast<double>(static_cast<int64_t>(log * 0x1p28L)) * 0x1p-28;
    all[static_cast<size_t>(k)] = {inverse / 128.0, high, static_cast<double>(log - high)};
  }
  return all;
}();

constexpr auto kRoots = [] {  // 2^(j/64), from j = -32
  std::array<Pair, 65> all{};
  for (int j = 0; j <= 64; ++j) all[static_cast<size_t>(j)] = pair_of(exp2_by_series(Wide(j - 32) / 64));
  return all;
}();

double whole_near(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

}  // namespace

double power(double x, double y) {
  const bool subnormal = x < 0x1p-1022;
  if (subnormal) x *= 0x1p54;
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const uint64_t shifted = bits_of(x) - kRootHalf;
  const int exponent = static_cast<int>(static_cast<int64_t>(shifted) >> 52) - (subnormal ? 54 : 0);
  const double m = f64_of((shifted & 0xfffffffffffff) + kRootHalf);
  // log2 x = exponent + high + rest
  const LogStep& step = kLogs[static_cast<size_t>(static_cast<int>(m * 256 + 0.5) - kFirstStep)];
  const double f = std::fma(m, step.inverse, -1.0), f2 = f * f;
  const double tail = f * f2 * ((1.0 / 3 - f * 0.25) + f2 * ((0.2 - f * (1.0 / 6)) + f2 * ((1.0 / 7 - f * 0.125) + f2 * (1.0 / 9))));
  const double begun = f - 0.5 * f2, missing = ((f - begun) - 0.5 * f2) + (tail - 0.5 * std::fma(f, f, -f2));
  const double log = begun + missing, log_low = missing - (log - begun);
  const Pair turned = product_of(log, kLog2EPair.high);
  Pair rest = sum_of(turned.high, step.low);
  rest.low += turned.low + (log * kLog2EPair.low + log_low * kLog2EPair.high);
  // y log2 x = n + t
  const Pair a = product_of(y, exponent + step.high), b = product_of(y, rest.high);
  if (a.high + b.high > 1100) return HUGE_VAL;
  if (a.high + b.high < -1200) return 0;
  const double n = whole_near(a.high + b.high);
  const Pair less = sum_of(a.high, -n);
  const Pair sum = sum_of(less.high, b.high);
  const Pair t = sum_of(sum.high, sum.low + (less.low + (a.low + (b.low + y * rest.low))));
  const double j = whole_near(t.high * 64);
  const double fraction = t.high - j * 0x1p-6;
  const Pair z = product_of(fraction, kLn2Pair.high);
  const double r = z.high, r2 = r * r;
  const double more = r2 * ((0.5 + r * (1.0 / 6)) + r2 * ((1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720))) +
                      (z.low + (fraction * kLn2Pair.low + t.low * kLn2Pair.high));
  const Pair& root = kRoots[static_cast<size_t>(static_cast<int>(j) + 32)];
  const double grown = root.high * r + (root.high * more + root.low);
  if (n > -1020 && n < 1023) return (root.high + grown) * f64_of(uint64_t(1023 + static_cast<int>(n)) << 52);
  // Scaling in the wide exponent range leaves the only rounding to the conversion.
  return static_cast<double>(std::ldexp(Wide(root.high) + grown, static_cast<int>(n)));
}

}  // namespace warpbeam::isa::library
