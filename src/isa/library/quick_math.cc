#include "isa/library/quick_math.h"

#define BOOST_MATH_DISABLE_FLOAT128
#include <boost/math/special_functions/erf.hpp>

namespace warpbeam::isa::library {
namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
                     policies::denorm_error<policies::ignore_error>, policies::rounding_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

}  // namespace

// The ends of what they are defined for are left to the exact ones, which a NaN brings in.
double erfinv_near(double x) { return magnitude(x) < 1 && x != 0 ? boost::math::erf_inv(x, Quiet()) : NAN; }
double erfcinv_near(double x) { return x > 0 && x < 2 ? boost::math::erfc_inv(x, Quiet()) : NAN; }
double normcdfinv_near(double x) { return x > 0 && x < 1 && x != 0.5 ? -1.4142135623730950488 * boost::math::erfc_inv(2 * x, Quiet()) : NAN; }

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

}  // namespace warpbeam::isa::library
