// min and max of the global namespace, for host and device, of any two arithmetic types.
//
// They are templates so that a program's own min or max of given types goes before them. nvcc has plain functions for pairs of equal
// rank (int and unsigned, float and double …), which go before templates of others, such as a `min(T const&, U const&)` behind a
// `using namespace`: so does a template whose `enable_if` says yes. Other pairs, of which nvcc takes no function, come last.
#ifndef WARPBEAM_DEVICE_MIN_MAX_H
#define WARPBEAM_DEVICE_MIN_MAX_H

#include "attributes.h"

template <bool both_arithmetic, class T, class U>
struct wb_common {};
template <class T, class U>
struct wb_common<true, T, U> {
  typedef decltype(T() + U()) type;
};
template <class T>
struct wb_rank {
  enum { value = 0 };
};
#define WB_DEFINE_RANK(T, n) \
  template <>                \
  struct wb_rank<T> {        \
    enum { value = n };      \
  };
WB_DEFINE_RANK(int, 1)
WB_DEFINE_RANK(unsigned int, 1)
WB_DEFINE_RANK(long, 2)
WB_DEFINE_RANK(unsigned long, 2)
WB_DEFINE_RANK(long long, 3)
WB_DEFINE_RANK(unsigned long long, 3)
WB_DEFINE_RANK(float, 4)
WB_DEFINE_RANK(double, 4)
#undef WB_DEFINE_RANK
#define WB_EQUAL_RANK(T, U) (wb_rank<T>::value != 0 && int(wb_rank<T>::value) == int(wb_rank<U>::value))
#define WB_COMMON(condition, T, U) typename wb_common<(condition), T, U>::type

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
  WB_HOST_DEVICE constexpr WB_COMMON(WB_EQUAL_RANK(T, U), T, U) name(T a, U b) __attribute__((enable_if(true, ""))) {\
    return wb_##name<WB_COMMON(true, T, U)>(a, b);                                       \
  }                                                                                      \
  template <class T, class U, class... None>                                             \
  WB_HOST_DEVICE constexpr WB_COMMON(__is_arithmetic(T) && __is_arithmetic(U) && !WB_EQUAL_RANK(T, U) && sizeof...(None) == 0, T, U)\
      name(T a, U b, None...) {                                                          \
    return wb_##name<WB_COMMON(true, T, U)>(a, b);                                       \
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
