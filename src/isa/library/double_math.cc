#include "isa/library/double_math.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "isa/arith/round.h"

namespace warpbeam::isa::library {
namespace {

using Wide = long double;
constexpr Wide kPi = std::numbers::pi_v<long double>;

// Squares of doubles neither overflow nor vanish in long double's 15-bit exponent.
Wide square(double x) { return Wide(x) * x; }

// x reduced to [-1/2, 1/2] turns of pi, exactly, and the parity of what was taken away.
double half_turns(double x, bool& odd) {
  const double whole = std::nearbyint(x);
  odd = std::fabs(whole) < 0x1p53 && std::fmod(whole, 2.0) != 0;
  return x - whole;
}

}  // namespace

double tan_f64(double x) { return double(std::tan(Wide(x))); }

double sinpi_f64(double x) {
  if (!std::isfinite(x)) return x - x;
  bool odd;
  const double r = half_turns(x, odd);
  // Whole numbers give a zero with the sign of x.
  if (r == 0) return std::copysign(0.0, x);
  const double s = double(std::sin(kPi * r));
  return odd ? -s : s;
}

double cospi_f64(double x) {
  if (!std::isfinite(x)) return x - x;
  bool odd;
  const double r = half_turns(x, odd);
  if (std::fabs(r) == 0.5) return 0.0;
  // Near the zeros the sine of the distance to them keeps all digits.
  const double c = std::fabs(r) > 0.25 ? double(std::sin(kPi * (0.5 - std::fabs(r)))) : double(std::cos(kPi * r));
  return odd ? -c : c;
}

double asin_f64(double x) { return double(std::asin(Wide(x))); }
double acos_f64(double x) { return double(std::acos(Wide(x))); }
double sinh_f64(double x) { return double(std::sinh(Wide(x))); }
double cosh_f64(double x) { return double(std::cosh(Wide(x))); }
double asinh_f64(double x) { return double(std::asinh(Wide(x))); }
double acosh_f64(double x) { return double(std::acosh(Wide(x))); }
double atanh_f64(double x) { return double(std::atanh(Wide(x))); }
double exp10_f64(double x) { return pow_f64(10, x); }
double expm1_f64(double x) { return double(std::expm1(Wide(x))); }
double log2_f64(double x) { return double(std::log2(Wide(x))); }
double log10_f64(double x) { return double(std::log10(Wide(x))); }
double log1p_f64(double x) { return double(std::log1p(Wide(x))); }
double powi_f64(double x, int32_t n) { return pow_f64(x, n); }
double rcbrt_f64(double x) { return double(Wide(1) / std::cbrt(Wide(x))); }

// An infinite component wins over a NaN.
double hypot_f64(double x, double y) {
  if (std::isinf(x) || std::isinf(y)) return INFINITY;
  return double(std::sqrt(square(x) + square(y)));
}
double rhypot_f64(double x, double y) {
  if (std::isinf(x) || std::isinf(y)) return 0.0;
  return double(1 / std::sqrt(square(x) + square(y)));
}
double norm3d_f64(double x, double y, double z) {
  if (std::isinf(x) || std::isinf(y) || std::isinf(z)) return INFINITY;
  return double(std::sqrt(square(x) + square(y) + square(z)));
}
double rnorm3d_f64(double x, double y, double z) {
  if (std::isinf(x) || std::isinf(y) || std::isinf(z)) return 0.0;
  return double(1 / std::sqrt(square(x) + square(y) + square(z)));
}
double norm4d_f64(double x, double y, double z, double w) {
  if (std::isinf(x) || std::isinf(y) || std::isinf(z) || std::isinf(w)) return INFINITY;
  return double(std::sqrt(square(x) + square(y) + square(z) + square(w)));
}
double rnorm4d_f64(double x, double y, double z, double w) {
  if (std::isinf(x) || std::isinf(y) || std::isinf(z) || std::isinf(w)) return 0.0;
  return double(1 / std::sqrt(square(x) + square(y) + square(z) + square(w)));
}

namespace {
template <class F>
Wide norm_of(int32_t n, const F* p) {
  Wide sum = 0;
  bool infinite = false;
  for (int32_t i = 0; i < n; ++i) {
    infinite |= std::isinf(p[i]);
    sum += square(p[i]);
  }
  return infinite ? Wide(INFINITY) : std::sqrt(sum);
}
}  // namespace

double norm_f64(int32_t n, const double* p) { return double(norm_of(n, p)); }
double rnorm_f64(int32_t n, const double* p) { return double(1 / norm_of(n, p)); }
float norm_f32(int32_t n, const float* p) { return canonical(float(norm_of(n, p))); }
float rnorm_f32(int32_t n, const float* p) { return canonical(float(1 / norm_of(n, p))); }

namespace {
// |x| divided by |y|, and what is left.
// Idea: libraries subtract bit by bit, which takes as long as the quotient has bits. One below 2^52 has room in a double, where it is one
// too large at most, and what its product leaves of x is a double too: one operation gives it.
// Precondition: divided(); else the host's library.
struct Division {
  double divisor, quotient, rest;
  Division(double x, double y) : divisor(std::fabs(y)), quotient(std::fabs(x) / divisor), rest(0) {
    if (!divided()) return;
    quotient = static_cast<double>(static_cast<int64_t>(quotient));
    rest = std::fma(-quotient, divisor, std::fabs(x));
    if (rest < 0) rest += divisor, quotient -= 1;
  }
  bool divided() const { return quotient < 0x1p52 && divisor <= std::numeric_limits<double>::max(); }
  void to_nearest() {  // the even one of two
    const double to_next = divisor - rest;
    const bool odd = static_cast<int64_t>(quotient) & 1;
    if (rest < to_next || (rest == to_next && !odd)) return;
    rest -= divisor;
    quotient += 1;
  }
};

double with_sign_of(double r, double x) { return std::signbit(x) ? -r : r; }

// The quotient's sign and its last three bits.
int32_t last_bits(int quotient) { return quotient < 0 ? -(-quotient & 7) : quotient & 7; }

template <class T>
T fmod_of(T x, T y) {
  const Division d(x, y);
  return d.divided() ? static_cast<T>(with_sign_of(d.rest, x)) : std::fmod(x, y);
}
template <class T>
T remquo_of(T x, T y, int32_t* quotient) {
  Division d(x, y);
  if (!d.divided()) {
    int q = 0;
    const T r = std::remquo(x, y, &q);
    *quotient = r == r ? last_bits(q) : 0;
    return r;
  }
  d.to_nearest();
  const int last = static_cast<int>(static_cast<int64_t>(d.quotient) & 7);
  *quotient = std::signbit(x) != std::signbit(y) ? -last : last;
  return static_cast<T>(with_sign_of(d.rest, x));
}
}  // namespace

double fmod_f64(double x, double y) { return fmod_of(x, y); }
float fmod_f32(float x, float y) { return canonical(fmod_of(x, y)); }
double remquo_f64(double x, double y, int32_t* quotient) { return remquo_of(x, y, quotient); }
float remquo_f32(float x, float y, int32_t* quotient) { return canonical(remquo_of(x, y, quotient)); }
double remainder_f64(double x, double y) {
  int32_t quotient = 0;
  return remquo_of(x, y, &quotient);
}
float remainder_f32(float x, float y) {
  int32_t quotient = 0;
  return canonical(remquo_of(x, y, &quotient));
}

double ldexp_f64(double x, int32_t n) { return std::ldexp(x, n); }

double frexp_f64(double x, int32_t* exponent) {
  int e = 0;
  const double m = std::frexp(x, &e);
  *exponent = std::isfinite(x) ? e : 0;
  return std::isfinite(x) ? m : x + x;
}
float frexp_f32(float x, int32_t* exponent) {
  int e = 0;
  const float m = std::frexp(x, &e);
  *exponent = std::isfinite(x) ? e : 0;
  return canonical(std::isfinite(x) ? m : x + x);
}
double modf_f64(double x, double* whole) {
  *whole = std::trunc(x);
  return std::isinf(x) ? std::copysign(0.0, x) : std::copysign(x - *whole, x);
}
float modf_f32(float x, float* whole) {
  *whole = canonical(std::trunc(x));
  return canonical(std::isinf(x) ? std::copysign(0.0f, x) : std::copysign(x - *whole, x));
}

double logb_f64(double x) { return std::logb(x); }
float logb_f32(float x) { return canonical(std::logb(x)); }
int32_t ilogb_f64(double x) {
  if (x == 0 || x != x) return INT32_MIN;
  return std::isinf(x) ? INT32_MAX : std::ilogb(x);
}
int32_t ilogb_f32(float x) { return ilogb_f64(x); }

double nextafter_f64(double x, double y) { return std::nextafter(x, y); }
float nextafter_f32(float x, float y) { return canonical(std::nextafter(x, y)); }

double fdim_f64(double x, double y) { return x != x || y != y ? x + y : x > y ? x - y : 0.0; }
float fdim_f32(float x, float y) { return canonical(x != x || y != y ? x + y : x > y ? x - y : 0.0f); }

}  // namespace warpbeam::isa::library
