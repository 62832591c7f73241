// What every file of the library leans on: the macros that pick a code path at compile time, and the few constants of
// the programming model. Only public CUDA headers are used anywhere below this folder.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Hopper's bulk copies and barriers are used where nvcc compiles the code for such a device. A virtual GPU (which defines
// __WARPBEAM__) and other compilers take the portable path, which needs nothing newer than warp shuffles.
#if defined(__WARPBEAM__) || (defined(__clang__) && defined(__CUDA__))
#define WB_PORTABLE 1
#else
#define WB_PORTABLE 0
#endif

#if !WB_PORTABLE && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WB_BULK_COPY 1
#else
#define WB_BULK_COPY 0
#endif

// Kernels may also let the copy engine write what other kernels read. compute-sanitizer's initcheck does not see such
// writes; a build for it stores the ordinary way.
#if WB_BULK_COPY && !defined(WARPBEAM_ORDINARY_STORES)
#define WB_BULK_STORE 1
#else
#define WB_BULK_STORE 0
#endif

// Warpgroup matrix instructions exist only for the architecture-specific target sm_90a.
#if WB_BULK_COPY && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WB_WGMMA 1
#else
#define WB_WGMMA 0
#endif

namespace warpbeam {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kFullWarp = 0xffffffffu;

template <class A, class B>
constexpr __host__ __device__ auto ceil_div(A a, B b) {
  return (a + b - 1) / b;
}

constexpr __host__ __device__ size_t round_up(size_t value, size_t multiple) {
  return ceil_div(value, multiple) * multiple;
}

__device__ inline int lane_id() { return threadIdx.x & (kWarpSize - 1); }
__device__ inline int warp_id() { return threadIdx.x / kWarpSize; }

// The value type behind an iterator; a raw pointer's constness is dropped.
template <class It>
struct IteratorValue {
  using type = typename It::value_type;
};
template <class T>
struct IteratorValue<T*> {
  using type = std::remove_cv_t<T>;
};
template <class It>
using value_of = typename IteratorValue<It>::type;

}  // namespace warpbeam
