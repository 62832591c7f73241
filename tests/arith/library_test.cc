// The device library against quadruple precision, within the bound its own table states, and against the classes of
// results (NaN, infinities, signed zeros) that a real device gave for special operands.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "isa/library/quick_math.h"
#include "library_call.h"
#include "operands.h"

namespace warpbeam::arith_test {
namespace {

template <class F>
F from_bits(uint64_t bits) {
  F x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// --- classes -------------------------------------------------------------------------------------------------------

template <class F>
std::vector<double> special_values(int arity) {
  std::vector<double> v;
  for (uint64_t bits : specials(sizeof(F) == 4 ? "f32" : "f64", arity)) v.push_back(from_bits<F>(bits));
  if (arity == 2) {
    for (double x : {2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1.5, -1.5}) v.push_back(x);
  }
  return v;
}

char class_of(double x) {
  const char c = x != x ? 'n' : std::isinf(x) ? 'i' : x == 0 ? '0' : 'x';
  return std::signbit(x) && c != 'n' ? static_cast<char>(c - 32) : c;
}

TEST(Library, SpecialOperandsGiveTheClassesOfSm90) {
  std::ifstream file(WARPBEAM_ARITH_DATA "/library_classes_sm90.txt");
  ASSERT_TRUE(file);
  std::string line;
  int count = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, type, expected;
    int arity = 0;
    words >> name >> type >> arity >> expected;
    const isa::LibraryFunction* f = isa::find_library_function(name);
    ASSERT_NE(f, nullptr) << name;
    const auto v = type == "f" ? special_values<float>(arity) : special_values<double>(arity);
    // Runs of equal classes are stored as the class and a count.
    std::string classes;
    char last = 0;
    int run = 0;
    auto flush = [&] {
      if (run != 0) classes += last + std::to_string(run);
    };
    for (size_t i = 0; i < v.size(); ++i) {
      for (size_t j = 0; j < (arity == 2 ? v.size() : 1); ++j) {
        const char c = class_of(call(*f, arity == 2 ? std::vector{v[i], v[j]} : std::vector{v[i]}).value);
        if (c != last) {
          flush();
          last = c;
          run = 0;
        }
        ++run;
      }
    }
    flush();
    EXPECT_EQ(classes, expected) << name;
    ++count;
  }
  EXPECT_GT(count, 90);
}

TEST(Library, OnlyActiveLanesWriteThroughPointers) {
  const isa::LibraryFunction* f = isa::find_library_function("__nv_sincosf");
  ASSERT_NE(f, nullptr);
  EXPECT_STREQ(f->signature, "v(fFF)");
  float x[32], s[32], c[32], *sp[32], *cp[32];
  for (int i = 0; i < 32; ++i) {
    x[i] = static_cast<float>(i);
    s[i] = c[i] = 7;
    sp[i] = i % 2 ? &s[i] : nullptr;
    cp[i] = i % 2 ? &c[i] : nullptr;
  }
  const void* args[] = {x, sp, cp};
  f->lanes(0xaaaaaaaa, nullptr, args);
  for (int i = 0; i < 32; ++i) {
    if (i % 2 == 0) {
      EXPECT_EQ(s[i], 7);
    } else {
      EXPECT_NEAR(s[i], std::sin(i), 1e-7);
      EXPECT_NEAR(c[i], std::cos(i), 1e-7);
    }
  }
}

// What a quicker value decides is what the slow one gives.
TEST(Library, QuickResultsAreTheExactOnes) {
  using namespace isa::library;
  struct Pair {
    const char* name;
    double (*exact)(double);
  };
  for (const Pair p : {Pair{"__nv_j0f", j0_f64},
                       {"__nv_j1f", j1_f64},
                       {"__nv_y0f", y0_f64},
                       {"__nv_y1f", y1_f64},
                       {"__nv_tgammaf", tgamma_f64},
                       {"__nv_lgammaf", lgamma_f64},
                       {"__nv_erfinvf", erfinv_f64},
                       {"__nv_erfcinvf", erfcinv_f64},
                       {"__nv_normcdfinvf", normcdfinv_f64}}) {
    const isa::LibraryFunction* f = isa::find_library_function(p.name);
    ASSERT_NE(f, nullptr) << p.name;
    for (uint32_t k = 0; k < 20000; ++k) {
      const uint32_t any = k * 2654435761u;
      const float x = k % 2 ? from_bits<float>(any) : static_cast<float>(k) * 0.001f - 10;
      const float wanted = isa::canonical(static_cast<float>(p.exact(x)));
      const float got = static_cast<float>(call(*f, {x}).value);
      ASSERT_TRUE(isa::bits_of(got) == isa::bits_of(wanted) || (got != got && wanted != wanted))
          << p.name << " of " << x << " is " << got << ", not " << wanted;
    }
  }
  for (uint64_t k = 0; k < 100000; ++k) {
    const uint64_t any = k * 0x9e3779b97f4a7c15u;
    const double x = from_bits<double>(k % 2 ? any : (any >> 12) | 0x3ff0000000000000u);
    const double wanted = static_cast<double>(std::cbrt(static_cast<long double>(x))), got = cbrt_f64(x);
    ASSERT_TRUE(got == wanted || (got != got && wanted != wanted)) << x;
  }
}

// Of quotients that fit into a double, of larger ones, of multiples and halves of the divisor, and of what is not finite.
template <class F>
void agree_on_remainders(const std::string& suffix) {
  std::mt19937_64 random(7);
  const auto any = [&] { return from_bits<F>(random() >> (64 - 8 * sizeof(F))); };
  const auto rest = [&](const char* name, F x, F y) {
    return static_cast<F>(call(*isa::find_library_function("__nv_" + (name + suffix)), {x, y}).value);
  };
  const auto same = [](F a, F b) { return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b)); };
  for (int k = 0; k < 20000; ++k) {
    const F y = any();
    const F x = k % 4 == 0   ? any()
                : k % 4 == 1 ? y * static_cast<F>(random() % 4096) / 2
                : k % 4 == 2 ? std::nextafter(y * static_cast<F>(random() % 4096), k % 8 < 4 ? F(0) : F(INFINITY))
                             : std::ldexp(any() / y, static_cast<int>(random() % 60)) * y;
    EXPECT_PRED2(same, rest("fmod", x, y), std::fmod(x, y)) << x << ' ' << y;
    EXPECT_PRED2(same, rest("remainder", x, y), std::remainder(x, y)) << x << ' ' << y;
    const Answer a = call(*isa::find_library_function("__nv_remquo" + suffix), {x, y});
    int quotient = 0;
    if (const F r = std::remquo(x, y, &quotient); r == r) EXPECT_EQ((quotient - static_cast<int>(a.written[0])) & 7, 0) << x << ' ' << y;
    const auto n = static_cast<int32_t>(random() % 600) - 300;
    const F scaled = static_cast<F>(call(*isa::find_library_function("__nv_ldexp" + suffix), {x, static_cast<double>(n)}).value);
    EXPECT_PRED2(same, scaled, std::ldexp(x, n)) << x << ' ' << n;
  }
}
TEST(Library, RemaindersAreExact) {
  agree_on_remainders<float>("f");
  agree_on_remainders<double>("");
}

