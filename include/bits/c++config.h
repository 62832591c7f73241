// libstdc++'s configuration. Kernels call the C++ library under the name cuda::std. Where its functions are constexpr, clang
// compiles them for both sides; but libcu++ has in C++17, and for kernels, what this library makes constexpr only in C++20 or
// 23: the algorithms, the assignment of pairs and tuples, unique_ptr. The words that say so mean "for both sides" until then.
// What of it can only run on the host is an error where a kernel reaches it, not before.
#pragma once
#pragma GCC system_header
#include_next <bits/c++config.h>
#if defined(__CUDA__)
#if __cplusplus < 202002L
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR __attribute__((host)) __attribute__((device))
#endif
#if __cplusplus <= 202002L && defined(_GLIBCXX23_CONSTEXPR)
#undef _GLIBCXX23_CONSTEXPR
#define _GLIBCXX23_CONSTEXPR __attribute__((host)) __attribute__((device))
#endif
#endif
