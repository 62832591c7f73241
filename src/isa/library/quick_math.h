// Functions that are computed in long double and rounded, quicker.
//
// Idea: where a few more digits than the result has decide how it is rounded, they need not be the long double's: the C library's
// double decides nearly every float, and a correction of the double's root decides nearly every double.
// Precondition: the quick value is off by no more than `error`, as is the long double's.
// Postcondition: the same bits as without.
// Fallback: where both ends of what the value may be round to different results, the long double decides.
#pragma once
#include <cmath>

#include "isa/arith/float_bits.h"
#include "isa/library/double_math.h"

namespace warpbeam::isa::library {

double erfinv_near(double x), erfcinv_near(double x), normcdfinv_near(double x);
double lgamma_near(double x);
double power(double x, double y);  // of a positive finite number

// A single-precision function by a double one that is right to 44 bits, or to 50 bits behind the point.
template <double (*Near)(double), double (*Exact)(double)>
float narrow_near(float x) {
  const double v = Near(x), error = magnitude(v) * 0x1p-44 + 0x1p-50;
  const float below = static_cast<float>(v - error), above = static_cast<float>(v + error);
  return canonical(below == above ? below : static_cast<float>(Exact(x)));
}

}  // namespace warpbeam::isa::library
