// Included before every CUDA source, in the device pass and in the host pass: the language, then the device functions,
// then the runtime API, as if the source began with #include <cuda_runtime.h>.
#if !defined(WARPBEAM_PRELUDE_H) && !defined(WARPBEAM_NOTHING_OF_THE_HOST)
#define WARPBEAM_PRELUDE_H
#pragma GCC system_header
#include "hide_macros.h"

// What programs ask to learn which compiler and toolkit they have.
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88

#include "device/attributes.h"
#include "device/mended_text.h"
#include "device/vector_types.h"
#include "device/builtin_variables.h"
#include "device/vector_functions.h"

// Device functions that share a name with the C++ library come before it.
#include "device/math_device.h"
#include "device/device_runtime.h"

#include <cmath>
#include <cstdlib>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __cplusplus >= 201103L
#include <utility>
#endif
// Not needed here, but CUDA's headers bring them too, and programs print, assert and write INT_MAX without asking.
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>

#include "device/math_integer_overloads.h"
#include "device/math_host.h"
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
#include "device/aligned_new.h"

#include "../cuda_runtime.h"
#include "device/texture.h"
#include "device/surface.h"

#if __cplusplus >= 201103L && !defined(WARPBEAM_PLAIN_ALIGNAS)
// `__shared__ alignas(128) float tile[32]` is CUDA, but clang takes alignas only before attributes. As an attribute it may
// stand in both places. The template takes a type or a number, as alignas does, but no `>`: the driver compiles a
// program that has one without this.
template <class T>
constexpr __SIZE_TYPE__ wb_alignment() { return alignof(T); }
template <__SIZE_TYPE__ n>
constexpr __SIZE_TYPE__ wb_alignment() { return n; }
#define alignas(...) __attribute__((aligned(wb_alignment<__VA_ARGS__>())))
#endif
#include "device/launches.h"

// How clang's <<<>>> leaves the configuration for the launch.
extern "C" unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, __SIZE_TYPE__ shared = 0, void* stream = 0);

#include "restore_macros.h"
#endif
