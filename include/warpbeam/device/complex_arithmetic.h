// Products and quotients of complex numbers: `std::complex<double>` and `_Complex` end in calls of these, whose names and
// meanings every compiler agrees on. The compiler writes a product out and calls only where both parts became NaN.
//
// After Annex G of C99: what has an infinite part is an infinity, even beside a NaN; a divisor is scaled so that its square
// neither over- nor underflows.
#ifndef WARPBEAM_DEVICE_COMPLEX_ARITHMETIC_H
#define WARPBEAM_DEVICE_COMPLEX_ARITHMETIC_H

#include "math_device.h"
#include "rounding.h"

#ifdef __CUDA_ARCH__

// x * y + z * w, rounded three times: fused, a part that is zero may become a little more.
WB_DEVICE double wb_two_products(double x, double y, double z, double w) { return __dadd_rn(__dmul_rn(x, y), __dmul_rn(z, w)); }
WB_DEVICE float wb_two_products(float x, float y, float z, float w) { return __fadd_rn(__fmul_rn(x, y), __fmul_rn(z, w)); }

// What counts of an infinity is where it lies: a part that is infinite becomes 1, another 0.
template <class T>
WB_DEVICE void wb_keep_direction(T& x, T& y) {
  x = copysign(__builtin_isinf(x) ? T(1) : T(0), x);
  y = copysign(__builtin_isinf(y) ? T(1) : T(0), y);
}
template <class T>
WB_DEVICE void wb_drop_nans(T& x, T& y) {
  if (__builtin_isnan(x)) x = copysign(T(0), x);
  if (__builtin_isnan(y)) y = copysign(T(0), y);
}

// real + i imaginary = (a + ib) (c + id)
template <class T>
WB_DEVICE void wb_complex_product(T a, T b, T c, T d, T& real, T& imaginary) {
  real = wb_two_products(a, c, -b, d);
  imaginary = wb_two_products(a, d, b, c);
  if (!__builtin_isnan(real) || !__builtin_isnan(imaginary)) return;
  const bool overflows = __builtin_isinf(a * c) || __builtin_isinf(b * d) || __builtin_isinf(a * d) || __builtin_isinf(b * c);
  const bool left = __builtin_isinf(a) || __builtin_isinf(b);
  if (left) {
    wb_keep_direction(a, b);
    wb_drop_nans(c, d);
  }
  const bool right = __builtin_isinf(c) || __builtin_isinf(d);
  if (right) {
    wb_keep_direction(c, d);
    wb_drop_nans(a, b);
  }
  if (!left && !right) {
    if (!overflows) return;
    wb_drop_nans(a, b);
    wb_drop_nans(c, d);
  }
  real = (T)__builtin_inf() * wb_two_products(a, c, -b, d);
  imaginary = (T)__builtin_inf() * wb_two_products(a, d, b, c);
}

// real + i imaginary = (a + ib) / (c + id)
template <class T>
WB_DEVICE void wb_complex_quotient(T a, T b, T c, T d, T& real, T& imaginary) {
  const T exponent = logb(fmax(fabs(c), fabs(d)));
  int scale = 0;
  if (__builtin_isfinite(exponent)) {
    scale = -(int)exponent;
    c = scalbn(c, scale);
    d = scalbn(d, scale);
  }
  const T square = wb_two_products(c, c, d, d);
  real = scalbn(wb_two_products(a, c, b, d) / square, scale);
  imaginary = scalbn(wb_two_products(b, c, -a, d) / square, scale);
  if (!__builtin_isnan(real) || !__builtin_isnan(imaginary)) return;
  const T infinity = (T)__builtin_inf();
  if (square == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b))) {
    real = copysign(infinity, c) * a;
    imaginary = copysign(infinity, c) * b;
  } else if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(c) && __builtin_isfinite(d)) {
    wb_keep_direction(a, b);
    real = infinity * wb_two_products(a, c, b, d);
    imaginary = infinity * wb_two_products(b, c, -a, d);
  } else if (exponent == infinity && __builtin_isfinite(a) && __builtin_isfinite(b)) {
    wb_keep_direction(c, d);
    real = T(0) * wb_two_products(a, c, b, d);
    imaginary = T(0) * wb_two_products(b, c, -a, d);
  }
}

// Inline, so that they are in a program only where the compiler calls them.
#define WB_DEFINE_COMPLEX(name, T, operation)                                                           \
  extern "C" inline __attribute__((nodebug)) __device__ T _Complex name(T a, T b, T c, T d) noexcept {  \
    T _Complex result;                                                                                  \
    operation(a, b, c, d, __real__ result, __imag__ result);                                            \
    return result;                                                                                      \
  }
WB_DEFINE_COMPLEX(__muldc3, double, wb_complex_product)
WB_DEFINE_COMPLEX(__mulsc3, float, wb_complex_product)
WB_DEFINE_COMPLEX(__divdc3, double, wb_complex_quotient)
WB_DEFINE_COMPLEX(__divsc3, float, wb_complex_quotient)
#undef WB_DEFINE_COMPLEX

#endif
#endif
