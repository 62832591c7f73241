// The functions of <complex> for host and device, by the formulas that libraries of C++ use. Functions of the circle are those of
// the hyperbola turned by a quarter: sin z = -i sinh iz.
#ifndef WARPBEAM_CXX_COMPLEX_FUNCTIONS_H
#define WARPBEAM_CXX_COMPLEX_FUNCTIONS_H

namespace cuda {
namespace std {

namespace __warpbeam {
template <class _T>
struct __parts {
  using _C = __calculated_t<_T>;
  _C __re, __im;
  WB_BOTH __parts(const complex<_T>& __z) : __re(static_cast<_C>(__z.real())), __im(static_cast<_C>(__z.imag())) {}
};
template <class _T, class _C>
WB_BOTH complex<_T> __made_of(_C __re, _C __im) {
  return complex<_T>(static_cast<_T>(__re), static_cast<_T>(__im));
}
// A quarter turn back and forth.
template <class _T>
WB_BOTH complex<_T> __times_i(const complex<_T>& __z) {
  return complex<_T>(-__z.imag(), __z.real());
}
template <class _T>
WB_BOTH complex<_T> __over_i(const complex<_T>& __z) {
  return complex<_T>(__z.imag(), -__z.real());
}
}  // namespace __warpbeam

template <class _T>
WB_BOTH complex<_T> exp(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z);
  const auto __size = ::exp(__p.__re);
  if (__p.__im == 0) return __warpbeam::__made_of<_T>(__size, __p.__im);
  if (__size == 0 && !(__p.__im - __p.__im == 0)) return complex<_T>();  // nothing, whatever its direction
  return __warpbeam::__made_of<_T>(__size * ::cos(__p.__im), __size * ::sin(__p.__im));
}
template <class _T>
WB_BOTH complex<_T> log(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z);
  return __warpbeam::__made_of<_T>(::log(::hypot(__p.__re, __p.__im)), ::atan2(__p.__im, __p.__re));
}
template <class _T>
WB_BOTH complex<_T> log10(const complex<_T>& __z) {
  using _C = typename __warpbeam::__parts<_T>::_C;
  const __warpbeam::__parts<_T> __p(::cuda::std::log(__z));
  return __warpbeam::__made_of<_T>(__p.__re / static_cast<_C>(2.30258509299404568402), __p.__im / static_cast<_C>(2.30258509299404568402));
}
template <class _T>
WB_BOTH complex<_T> sqrt(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z);
  using _C = typename __warpbeam::__parts<_T>::_C;
  _C __x = __p.__re, __y = __p.__im, __grown = 1;
  const _C __huge = static_cast<_C>(__builtin_huge_val());
  if (::fabs(__y) == __huge) return __warpbeam::__made_of<_T>(__huge, __y);
  if (__x == 0 && __y == 0) return __warpbeam::__made_of<_T>(_C(0), __y);
  if (::fabs(__x) == __huge && __y == __y)
    return __x > 0 ? __warpbeam::__made_of<_T>(__x, ::copysign(_C(0), __y)) : __warpbeam::__made_of<_T>(_C(0), ::copysign(__huge, __y));
  if (::hypot(__x, __y) == __huge) __x /= 4, __y /= 4, __grown = 2;
  const _C __half = ::sqrt((::fabs(__x) + ::hypot(__x, __y)) / 2), __other = ::fabs(__y) / (2 * __half);
  return __warpbeam::__made_of<_T>(__grown * (__x < 0 ? __other : __half), ::copysign(__grown * (__x < 0 ? __half : __other), __y));
}

template <class _T>
WB_BOTH complex<_T> pow(const complex<_T>& __base, const complex<_T>& __power) {
  return ::cuda::std::exp(__power * ::cuda::std::log(__base));
}
template <class _T, class _U, __warpbeam::__if_number<_U> = 0>
WB_BOTH complex<_T> pow(const complex<_T>& __base, const _U& __power) {
  return ::cuda::std::pow(__base, complex<_T>(static_cast<_T>(__power)));
}
template <class _T, class _U, __warpbeam::__if_number<_U> = 0>
WB_BOTH complex<_T> pow(const _U& __base, const complex<_T>& __power) {
  return ::cuda::std::pow(complex<_T>(static_cast<_T>(__base)), __power);
}

