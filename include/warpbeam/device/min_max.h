// min and max of the global namespace, for host and device, of any two arithmetic types.
//
// They are templates so that a program's own min or max of given types goes before them.
#ifndef WARPBEAM_DEVICE_MIN_MAX_H
#define WARPBEAM_DEVICE_MIN_MAX_H

#include "attributes.h"

template <bool both_arithmetic, class T, class U>
struct wb_common {};
template <class T, class U>
struct wb_common<true, T, U> {
  typedef decltype(T() + U()) type;
};
#define WB_COMMON(T, U) typename wb_common<__is_arithmetic(T) && __is_arithmetic(U), T, U>::type

// With floating point a NaN loses against a number, hence not the plain comparison.
#define WB_DEFINE_EXTREMUM(name, op)                                                     \
  template <class T>                                                                     \
  WB_HOST_DEVICE constexpr T wb_##name(T a, T b) {                                       \
    return b op a ? b : a;                                                               \
  }                                                                                      \
  template <>                                                                            \
  __inline__ __host__ __device__ constexpr float wb_##name(float a, float b) {           \
    return __builtin_f##name##f(a, b);                                                   \
  }                                                                                      \
  template <>                                                                            \
  __inline__ __host__ __device__ constexpr double wb_##name(double a, double b) {        \
    return __builtin_f##name(a, b);                                                      \
  }                                                                                      \
  template <class T, class U>                                                            \
  WB_HOST_DEVICE constexpr WB_COMMON(T, U) name(T a, U b) {                              \
    return wb_##name<WB_COMMON(T, U)>(a, b);                                             \
  }
WB_DEFINE_EXTREMUM(min, <)
WB_DEFINE_EXTREMUM(max, >)
#undef WB_DEFINE_EXTREMUM

#define WB_DEFINE_NAMED(prefix, T)                                            \
  WB_HOST_DEVICE T prefix##min(const T a, const T b) { return b < a ? b : a; } \
  WB_HOST_DEVICE T prefix##max(const T a, const T b) { return a < b ? b : a; }
WB_DEFINE_NAMED(u, unsigned int)
WB_DEFINE_NAMED(ll, long long)
WB_DEFINE_NAMED(ull, unsigned long long)
#undef WB_DEFINE_NAMED

#endif