TEST(Library, NamesAreUniqueAndFound) {
  std::map<std::string, int> names;
  for (const auto& f : isa::library_functions()) {
    EXPECT_EQ(names[f.name]++, 0) << f.name;
    EXPECT_EQ(isa::find_library_function(f.name), &f);
  }
  EXPECT_EQ(isa::find_library_function("__nv_nothing"), nullptr);
}

// --- error bounds --------------------------------------------------------------------------------------------------

#ifdef WARPBEAM_HAS_QUADMATH
using Quad = __float128;
extern "C" {
Quad sinq(Quad), cosq(Quad), tanq(Quad), asinq(Quad), acosq(Quad), atanq(Quad), atan2q(Quad, Quad), sinhq(Quad), coshq(Quad), tanhq(Quad),
    asinhq(Quad), acoshq(Quad), atanhq(Quad), expq(Quad), expm1q(Quad), logq(Quad), log2q(Quad), log10q(Quad), log1pq(Quad),
    powq(Quad, Quad), cbrtq(Quad), sqrtq(Quad), erfq(Quad), erfcq(Quad), tgammaq(Quad), lgammaq(Quad), j0q(Quad), j1q(Quad), jnq(int, Quad),
    y0q(Quad), y1q(Quad), ynq(int, Quad), fabsq(Quad), rintq(Quad), fmodq(Quad, Quad);
}

