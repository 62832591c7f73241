// Debian's function objects, and thrust::not_fn of newer versions.
#pragma once
#include_next <thrust/functional.h>
#if __cplusplus >= 201402L

#include <type_traits>
#include <utility>

THRUST_NAMESPACE_BEGIN

namespace detail {

template <class _F>
struct __warpbeam_not {
  _F __function;
  template <class... _Args>
  __host__ __device__ constexpr bool operator()(_Args&&... __args) {
    return !__function(static_cast<_Args&&>(__args)...);
  }
  template <class... _Args>
  __host__ __device__ constexpr bool operator()(_Args&&... __args) const {
    return !__function(static_cast<_Args&&>(__args)...);
  }
};

}  // namespace detail

template <class _F>
__host__ __device__ constexpr detail::__warpbeam_not<std::decay_t<_F>> not_fn(_F&& __function) {
  return {static_cast<_F&&>(__function)};
}

THRUST_NAMESPACE_END
#endif
