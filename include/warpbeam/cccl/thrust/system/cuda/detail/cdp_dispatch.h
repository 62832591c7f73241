// A newer Thrust's algorithms as a kernel calls them, on one thread each; the kernels that they would launch are made, too. Thrust asks
// for those with calls that are never reached, which nvcc takes of host functions and clang does not: here a function of the host has them.
#pragma once
#pragma GCC system_header
#include_next <thrust/system/cuda/detail/cdp_dispatch.h>

#ifdef __CUDA_ARCH__
namespace warpbeam {
// What such a function returns, be it a list in braces.
struct anything {
  template <class... Parts>
  __host__ anything(Parts&&...) {}
};
}  // namespace warpbeam

#undef THRUST_CDP_DISPATCH
#define THRUST_CDP_DISPATCH(par_impl, seq_impl)                                                                            \
  {                                                                                                                        \
    [[maybe_unused]] auto __launching = [&]() __host__ -> ::warpbeam::anything { NV_IF_TARGET(NV_ANY_TARGET, par_impl) }; \
  }                                                                                                                        \
  NV_IF_TARGET(NV_IS_HOST, par_impl, seq_impl)
#endif
