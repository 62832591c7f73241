// libstdc++'s moves. Programs write `template <> void std::swap(T&, T&)` for types of theirs, which could not be a
// specialization of a function for both sides: before C++20 std::swap is the host's, and the device has one of its name.
#pragma once
#pragma GCC system_header
#include <bits/c++config.h>
#include "../warpbeam/cxx/host_only_begin.h"
#include_next <bits/move.h>
#include "../warpbeam/cxx/host_only_end.h"
#if defined(__CUDA__) && __cplusplus >= 201103L && __cplusplus < 202002L
namespace std {
// For both sides, because host code too has the device pass look at swaps of strings, which the device cannot do.
template <class _T>
__attribute__((host)) __attribute__((device)) inline void __warpbeam_swap(_T& __a, _T& __b) {
  _T __old = static_cast<_T&&>(__a);
  __a = static_cast<_T&&>(__b);
  __b = static_cast<_T&&>(__old);
}
template <class _T>
__attribute__((device)) inline
    typename enable_if<is_move_constructible<_T>::value && is_move_assignable<_T>::value>::type
    swap(_T& __a, _T& __b) noexcept(is_nothrow_move_constructible<_T>::value&& is_nothrow_move_assignable<_T>::value) {
  __warpbeam_swap(__a, __b);
}
template <class _T, __SIZE_TYPE__ _Count>
__attribute__((device)) inline void swap(_T (&__a)[_Count], _T (&__b)[_Count]) {
  for (__SIZE_TYPE__ __i = 0; __i < _Count; ++__i) swap(__a[__i], __b[__i]);
}
}  // namespace std
#endif
