// Error functions and their inverses, and Bessel functions. The inverses and the modified Bessel functions come
// from Boost.Math, the rest from the C library's long double functions.
#include <cmath>
#include <numbers>

#define BOOST_MATH_DISABLE_FLOAT128
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/erf.hpp>

#include "isa/library/double_math.h"

namespace warpbeam::isa::library {
namespace {

using Wide = long double;
namespace policies = boost::math::policies;
// Errors show in the value, never as an exception.
using Quiet = policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                               policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
                               policies::denorm_error<policies::ignore_error>, policies::rounding_error<policies::ignore_error>,
                               policies::evaluation_error<policies::ignore_error>>;
constexpr Quiet kQuiet{};

constexpr Wide kSqrt2 = std::numbers::sqrt2_v<long double>;
constexpr Wide kInverseSqrtPi = std::numbers::inv_sqrtpi_v<long double>;

double not_a_number() { return std::numeric_limits<double>::quiet_NaN(); }

Wide erfcinv_wide(Wide x) {
  if (!(x >= 0 && x <= 2)) return not_a_number();
  if (x == 0) return INFINITY;
  if (x == 2) return -INFINITY;
  return boost::math::erfc_inv(x, kQuiet);
}

}  // namespace

double erfc_f64(double x) { return double(std::erfc(Wide(x))); }

// exp(x^2) * erfc(x)
double erfcx_f64(double x) {
  if (x < 26) return double(std::exp(Wide(x) * x) * std::erfc(Wide(x)));
  const Wide z = 1 / (2 * Wide(x) * x);
  Wide term = 1, sum = 1;
  for (int k = 1; k < 20; k += 2) {
    term *= -z * k;
    sum += term;
  }
  return double(kInverseSqrtPi / x * sum);
}

double erfinv_f64(double x) {
  if (!(x >= -1 && x <= 1)) return not_a_number();
  if (x == 1 || x == -1) return x * INFINITY;
  if (x == 0) return x;
  return double(boost::math::erf_inv(Wide(x), kQuiet));
}
double erfcinv_f64(double x) { return double(erfcinv_wide(x)); }
double normcdf_f64(double x) { return double(std::erfc(-Wide(x) / kSqrt2) / 2); }
double normcdfinv_f64(double x) { return x == 0.5 ? 0.0 : double(-kSqrt2 * erfcinv_wide(2 * Wide(x))); }

double j0_f64(double x) { return std::isinf(x) ? 0.0 : double(::j0l(Wide(x))); }
double j1_f64(double x) { return std::isinf(x) ? std::copysign(0.0, x) : double(::j1l(Wide(x))); }
double y0_f64(double x) { return x < 0 ? not_a_number() : double(::y0l(Wide(x))); }
double y1_f64(double x) { return x < 0 ? not_a_number() : double(::y1l(Wide(x))); }
double jn_f64(int32_t n, double x) {
  if (n < 0) return not_a_number();
  return n == 0 ? j0_f64(x) : n == 1 ? j1_f64(x) : std::isinf(x) ? 0.0 : double(::jnl(n, Wide(x)));
}
double yn_f64(int32_t n, double x) {
  if (n < 0 || x < 0) return not_a_number();
  return n == 0 ? y0_f64(x) : n == 1 ? y1_f64(x) : double(::ynl(n, Wide(x)));
}

double cyl_bessel_i0_f64(double x) {
  if (x != x) return x + x;
  return std::fabs(x) > 720 ? INFINITY : double(boost::math::cyl_bessel_i(0, Wide(std::fabs(x)), kQuiet));
}
double cyl_bessel_i1_f64(double x) {
  if (x != x || x == 0) return x + x;
  const Wide size = std::fabs(x) > 720 ? Wide(INFINITY) : boost::math::cyl_bessel_i(1, Wide(std::fabs(x)), kQuiet);
  return std::copysign(double(size), x);
}

}  // namespace warpbeam::isa::library