const Quad kPi = acosq(-1);
const Quad kRootTwo = sqrtq(2);

// sin(pi x) and, a quarter turn on, cos(pi x), with the reduction and therefore the zeros exact.
Quad sin_of_half_turns(Quad x, bool cosine) {
  Quad r = fmodq(x, 2);
  if (cosine) r = fabsq(r) - Quad(1.5) < -1 ? Quad(0.5) - fabsq(r) : fabsq(r) - Quad(1.5);
  r = r > 1 ? r - 2 : r < -1 ? r + 2 : r;
  r = r > Quad(0.5) ? 1 - r : r < Quad(-0.5) ? -1 - r : r;
  return sinq(kPi * r);
}

Quad bessel_i(int order, Quad x) {
  Quad term = order ? x / 2 : 1, sum = term;
  for (int k = 1; k < 400; ++k) {
    term *= x * x / (Quad(4) * k * (k + order));
    sum += term;
  }
  return sum;
}

struct Reference {
  const char* name;  // without __nv_ and without the f of the single form
  int arity;
  // The exact value; for inverse functions, which get our answer as the last argument, the answer after a Newton step.
  std::function<Quad(const Quad* x, Quad got)> exact;
  // Operands outside are not asked about; false also where the guide gives no bound in ulp.
  std::function<bool(const double* x)> domain = [](const double*) { return true; };
};

bool moderate(const double* x) { return std::fabs(x[0]) < 80; }
bool below_8(const double* x) { return std::fabs(x[0]) < 8; }
bool positive_below_8(const double* x) { return x[0] > 0 && x[0] < 8; }

