#include <algorithm>
#include <cmath>

#include "isa/arith/approx.h"
#include "isa/arith/convert.h"
#include "isa/arith/integer.h"
#include "isa/arith/round.h"
#include "isa/library/double_math.h"
#include "isa/library/float_math.h"
#include "isa/library/lanes.h"
#include "isa/library/library.h"
#include "isa/library/quick_math.h"

namespace warpbeam::isa {
namespace library {
namespace {

// A single-precision function whose double form leaves its error far below an ulp of float.
template <double (*Function)(double)>
float narrow(float x) {
  return canonical(static_cast<float>(Function(x)));
}

// Both results in one value, the second one above.
[[gnu::always_inline]] inline int64_t pair(float first, int32_t second) {
  return static_cast<int64_t>(uint64_t{bits_of(first)} | uint64_t{static_cast<uint32_t>(second)} << 32);
}
[[gnu::always_inline]] inline int64_t pair(float first, float second) { return pair(first, static_cast<int32_t>(bits_of(second))); }
// A double has an exponent for subnormal numbers, too.
[[gnu::always_inline]] inline int64_t frexp_both(float x) {
  const uint64_t bits = bits_of(static_cast<double>(x));
  const bool usual = x != 0 && x - x == 0;
  const float half_to_one = static_cast<float>(f64_of((bits & 0x800fffffffffffff) | 0x3fe0000000000000));
  return pair(usual ? half_to_one : canonical(x), usual ? static_cast<int32_t>(bits >> 52 & 0x7ff) - 1022 : 0);
}
[[gnu::always_inline]] inline int64_t sincos_f32(float x) { return pair(sin_f32(x), cos_f32(x)); }
[[gnu::always_inline]] inline int64_t sincospi_f32(float x) { return pair(sinpi_f32(x), cospi_f32(x)); }

// round(): halves go away from zero.
double round_away(double x) {
  const double whole = round_to_integral(x, Rounding::Zero);
  const bool up = magnitude(x - whole) >= 0.5;
  return cvt_integral_f64(up ? whole + std::copysign(1.0, x) : whole, Rounding::Zero);
}

template <auto Function>
constexpr LibraryFunction row(const char* name, double ulp, auto lanes) {
  return {name, Lanes<Function>::signature.data(), lanes(Lanes<Function>{}), ulp};
}

// Functions and lambdas alike become a plain function pointer.
template <class F>
constexpr auto pointer_to(F f) {
  if constexpr (std::is_pointer_v<F>) {
    return f;
  } else {
    return +f;
  }
}

#define VECTOR(name, ulp, ...) row<pointer_to(__VA_ARGS__)>("__nv_" #name, ulp, [](auto l) { return decltype(l)::vectors; }),
#define SIMPLE(name, ulp, ...) row<pointer_to(__VA_ARGS__)>("__nv_" #name, ulp, [](auto l) { return decltype(l)::all; }),
#define LANE(name, ulp, ...) row<pointer_to(__VA_ARGS__)>("__nv_" #name, ulp, [](auto l) { return decltype(l)::active; }),
constexpr LibraryFunction kFunctions[] = {
#include "isa/library/functions.inc"
};
#undef VECTOR
#undef SIMPLE
#undef LANE

constexpr auto sorted_by_name() {
  std::array<LibraryFunction, std::size(kFunctions)> sorted{};
  std::copy(std::begin(kFunctions), std::end(kFunctions), sorted.begin());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return std::string_view(a.name) < std::string_view(b.name); });
  return sorted;
}

const auto kSorted = sorted_by_name();

}  // namespace
}  // namespace library

const LibraryFunction* find_library_function(std::string_view name) {
  const auto& rows = library::kSorted;
  const auto at = std::lower_bound(rows.begin(), rows.end(), name, [](const LibraryFunction& f, std::string_view n) { return f.name < n; });
  return at != rows.end() && at->name == name ? &*at : nullptr;
}

std::span<const LibraryFunction> library_functions() { return library::kSorted; }

}  // namespace warpbeam::isa
