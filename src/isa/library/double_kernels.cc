// The double-precision functions that programs call most: exponentials, the logarithm, powers, sine and cosine, arcs, tanh and erf. Plain
// additions, multiplications and divisions only, hence the same bits on every host; errors stay below one ulp.
#include <array>
#include <cmath>

#include "isa/arith/float_bits.h"
#include "isa/library/double_math.h"
#include "isa/library/quick_math.h"

namespace warpbeam::isa::library {
namespace {

constexpr double kMagic = 0x1.8p52;  // adding and subtracting it rounds to a whole number

// x * 2^n for |n| < 2200 and x near 1: in two steps, so that subnormal results are rounded once.
double scale(double x, int n) {
  const int first = n / 2;
  return x * f64_of(uint64_t(1023 + first) << 52) * f64_of(uint64_t(1023 + n - first) << 52);
}

// (e^r - 1 - r) / r^2 for |r| <= 0.35.
double exp_tail(double r) {
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  return p * r + 0.5;
}

// e^(r + tail)
double exp_kernel(double r, double tail) { return 1 + (r + (r * r * exp_tail(r) + tail)); }

// ln 2 with 32 bits, and the rest.
constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;

struct Reduced {
  double rest, tail;
  int count;
  bool far;  // too large, or too near a multiple of pi/2 for this reduction
};

Reduced reduce_angle(double x) {
  // pi/2 in two parts of 33 bits, whose products with counts below 2^19 are exact, and a third.
  constexpr double kPart1 = 0x1.921fb544p0, kPart2 = 0x1.0b4611a6p-34, kPart3 = 0x1.3198a2e037073p-69;
  const double shifted = x * 0.63661977236758134308 + kMagic;
  const double n = shifted - kMagic;
  const double a = x - n * kPart1, b = n * kPart2;
  const double difference = a - b;
  const double b_part = a - difference;
  const double error = (a - (difference + b_part)) + (b_part - b);
  const double low = error - n * kPart3;
  const double rest = difference + low;
  const bool far = !(magnitude(x) < 0x1p19) || (n != 0 && magnitude(rest) < 0x1p-20);
  return {rest, (difference - rest) + low, static_cast<int>(bits_of(shifted) & 3), far};
}

double sin_kernel(double x, double tail) {
  const double z = x * x;
  double p = 1.0 / 355687428096000.0;
  p = p * z - 1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  return x + (x * z * p + tail * (1 - 0.5 * z));
}

double cos_kernel(double x, double tail) {
  const double z = x * x;
  double p = -1.0 / 6402373705728000.0;
  p = p * z + 1.0 / 20922789888000.0;
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600;
  p = p * z - 1.0 / 3628800;
  p = p * z + 1.0 / 40320;
  p = p * z - 1.0 / 720;
  p = p * z + 1.0 / 24;
  const double half = 0.5 * z, high = 1 - half;
  return high + (((1 - high) - half) + (z * z * p - x * tail));
}

double sine(const Reduced& r, int quarter) {
  const int count = r.count + quarter;
  const double s = count & 1 ? cos_kernel(r.rest, r.tail) : sin_kernel(r.rest, r.tail);
  return count & 2 ? -s : s;
}

}  // namespace

double sin_f64(double x) {
  const Reduced r = reduce_angle(x);
  if (r.far) return static_cast<double>(std::sin(static_cast<long double>(x)));
  return x == 0 ? x : sine(r, 0);
}

double cos_f64(double x) {
  const Reduced r = reduce_angle(x);
  if (r.far) return static_cast<double>(std::cos(static_cast<long double>(x)));
  return sine(r, 1);
}

double exp_f64(double x) {
  if (x != x) return x + x;
  if (x > 710) return HUGE_VAL;
  if (x < -746) return 0;
  const double n = (x * 1.4426950408889634074 + kMagic) - kMagic;
  const double high = x - n * kLn2High, low = n * kLn2Low;
  const double r = high - low;
  return scale(exp_kernel(r, (high - r) - low), static_cast<int>(n));
}

double exp2_f64(double x) {
  if (x != x) return x + x;
  if (x > 1024) return HUGE_VAL;
  if (x < -1076) return 0;
  const double n = (x + kMagic) - kMagic;
  const double f = x - n;
  // f * ln 2 in two pieces: the upper half of f times the 32-bit part of ln 2 is exact.
  const double upper = f64_of(bits_of(f) & 0xffffffff00000000);
  const double high = upper * kLn2High;
  const double low = (f - upper) * kLn2High + f * kLn2Low;
  const double r = high + low;
  return scale(exp_kernel(r, (high - r) + low), static_cast<int>(n));
}

double log_f64(double x) {
  if (!(x > 0)) return x == 0 ? -HUGE_VAL : x != x ? x + x : f64_of(kNanF64);
  if (!is_finite(x)) return x;
  const bool subnormal = x < 0x1p-1022;
  if (subnormal) x *= 0x1p54;
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const uint64_t shifted = bits_of(x) - kRootHalf;
  const double k = static_cast<double>(static_cast<int64_t>(shifted) >> 52) - (subnormal ? 54 : 0);
  const double f = f64_of((shifted & 0xfffffffffffff) + kRootHalf) - 1;
  const double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  double p = 2.0 / 25;
  p = p * z + 2.0 / 23;
  p = p * z + 2.0 / 21;
  p = p * z + 2.0 / 19;
  p = p * z + 2.0 / 17;
  p = p * z + 2.0 / 15;
  p = p * z + 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  return k * kLn2High - ((half - (s * (half + z * p) + k * kLn2Low)) - f);
}

namespace {

using Wide = long double;  // only + - * / on it: 11 more bits on x86, 60 more elsewhere

constexpr auto kInverse = [] {
  std::array<Wide, 30> inverse{};
  for (int k = 1; k < 30; ++k) inverse[static_cast<size_t>(k)] = Wide(1) / k;
  return inverse;
}();

// atan(j/64), each from the one before it by the angle between them.
constexpr auto kArcs = [] {
  std::array<Wide, 65> all{};
  for (int j = 1; j <= 64; ++j) {
    const Wide t = 64 / (Wide(4096) + j * (j - 1)), z = t * t;
    Wide p = 0;
    for (int k = 19; k >= 3; k -= 2) p = z * ((k % 4 == 1 ? 1 : -1) * kInverse[static_cast<size_t>(k)] + p);
    all[static_cast<size_t>(j)] = all[static_cast<size_t>(j - 1)] + (t + t * p);
  }
  return all;
}();

// The angle whose tangent is small / large, for 0 < small <= large.
Wide arc(double small, double large) {
  const int j = static_cast<int>(small / large * 64 + 0.5);
  const double c = j * 0x1p-6;
  const Wide t = (small - Wide(large) * c) / (large + Wide(small) * c);
  const double d = static_cast<double>(t), z = d * d;
  return kArcs[static_cast<size_t>(j)] + (t + d * z * ((-1.0 / 3 + z * 0.2) + z * z * (-1.0 / 7 + z * (1.0 / 9))));
}

// erf around multiples of 1/16: its value there, its slope, and the series of what it grows by, of which the first term is 1.
constexpr int kErfSteps = 97, kErfTerms = 13;
struct ErfStep {
  Wide value = 0;
  double slope = 0;
  std::array<double, kErfTerms> terms{};
};
const std::array<ErfStep, kErfSteps>& erf_steps() {
  static const std::array<ErfStep, kErfSteps> all = [] {
    std::array<ErfStep, kErfSteps> made{};
    for (int j = 0; j < kErfSteps; ++j) {
      ErfStep& s = made[static_cast<size_t>(j)];
      const Wide c = Wide(j) / 16;
      s.value = std::erf(c);
      s.slope = static_cast<double>(1.128379167095512573896158903121545172L * std::exp(-c * c));
      Wide before = 0, now = 1;  // of e^(-2ch - h^2), which is what the slope changes by
      for (int k = 0; k < kErfTerms; ++k) {
        s.terms[static_cast<size_t>(k)] = static_cast<double>(now / (k + 1));
        const Wide next = (-2 * c * now - 2 * before) / (k + 1);
        before = now;
        now = next;
      }
    }
    return made;
  }();
  return all;
}

}  // namespace

// The corners are C99's (Annex F).
double pow_f64(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  const double size = magnitude(x);
  const bool whole = magnitude(y) >= 0x1p52 || std::trunc(y) == y;
  const bool odd = whole && magnitude(y) < 0x1p53 && (static_cast<int64_t>(y) & 1);
  double r;
  if (size == 1) {
    r = 1;
  } else if (size == 0 || std::isinf(size) || std::isinf(y)) {
    r = (size > 1) == (y > 0) ? HUGE_VAL : 0;
  } else {
    r = power(size, y);
  }
  if (std::signbit(x)) {
    if (!whole && size != 0 && !std::isinf(size)) return f64_of(kNanF64);
    if (odd) r = -r;
  }
  return r;
}

// Zeros, infinities and NaNs are the C library's.
double atan2_f64(double y, double x) {
  const double up = magnitude(y), along = magnitude(x);
  if (!(up > 0 && along > 0 && up <= 0x1.fffffffffffffp1023 && along <= 0x1.fffffffffffffp1023))
    return static_cast<double>(std::atan2(Wide(y), Wide(x)));
  constexpr Wide kPi = 3.141592653589793238462643383279502884L;
  Wide angle = up > along ? kPi / 2 - arc(along, up) : arc(up, along);
  if (x < 0) angle = kPi - angle;
  return std::copysign(static_cast<double>(angle), y);
}

double atan_f64(double x) { return atan2_f64(x, 1); }

// (e^2x - 1) / (e^2x + 1), of which the wide format only keeps what the sums would lose.
double tanh_f64(double x) {
  const double size = magnitude(x);
  if (!(size < 22)) return x != x ? x + x : std::copysign(1.0, x);
  if (size < 0x1p-28) return x;
  const double twice = 2 * size, n = (twice * 1.4426950408889634074 + kMagic) - kMagic;
  const double high = twice - n * kLn2High, low = n * kLn2Low, r = high - low, tail = (high - r) - low;
  const Wide more = Wide(r) + (r * r * exp_tail(r) + tail);  // e^r - 1
  const Wide factor = f64_of(uint64_t(1023 + static_cast<int>(n)) << 52), less = factor * more + (factor - 1);
  return std::copysign(static_cast<double>(less / (less + 2)), x);
}

double erf_f64(double x) {
  const double size = magnitude(x);
  if (!(size < 6)) return x != x ? x + x : std::copysign(1.0, x);
  const int j = static_cast<int>(size * 16 + 0.5);
  const ErfStep& s = erf_steps()[static_cast<size_t>(j)];
  const double h = size - j * 0.0625, z = h * h;
  const auto& t = s.terms;
  double even = t[12], odd = t[11];
  for (size_t k = 10; k >= 2; k -= 2) even = even * z + t[k], odd = odd * z + t[k - 1];
  // h + h * (odd h + even h^2)
  const Wide grown =
      j ? Wide(s.slope) * (h + h * (odd * h + even * z)) : 1.128379167095512573896158903121545172L * (Wide(h) + h * (even * z));
  return std::copysign(static_cast<double>(s.value + grown), x);
}

}  // namespace warpbeam::isa::library
