// The words CUDA adds to the language, as clang's attributes. Plain C and C++ sources get them as nothing.
#ifndef WARPBEAM_DEVICE_ATTRIBUTES_H
#define WARPBEAM_DEVICE_ATTRIBUTES_H

#if defined(__CUDA__)

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#if defined(__WARPBEAM_DEVICE_LAUNCHES__)
// For sources whose device code launches kernels: a kernel can then be called like a function, which the machine takes
// as a launch (src/compiler/device_launches.h). A launch of itself at the end must not become a loop.
#define __global__                                                                                     \
  __attribute__((host)) __attribute__((device)) __attribute__((nvptx_kernel)) __attribute__((used))    \
      __attribute__((noinline)) __attribute__((disable_tail_calls))
#else
#define __global__ __attribute__((global))
#endif
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(count)
// clang 19 has no word for the shape of clusters: it travels as a bound on their size, ten bits for each dimension.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WB_CLUSTER_DIMS(x, y, z, ...) __attribute__((launch_bounds(1024, 1, 0x40000000 | (x) << 20 | (y) << 10 | (z))))
#define __cluster_dims__(...) WB_CLUSTER_DIMS(__VA_ARGS__, 1, 1)
// Both on one kernel; the driver writes it so.
#define WB_FIRST(a, ...) a
#define WB_SECOND(a, b, ...) b
#define WB_THIRD(a, b, c, ...) c
#define __warpbeam_clustered_bounds__(bounds, dims)      \
  __attribute__((launch_bounds(WB_FIRST bounds, WB_SECOND bounds, \
                               0x40000000 | WB_FIRST dims << 20 | WB_SECOND dims << 10 | WB_THIRD dims)))
#else
#define __cluster_dims__(...)
#define __warpbeam_clustered_bounds__(bounds, dims) __launch_bounds__ bounds
#endif
#define __nv_pure__ __attribute__((pure))

// A managed variable is a device variable whose host shadow lies in the section wb_managed. The runtime recognises it
// by that address when it is registered, makes the device symbol an alias of the shadow (the machine's device addresses
// are host addresses), and copies the initial value, which only the device code carries, into it. From then on host and
// device code read and write one and the same variable by name.
#define __managed__ __attribute__((device, section("wb_managed")))

#else

#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __maxnreg__(count)
#define __cluster_dims__(...)
#define __warpbeam_clustered_bounds__(bounds, dims)
#define __nv_pure__

#endif

// The parameter is const already; that kernels share one copy of it is an optimisation clang 19 has no word for.
#define __grid_constant__

// clang itself knows __noinline__ in CUDA sources. A macro of that name would break libstdc++'s own attributes.

#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __thread__ __thread
#define __no_return__ __attribute__((noreturn))
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#if defined(__CUDA__)
#define __cudart_builtin__ __attribute__((host)) __attribute__((device))
#else
#define __cudart_builtin__
#endif
#define __specialization_static static
#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#ifndef CUDARTAPI_CDECL
#define CUDARTAPI_CDECL
#endif
#ifndef CUDART_CB
#define CUDART_CB
#endif

// Private to these headers: the three kinds of inline function they define.
// nodebug: after inlining, line information names the line of the user who called.
#define WB_DEVICE static __inline__ __attribute__((always_inline, nodebug, unused)) __device__
#define WB_HOST static __inline__ __attribute__((unused)) __host__
#if defined(__clang__)
#define WB_HOST_DEVICE static __inline__ __attribute__((always_inline, nodebug, unused)) __host__ __device__
#else  // g++ and gcc, which compile host sources with these headers, do not know nodebug
#define WB_HOST_DEVICE static __inline__ __attribute__((always_inline, unused)) __host__ __device__
#endif

// True where functions that need compute capability major.minor (written 700 for 7.0) are declared: in device code of
// that capability, and always in the host pass, which must be able to name what device code calls.
#if defined(__CUDA_ARCH__)
#define WB_HAS_ARCH(arch) (__CUDA_ARCH__ >= (arch))
#else
#define WB_HAS_ARCH(arch) 1
#endif

// What nvcc tells of its extended lambdas, whose results the host cannot know; without --extended-lambda, too. Clang's are lambdas
// like any other.
#define __nv_is_extended_device_lambda_closure_type(type) false
#define __nv_is_extended_host_device_lambda_closure_type(type) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(type) false

#endif
