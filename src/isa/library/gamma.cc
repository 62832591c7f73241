// The gamma function and its logarithm.
//
// Idea: series around multiples of 1/16, of which all but the first two terms are so small that doubles do; what lies beyond the table is
// brought there by its recurrence, and large logarithms are Stirling's.
// Precondition: for the logarithm, from 1/2 on.
// Postcondition: errors near half an ulp.
// Fallback: the C library's long double.
#include <array>
#include <cmath>
#include <limits>

#include "isa/library/double_math.h"

namespace warpbeam::isa::library {
namespace {

using Wide = long double;

constexpr int kFirst = 8, kLast = 256, kPerUnit = 16;  // sixteenths
constexpr double kFarthest = 180;                      // beyond it the result is an infinity or zero
constexpr size_t kTerms = 15;                          // behind the first two

struct Step {
  Wide value = 0, slope = 0;
  std::array<double, kTerms> terms{};
};
using Steps = std::array<Step, kLast - kFirst + 1>;

// What the logarithm's series around c has behind the value: digamma(c), and (-1)^k zeta(k, c) / k, by Euler and Maclaurin.
std::array<Wide, kTerms + 2> series_of_logarithm(Wide c) {
  constexpr int kSummed = 24;
  constexpr Wide kBernoulli[] = {Wide(1) / 6, -Wide(1) / 30, Wide(1) / 42, -Wide(1) / 30, Wide(5) / 66, -Wide(691) / 2730};
  std::array<Wide, kTerms + 2> all{};
  for (int n = 0; n < kSummed; ++n) {
    Wide power = 1;
    for (size_t k = 1; k < all.size(); ++k) all[k] += power /= c + n;
  }
  const Wide a = c + kSummed;
  Wide power = 1;  // a^-(k-1)
  for (size_t k = 1; k < all.size(); ++k) {
    const Wide s = Wide(k);
    all[k] += k == 1 ? 1 / (2 * a) - std::log(a) : power / (s - 1) + power / (2 * a);
    Wide rising = s, down = power / (a * a), factorial = 2;
    for (int j = 1; j <= 6; ++j) {
      all[k] += kBernoulli[j - 1] / factorial * rising * down;
      rising *= (s + 2 * j - 1) * (s + 2 * j);
      factorial *= (2 * j + 1) * (2 * j + 2);
      down /= a * a;
    }
    power /= a;
    all[k] *= (k % 2 ? -1 : 1) / s;
  }
  return all;
}

// `fill` is given each step and where it lies.
template <class Fill>
Steps made_by(Fill fill) {
  Steps made;
  for (int j = kFirst; j <= kLast; ++j) fill(made[static_cast<size_t>(j - kFirst)], Wide(j) / kPerUnit);
  return made;
}

const Steps& steps_of_logarithm() {
  static const Steps all = made_by([](Step& s, Wide at) {
    int sign;
    s.value = ::lgammal_r(at, &sign);
    const auto l = series_of_logarithm(at);
    s.slope = l[1];
    for (size_t k = 0; k < kTerms; ++k) s.terms[k] = static_cast<double>(l[k + 2]);
  });
  return all;
}

// Relative to the value: the exponential of the logarithm's series.
const Steps& steps_of_gamma() {
  static const Steps all = made_by([](Step& s, Wide at) {
    s.value = std::tgamma(at);
    const auto l = series_of_logarithm(at);
    std::array<Wide, kTerms + 2> e{1};
    for (size_t n = 1; n < e.size(); ++n) {
      for (size_t k = 1; k <= n; ++k) e[n] += Wide(k) * l[k] * e[n - k];
      e[n] /= Wide(n);
    }
    s.slope = e[1];
    for (size_t k = 0; k < kTerms; ++k) s.terms[k] = static_cast<double>(e[k + 2]);
  });
  return all;
}

// What the series adds to the value (or to 1) at x.
Wide grown(const Steps& steps, Wide x, Wide& value) {
  const int j = static_cast<int>(static_cast<double>(x) * kPerUnit + 0.5);
  const Step& s = steps[static_cast<size_t>(j - kFirst)];
  const Wide wide = x - Wide(j) / kPerUnit;
  const double h = static_cast<double>(wide), z = h * h;
  double even = s.terms[kTerms - 1], odd = s.terms[kTerms - 2];
  for (size_t k = kTerms - 3; k >= 2; k -= 2) even = even * z + s.terms[k], odd = odd * z + s.terms[k - 1];
  value = s.value;
  return wide * (s.slope + h * ((even * z + s.terms[0]) + h * odd));
}

Wide gamma(Wide x) {  // from 1/2 to 16
  Wide value;
  const Wide more = grown(steps_of_gamma(), x, value);
  return value + value * more;
}

}  // namespace

double tgamma_f64(double x) {
  const bool whole = x == std::trunc(x);
  if (x >= 0.5 && x < 16) return static_cast<double>(gamma(x));
  if (x >= 16 && x < kFarthest) {
    Wide y = x, product = 1;
    while (y >= 16) product *= y -= 1;
    return static_cast<double>(gamma(y) * product);
  }
  if (x > -kFarthest && x < 0.5 && !whole && std::fabs(x) > 0x1p-60) {
    Wide y = x, product = 1;
    for (; y < 0.5; y += 1) product *= y;
    return static_cast<double>(gamma(y) / product);
  }
  // The C library's pole at -infinity and at negative whole numbers is a NaN here too.
  return static_cast<double>(std::tgamma(Wide(x)));
}

double lgamma_f64(double x) {
  if (x >= 0.5 && x < 16) {
    Wide value;
    const Wide more = grown(steps_of_logarithm(), x, value);
    return static_cast<double>(value + more);
  }
  if (x >= 16 && x <= std::numeric_limits<double>::max()) {
    constexpr Wide kHalfLogTau = 0.918938533204672741780329736405617640L;
    const double r = 1 / x, z = r * r;
    double p = 1.0 / 156;
    p = p * z - 691.0 / 360360;
    p = p * z + 1.0 / 1188;
    p = p * z - 1.0 / 1680;
    p = p * z + 1.0 / 1260;
    p = p * z - 1.0 / 360;
    p = p * z + 1.0 / 12;
    return static_cast<double>((Wide(x) - Wide(0.5)) * std::log(Wide(x)) - x + (kHalfLogTau + r * p));
  }
  int sign;
  return static_cast<double>(::lgammal_r(Wide(x), &sign));
}

}  // namespace warpbeam::isa::library
