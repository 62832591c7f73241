// The macros with which libstdc++ throws and catches. A kernel does neither: for the device they are as without exceptions.
#pragma once
#pragma GCC system_header
#include <bits/c++config.h>
#include_next <bits/exception_defines.h>
#if defined(__CUDA__) && defined(__CUDA_ARCH__)
#undef __try
#undef __catch
#undef __throw_exception_again
#define __try if (true)
#define __catch(X) if (false)
#define __throw_exception_again
#undef _GLIBCXX_THROW_OR_ABORT
#define _GLIBCXX_THROW_OR_ABORT(exception) (__builtin_trap())
#endif
