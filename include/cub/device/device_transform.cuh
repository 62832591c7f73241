// cub::DeviceTransform of CUB 2.7 and later: a function of one or several sequences, item by item.
#pragma once
#include <cuda/std/tuple>

#include "device_for.cuh"

CUB_NAMESPACE_BEGIN

namespace detail {

template <class _Out, class _Op, class... _In>
struct __warpbeam_transform {
  _Out __out;
  _Op __op;
  ::cuda::std::tuple<_In...> __in;
  template <class _Size>
  __device__ void operator()(_Size __i) {
    *(__out + __i) = ::cuda::std::apply([&](auto&... __each) { return __op(*(__each + __i)...); }, __in);
  }
};

}  // namespace detail

struct DeviceTransform {
  template <class... _In, class _Out, class _Size, class _Op>
  static cudaError_t Transform(::cuda::std::tuple<_In...> __in, _Out __out, _Size __n, _Op __op, cudaStream_t __stream = nullptr) {
    return DeviceFor::Bulk(__n, detail::__warpbeam_transform<_Out, _Op, _In...>{__out, __op, __in}, __stream);
  }
  template <class _In, class _Out, class _Size, class _Op>
  static cudaError_t Transform(_In __in, _Out __out, _Size __n, _Op __op, cudaStream_t __stream = nullptr) {
    return Transform(::cuda::std::tuple<_In>(__in), __out, __n, __op, __stream);
  }
};

CUB_NAMESPACE_END
