// cub::DeviceTransform of CUB 2.7 and later: a function of one or several sequences, item by item.
#pragma once
#if __cplusplus >= 201703L
#include <cuda/std/tuple>
#include <type_traits>

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

template <class _Out, class _If, class _Op, class... _In>
struct __warpbeam_transform_if {
  _Out __out;
  _If __if;
  _Op __op;
  ::cuda::std::tuple<_In...> __in;
  template <class _Size>
  __device__ void operator()(_Size __i) {
    ::cuda::std::apply(
        [&](auto&... __each) {
          if (__if(*(__each + __i)...)) *(__out + __i) = __op(*(__each + __i)...);
        },
        __in);
  }
};

template <class _Out, class _Value>
struct __warpbeam_fill {
  _Out __out;
  _Value __value;
  template <class _Size>
  __device__ void operator()(_Size __i) {
    *(__out + __i) = __value;
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
  // The items that the function is given are always those in memory.
  template <class _In, class _Out, class _Size, class _Op>
  static cudaError_t TransformStableArgumentAddresses(_In __in, _Out __out, _Size __n, _Op __op, cudaStream_t __stream = nullptr) {
    return Transform(__in, __out, __n, __op, __stream);
  }
  template <class... _In, class _Out, class _Size, class _If, class _Op>
  static cudaError_t TransformIf(::cuda::std::tuple<_In...> __in, _Out __out, _Size __n, _If __if, _Op __op,
                                 cudaStream_t __stream = nullptr) {
    return DeviceFor::Bulk(__n, detail::__warpbeam_transform_if<_Out, _If, _Op, _In...>{__out, __if, __op, __in}, __stream);
  }
  template <class _In, class _Out, class _Size, class _If, class _Op, std::enable_if_t<!std::is_convertible<_Op, cudaStream_t>::value, int> = 0>
  static cudaError_t TransformIf(_In __in, _Out __out, _Size __n, _If __if, _Op __op, cudaStream_t __stream = nullptr) {
    return TransformIf(::cuda::std::tuple<_In>(__in), __out, __n, __if, __op, __stream);
  }
  template <class _Out, class _Size, class _Function>
  static cudaError_t Generate(_Out __out, _Size __n, _Function __function, cudaStream_t __stream = nullptr) {
    return DeviceFor::Bulk(__n, detail::__warpbeam_transform<_Out, _Function>{__out, __function, {}}, __stream);
  }
  template <class _Out, class _Size, class _Value>
  static cudaError_t Fill(_Out __out, _Size __n, _Value __value, cudaStream_t __stream = nullptr) {
    return DeviceFor::Bulk(__n, detail::__warpbeam_fill<_Out, _Value>{__out, __value}, __stream);
  }

  // The forms in two steps: the first call asks for a size.
  template <class _In, class _Out, class _Size, class _Op>
  static cudaError_t Transform(void* __storage, size_t& __bytes, _In __in, _Out __out, _Size __n, _Op __op,
                               cudaStream_t __stream = nullptr) {
    if (!__storage) return __bytes = 1, cudaSuccess;
    return Transform(__in, __out, __n, __op, __stream);
  }
  template <class _In, class _Out, class _Size, class _Op>
  static cudaError_t TransformStableArgumentAddresses(void* __storage, size_t& __bytes, _In __in, _Out __out, _Size __n, _Op __op,
                                                      cudaStream_t __stream = nullptr) {
    return Transform(__storage, __bytes, __in, __out, __n, __op, __stream);
  }
};

CUB_NAMESPACE_END
#endif