const std::vector<Reference>& references() {
  static const std::vector<Reference> list = {
      {"sin", 1, [](const Quad* x, Quad) { return sinq(x[0]); }},
      {"cos", 1, [](const Quad* x, Quad) { return cosq(x[0]); }},
      {"tan", 1, [](const Quad* x, Quad) { return tanq(x[0]); }},
      {"sinpi", 1, [](const Quad* x, Quad) { return sin_of_half_turns(x[0], false); }},
      {"cospi", 1, [](const Quad* x, Quad) { return sin_of_half_turns(x[0], true); }},
      {"asin", 1, [](const Quad* x, Quad) { return asinq(x[0]); }},
      {"acos", 1, [](const Quad* x, Quad) { return acosq(x[0]); }},
      {"atan", 1, [](const Quad* x, Quad) { return atanq(x[0]); }},
      {"atan2", 2, [](const Quad* x, Quad) { return atan2q(x[0], x[1]); }},
      {"sinh", 1, [](const Quad* x, Quad) { return sinhq(x[0]); }},
      {"cosh", 1, [](const Quad* x, Quad) { return coshq(x[0]); }},
      {"tanh", 1, [](const Quad* x, Quad) { return tanhq(x[0]); }},
      {"asinh", 1, [](const Quad* x, Quad) { return asinhq(x[0]); }},
      {"acosh", 1, [](const Quad* x, Quad) { return acoshq(x[0]); }},
      {"atanh", 1, [](const Quad* x, Quad) { return atanhq(x[0]); }},
      {"exp", 1, [](const Quad* x, Quad) { return expq(x[0]); }},
      {"exp2", 1, [](const Quad* x, Quad) { return powq(2, x[0]); }},
      {"exp10", 1, [](const Quad* x, Quad) { return powq(10, x[0]); }},
      {"expm1", 1, [](const Quad* x, Quad) { return expm1q(x[0]); }},
      {"log", 1, [](const Quad* x, Quad) { return logq(x[0]); }},
      {"log2", 1, [](const Quad* x, Quad) { return log2q(x[0]); }},
      {"log10", 1, [](const Quad* x, Quad) { return log10q(x[0]); }},
      {"log1p", 1, [](const Quad* x, Quad) { return log1pq(x[0]); }},
      {"pow", 2, [](const Quad* x, Quad) { return powq(x[0], x[1]); }},
      {"cbrt", 1, [](const Quad* x, Quad) { return cbrtq(x[0]); }},
      {"rcbrt", 1, [](const Quad* x, Quad) { return 1 / cbrtq(x[0]); }},
      {"sqrt", 1, [](const Quad* x, Quad) { return sqrtq(x[0]); }},
      {"rsqrt", 1, [](const Quad* x, Quad) { return 1 / sqrtq(x[0]); }},
      {"hypot", 2, [](const Quad* x, Quad) { return sqrtq(x[0] * x[0] + x[1] * x[1]); }},
      {"rhypot", 2, [](const Quad* x, Quad) { return 1 / sqrtq(x[0] * x[0] + x[1] * x[1]); }},
      {"norm3d", 3, [](const Quad* x, Quad) { return sqrtq(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }},
      {"rnorm3d", 3, [](const Quad* x, Quad) { return 1 / sqrtq(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }},
      {"norm4d", 4, [](const Quad* x, Quad) { return sqrtq(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]); }},
      {"rnorm4d", 4, [](const Quad* x, Quad) { return 1 / sqrtq(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]); }},
      {"erf", 1, [](const Quad* x, Quad) { return erfq(x[0]); }},
      {"erfc", 1, [](const Quad* x, Quad) { return erfcq(x[0]); }},
      {"erfcx", 1, [](const Quad* x, Quad) { return expq(x[0] * x[0]) * erfcq(x[0]); }, moderate},
      {"erfinv", 1, [](const Quad* x, Quad y) { return y - (erfq(y) - x[0]) * sqrtq(kPi) / 2 * expq(y * y); },
       [](const double* x) { return std::fabs(x[0]) < 1; }},
      {"erfcinv", 1, [](const Quad* x, Quad y) { return y + (erfcq(y) - x[0]) * sqrtq(kPi) / 2 * expq(y * y); },
       [](const double* x) { return x[0] > 0 && x[0] < 2; }},
      {"normcdf", 1, [](const Quad* x, Quad) { return erfcq(-x[0] / kRootTwo) / 2; }},
      {"normcdfinv", 1, [](const Quad* x, Quad y) { return y - (erfcq(-y / kRootTwo) / 2 - x[0]) * sqrtq(2 * kPi) * expq(y * y / 2); },
       [](const double* x) { return x[0] > 0 && x[0] < 1; }},
      {"tgamma", 1, [](const Quad* x, Quad) { return tgammaq(x[0]); },
       [](const double* x) { return x[0] > 0 || (x[0] > -30 && x[0] != std::trunc(x[0])); }},
      {"lgamma", 1, [](const Quad* x, Quad) { return lgammaq(x[0]); },
       [](const double* x) { return x[0] > -2.264 || (x[0] > -1e6 && x[0] < -11.0001 && x[0] != std::trunc(x[0])); }},
      {"j0", 1, [](const Quad* x, Quad) { return j0q(x[0]); }, below_8},
      {"j1", 1, [](const Quad* x, Quad) { return j1q(x[0]); }, below_8},
      {"y0", 1, [](const Quad* x, Quad) { return y0q(x[0]); }, positive_below_8},
      {"y1", 1, [](const Quad* x, Quad) { return y1q(x[0]); }, positive_below_8},
      {"cyl_bessel_i0", 1, [](const Quad* x, Quad) { return bessel_i(0, x[0]); }, moderate},
      {"cyl_bessel_i1", 1, [](const Quad* x, Quad) { return bessel_i(1, x[0]); }, moderate},
  };
  return list;
}

