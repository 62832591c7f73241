// The prelude of programs that NVRTC compiles: the language and the device functions, and nothing of the host. They may
// define the names of the C library for themselves.
#ifndef WARPBEAM_PRELUDE_RTC_H
#define WARPBEAM_PRELUDE_RTC_H
#pragma GCC system_header
#include "hide_macros.h"

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#ifndef WARPBEAM_WITH_ITS_OWN_LIBRARY
#define __NVCC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
// CCCL compares it.
#define __CUDART_API_VERSION 13000

// NVRTC's front end has none, and libcu++ asks. clang's has errors where that of a template's argument must be no match.
#undef __cpp_pack_indexing

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;

#include "device/attributes.h"
#include "device/vector_types.h"
#include "device/builtin_variables.h"
#include "device/launches.h"
#include "device/vector_functions.h"
#include "device/math_device.h"
#include "device/device_runtime.h"

// Without the C library's header they are functions.
#define WB_DEFINE_CLASS(name)                                            \
  WB_DEVICE bool name(float x) { return __builtin_##name(x); }           \
  WB_DEVICE bool name(double x) { return __builtin_##name(x); }
WB_DEFINE_CLASS(isnan)
WB_DEFINE_CLASS(isinf)
WB_DEFINE_CLASS(isfinite)
WB_DEFINE_CLASS(signbit)
#undef WB_DEFINE_CLASS

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

// NVRTC places objects without a header. As templates they give way to those of <new>.
template <int = 0>
__device__ inline void* operator new(size_t, void* place) noexcept { return place; }
template <int = 0>
__device__ inline void* operator new[](size_t, void* place) noexcept { return place; }

#if __cplusplus >= 201103L
// NVRTC has it without a header; a header of that name has nothing left to say.
#ifndef _INITIALIZER_LIST
#define _INITIALIZER_LIST
namespace std {
template <class E>
class initializer_list {
 public:
  typedef E value_type;
  typedef const E& reference;
  typedef const E& const_reference;
  typedef size_t size_type;
  typedef const E* iterator;
  typedef const E* const_iterator;
  __host__ __device__ constexpr initializer_list() noexcept : begin_(nullptr), size_(0) {}
  __host__ __device__ constexpr size_t size() const noexcept { return size_; }
  __host__ __device__ constexpr const E* begin() const noexcept { return begin_; }
  __host__ __device__ constexpr const E* end() const noexcept { return begin_ + size_; }

 private:
  __host__ __device__ constexpr initializer_list(const E* begin, size_t size) : begin_(begin), size_(size) {}
  const E* begin_;
  size_t size_;
};
template <class E>
__host__ __device__ constexpr const E* begin(initializer_list<E> list) noexcept { return list.begin(); }
template <class E>
__host__ __device__ constexpr const E* end(initializer_list<E> list) noexcept { return list.end(); }
}  // namespace std
#endif
#endif

// NVRTC knows what device code has of the runtime without a header.
#include "../cuda_device_runtime_api.h"

#include "restore_macros.h"

// The program brings a libcu++ (src/libraries/nvrtc/compile.cc), which knows NVRTC by its being no other compiler, and then takes
// nothing of the host's.
#ifdef WARPBEAM_WITH_ITS_OWN_LIBRARY
#undef WARPBEAM_WITH_ITS_OWN_LIBRARY
#define WARPBEAM_NOTHING_OF_THE_HOST 1
// Its own subtracts pointers, which is no constant to clang.
#define offsetof(type, member) __builtin_offsetof(type, member)
#undef __clang__
#undef __GNUC__
#endif
#endif
