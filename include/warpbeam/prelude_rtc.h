// The prelude of programs that NVRTC compiles: the language and the device functions, and nothing of the host. They may
// define the names of the C library for themselves.
#ifndef WARPBEAM_PRELUDE_RTC_H
#define WARPBEAM_PRELUDE_RTC_H
#pragma GCC system_header
#include "hide_macros.h"

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
// CCCL compares them. The values are those of cuda_runtime_api.h, which may come later.
#define CUDART_VERSION 13000
#define __CUDART_API_VERSION CUDART_VERSION

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;

#include "device/attributes.h"
#include "device/vector_types.h"
#include "device/builtin_variables.h"
#include "device/vector_functions.h"
#include "device/math_device.h"
#include "device/device_runtime.h"

extern "C" __device__ int printf(const char* format, ...);

#include "device/math_integer_overloads.h"
#include "device/min_max.h"
#include "device/rounding.h"
#include "device/rounding_modes.h"
#include "device/complex_arithmetic.h"
#include "device/integer.h"
#include "device/simd.h"
#include "device/dynamic_programming.h"
#include "device/synchronize.h"
#include "device/warp.h"
#include "device/load_store.h"
#include "device/scoped_atomics.h"
#define WARPBEAM_NO_TEXTURE_REFERENCES
#include "device/texture.h"
#include "device/surface.h"

// The compiler's builtins have no host declarations here to go with.
#ifndef NULL
#define NULL 0
#endif
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif

#include "restore_macros.h"
#endif