template <class _T>
WB_BOTH complex<_T> sinh(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z);
  if (__p.__im == 0) return __warpbeam::__made_of<_T>(::sinh(__p.__re), __p.__im);
  return __warpbeam::__made_of<_T>(::sinh(__p.__re) * ::cos(__p.__im), ::cosh(__p.__re) * ::sin(__p.__im));
}
template <class _T>
WB_BOTH complex<_T> cosh(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z);
  return __warpbeam::__made_of<_T>(::cosh(__p.__re) * ::cos(__p.__im), ::sinh(__p.__re) * ::sin(__p.__im));
}
template <class _T>
WB_BOTH complex<_T> tanh(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z);
  using _C = typename __warpbeam::__parts<_T>::_C;
  if (::fabs(__p.__re) > 44) return __warpbeam::__made_of<_T>(::copysign(_C(1), __p.__re), ::copysign(_C(0), ::sin(2 * __p.__im)));
  const _C __below = ::cosh(2 * __p.__re) + ::cos(2 * __p.__im);
  return __warpbeam::__made_of<_T>(::sinh(2 * __p.__re) / __below, ::sin(2 * __p.__im) / __below);
}
template <class _T>
WB_BOTH complex<_T> asinh(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z);
  // From the side on which nothing cancels: the function is odd.
  const complex<_T> __right = __p.__re < 0 ? -__z : __z;
  const __warpbeam::__parts<_T> __found(::cuda::std::log(__right + ::cuda::std::sqrt(__right * __right + complex<_T>(_T(1)))));
  return __warpbeam::__made_of<_T>(::copysign(__found.__re, __p.__re), ::copysign(__found.__im, __p.__im));
}
template <class _T>
WB_BOTH complex<_T> acosh(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z);
  const complex<_T> __one(_T(1));
  const __warpbeam::__parts<_T> __found(::cuda::std::log(__z + ::cuda::std::sqrt(__z + __one) * ::cuda::std::sqrt(__z - __one)));
  return __warpbeam::__made_of<_T>(::fabs(__found.__re), ::copysign(__found.__im, __p.__im));
}
template <class _T>
WB_BOTH complex<_T> atanh(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z);
  const complex<_T> __one(_T(1));
  const __warpbeam::__parts<_T> __found(::cuda::std::log((__one + __z) / (__one - __z)));
  return __warpbeam::__made_of<_T>(::copysign(__found.__re / 2, __p.__re), ::copysign(__found.__im / 2, __p.__im));
}

template <class _T>
WB_BOTH complex<_T> sin(const complex<_T>& __z) {
  return __warpbeam::__over_i(::cuda::std::sinh(__warpbeam::__times_i(__z)));
}
template <class _T>
WB_BOTH complex<_T> cos(const complex<_T>& __z) {
  return ::cuda::std::cosh(__warpbeam::__times_i(__z));
}
template <class _T>
WB_BOTH complex<_T> tan(const complex<_T>& __z) {
  return __warpbeam::__over_i(::cuda::std::tanh(__warpbeam::__times_i(__z)));
}
template <class _T>
WB_BOTH complex<_T> asin(const complex<_T>& __z) {
  return __warpbeam::__over_i(::cuda::std::asinh(__warpbeam::__times_i(__z)));
}
template <class _T>
WB_BOTH complex<_T> acos(const complex<_T>& __z) {
  const __warpbeam::__parts<_T> __p(__z), __found(::cuda::std::acosh(__z));
  return __warpbeam::__made_of<_T>(::fabs(__found.__im), ::copysign(__found.__re, -__p.__im));
}
template <class _T>
WB_BOTH complex<_T> atan(const complex<_T>& __z) {
  return __warpbeam::__over_i(::cuda::std::atanh(__warpbeam::__times_i(__z)));
}

}  // namespace std
}  // namespace cuda

#endif