// The distance in units of the last place of the exact value as F would hold it.
template <class F>
double ulps(F got, Quad exact) {
  const F nearest = static_cast<F>(exact);
  if (nearest != nearest || got != got) return (nearest != nearest) == (got != got) ? 0 : HUGE_VAL;
  if (std::isinf(nearest) && got == nearest) return 0;
  constexpr int kDigits = std::numeric_limits<F>::digits, kLowest = std::numeric_limits<F>::min_exponent - kDigits;
  // Past the largest number the spacing of the last octave goes on.
  const F anchor = std::isinf(nearest) ? std::numeric_limits<F>::max() : nearest;
  int exponent = 0;
  std::frexp(anchor, &exponent);
  Quad unit = 1;
  const int power = std::max(exponent - kDigits, kLowest);
  for (int i = 0; i < std::abs(power); ++i) unit *= power < 0 ? Quad(0.5) : Quad(2);
  const Quad value = std::isinf(got) ? Quad(got > 0 ? 1 : -1) * Quad(std::numeric_limits<F>::max()) + unit : Quad(got);
  return static_cast<double>(fabsq(value - exact) / unit);
}

template <class F>
void sweep(const Reference& reference, int samples) {
  const std::string name = std::string("__nv_") + reference.name + (sizeof(F) == 4 ? "f" : "");
  const isa::LibraryFunction* f = isa::find_library_function(name);
  ASSERT_NE(f, nullptr) << name;
  const std::string type = sizeof(F) == 4 ? "f32" : "f64";
  Rng g{11};
  const auto special = specials(type, 1);
  double worst = 0;
  for (int i = 0; i < samples; ++i) {
    std::vector<double> x;
    std::vector<Quad> q;
    for (int k = 0; k < reference.arity; ++k) {
      const size_t n = static_cast<size_t>(i);
      const uint64_t bits = n < special.size() && k == 0 ? special[n] : shaped(type, g);
      x.push_back(from_bits<F>(bits));
      q.push_back(x.back());
    }
    bool finite = reference.domain(x.data());
    for (double v : x) finite &= std::isfinite(v);
    if (!finite) continue;
    const F got = static_cast<F>(call(*f, x).value);
    const double error = ulps<F>(got, reference.exact(q.data(), got));
    worst = std::max(worst, error);
    // A correctly rounded result is up to half an ulp away.
    ASSERT_LE(error, f->ulp + 0.5) << name << '(' << x[0] << (x.size() > 1 ? ", " + std::to_string(x[1]) : "") << ") = " << got;
  }
  if (f->ulp == 0) EXPECT_LE(worst, 0.5) << name;
  ::testing::Test::RecordProperty(name, std::to_string(worst));
}

// They are series from tables in most of their domain: nearer than the guide asks for.
TEST(LibraryGamma, IsRightToTheLastBit) {
  Rng g{12};
  const auto between = [&](double low, double high) { return low + (high - low) * (static_cast<double>(g.next() >> 11) * 0x1p-53); };
  const std::pair<double, double> parts[] = {{0.5, 1.1}, {1, 2.1}, {2, 16}, {15.9, 45}, {45, 171}, {1e-9, 0.5}, {-20, 0}, {-170, -20}};
  for (const auto& [low, high] : parts)
    for (int k = 0; k < 3000; ++k) {
      const double x = between(low, high);
      ASSERT_LE(ulps<double>(isa::library::tgamma_f64(x), tgammaq(x)), 0.52) << x;
      if (x >= 0.5) ASSERT_LE(ulps<double>(isa::library::lgamma_f64(x), lgammaq(x)), 0.6) << x;
    }
}

class LibraryBound : public ::testing::TestWithParam<size_t> {};

TEST_P(LibraryBound, HoldsInSinglePrecision) { sweep<float>(references()[GetParam()], 20000); }
TEST_P(LibraryBound, HoldsInDoublePrecision) { sweep<double>(references()[GetParam()], 6000); }

INSTANTIATE_TEST_SUITE_P(Functions, LibraryBound, ::testing::Range(size_t{0}, references().size()),
                         [](const auto& info) { return references()[info.param].name; });
#else
TEST(LibraryBound, NeedsQuadruplePrecision) { GTEST_SKIP() << "libquadmath is not installed with this compiler"; }
#endif

}  // namespace
}  // namespace warpbeam::arith_test
