// sin(int), pow(float, int) and the like in device code: the standard computes them in double. Included after <cmath>,
// whose own templates for integers would call host functions; as device functions these are preferred to them.
#ifndef WARPBEAM_DEVICE_MATH_INTEGER_OVERLOADS_H
#define WARPBEAM_DEVICE_MATH_INTEGER_OVERLOADS_H

#include "math_device.h"

template <bool condition, class T>
struct wb_enable_if {};
template <class T>
struct wb_enable_if<true, T> {
  typedef T type;
};
#define WB_IF_INTEGRAL(T, Result) typename wb_enable_if<__is_integral(T), Result>::type
#define WB_IF_ARITHMETIC_2(T, U, Result) typename wb_enable_if<__is_arithmetic(T) && __is_arithmetic(U), Result>::type

#define WB_DEFINE_INTEGRAL_1(name)                              \
  template <class T>                                            \
  WB_DEVICE WB_IF_INTEGRAL(T, double) name(T x) {               \
    return ::name((double)x);                                   \
  }
#define WB_DEFINE_ARITHMETIC_2(name)                                 \
  template <class T, class U>                                        \
  WB_DEVICE WB_IF_ARITHMETIC_2(T, U, double) name(T x, U y) {        \
    return ::name((double)x, (double)y);                             \
  }
WB_STANDARD_1(WB_DEFINE_INTEGRAL_1)
WB_STANDARD_FAST_1(WB_DEFINE_INTEGRAL_1)
WB_INSTRUCTION_1(WB_DEFINE_INTEGRAL_1)
WB_DEFINE_INTEGRAL_1(exp2)
WB_DEFINE_INTEGRAL_1(tanh)
WB_DEFINE_INTEGRAL_1(sqrt)
WB_STANDARD_2(WB_DEFINE_ARITHMETIC_2)
WB_INSTRUCTION_2(WB_DEFINE_ARITHMETIC_2)
WB_DEFINE_ARITHMETIC_2(copysign)
WB_DEFINE_ARITHMETIC_2(pow)

#define WB_DEFINE_INTEGRAL_TO(Result, name)       \
  template <class T>                              \
  WB_DEVICE WB_IF_INTEGRAL(T, Result) name(T x) { \
    return ::name((double)x);                     \
  }
WB_DEFINE_INTEGRAL_TO(int, ilogb)
WB_DEFINE_INTEGRAL_TO(long, lrint)
WB_DEFINE_INTEGRAL_TO(long, lround)
WB_DEFINE_INTEGRAL_TO(long long, llrint)
WB_DEFINE_INTEGRAL_TO(long long, llround)

template <class T>
WB_DEVICE WB_IF_INTEGRAL(T, double) ldexp(T x, int n) { return ::ldexp((double)x, n); }
template <class T>
WB_DEVICE WB_IF_INTEGRAL(T, double) scalbn(T x, int n) { return ::scalbn((double)x, n); }
template <class T>
WB_DEVICE WB_IF_INTEGRAL(T, double) scalbln(T x, long n) { return ::scalbln((double)x, n); }
template <class T>
WB_DEVICE WB_IF_INTEGRAL(T, double) frexp(T x, int* exponent) { return ::frexp((double)x, exponent); }
template <class T, class U>
WB_DEVICE WB_IF_ARITHMETIC_2(T, U, double) remquo(T x, U y, int* quotient) {
  return ::remquo((double)x, (double)y, quotient);
}
template <class T, class U, class V>
WB_DEVICE typename wb_enable_if<__is_arithmetic(T) && __is_arithmetic(U) && __is_arithmetic(V), double>::type fma(
    T x, U y, V z) {
  return ::fma((double)x, (double)y, (double)z);
}

// The names are in std already, but a using-declaration brings only what was declared before it.
namespace std {
#define WB_USING(name) using ::name;
WB_STANDARD_1(WB_USING) WB_STANDARD_FAST_1(WB_USING) WB_STANDARD_2(WB_USING)
WB_INSTRUCTION_1(WB_USING) WB_INSTRUCTION_2(WB_USING) WB_OTHER_STANDARD(WB_USING)
#undef WB_USING
}  // namespace std

#undef WB_DEFINE_INTEGRAL_1
#undef WB_DEFINE_ARITHMETIC_2
#undef WB_DEFINE_INTEGRAL_TO

#endif
