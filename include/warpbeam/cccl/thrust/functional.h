// Function objects that Thrust had before version 3, with which most programs were written.
#pragma once
#pragma GCC system_header
#include_next <thrust/functional.h>

#if THRUST_VERSION >= 300000
THRUST_NAMESPACE_BEGIN

template <class _Argument, class _Result>
struct unary_function {
  using argument_type = _Argument;
  using result_type = _Result;
};
template <class _First, class _Second, class _Result>
struct binary_function {
  using first_argument_type = _First;
  using second_argument_type = _Second;
  using result_type = _Result;
};

template <class _T = void>
struct identity {
  using argument_type = _T;
  using result_type = _T;
  _CCCL_EXEC_CHECK_DISABLE
  constexpr _CCCL_HOST_DEVICE const _T& operator()(const _T& __x) const { return __x; }
};
template <>
struct identity<void> {
  using is_transparent = void;
  template <class _T>
  constexpr _CCCL_HOST_DEVICE _T&& operator()(_T&& __x) const {
    return static_cast<_T&&>(__x);
  }
};

template <class _Predicate>
struct unary_negate {
  _Predicate pred;
  explicit _CCCL_HOST_DEVICE unary_negate(_Predicate __pred) : pred(__pred) {}
  template <class _T>
  _CCCL_HOST_DEVICE bool operator()(const _T& __x) {
    return !pred(__x);
  }
};
template <class _Predicate>
_CCCL_HOST_DEVICE unary_negate<_Predicate> not1(const _Predicate& __pred) {
  return unary_negate<_Predicate>(__pred);
}
template <class _Predicate>
struct binary_negate {
  _Predicate pred;
  explicit _CCCL_HOST_DEVICE binary_negate(_Predicate __pred) : pred(__pred) {}
  template <class _T, class _U>
  _CCCL_HOST_DEVICE bool operator()(const _T& __x, const _U& __y) {
    return !pred(__x, __y);
  }
};
template <class _Predicate>
_CCCL_HOST_DEVICE binary_negate<_Predicate> not2(const _Predicate& __pred) {
  return binary_negate<_Predicate>(__pred);
}

THRUST_NAMESPACE_END
#endif
