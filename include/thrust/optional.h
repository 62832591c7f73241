// Thrust's optional values, which are cuda::std's where that has them. Debian's are what C++14 gets.
#pragma once
#if __cplusplus < 201703L
#include <thrust/addressof.h>
#include <thrust/detail/config.h>
#include <thrust/swap.h>

#include <exception>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

namespace warpbeam {
template <class T>
__host__ __device__ constexpr T* itself(T* object) {
  return object;
}
}  // namespace warpbeam

// Debian's `optional<T&>::emplace` calls a member that there is not. clang says so of the template itself unless it cannot
// know before it is used whose member that is.
#define this ::warpbeam::itself(this)
#include_next <thrust/optional.h>
#undef this
#else
#include <thrust/detail/config.h>

#include <cuda/std/optional>

THRUST_NAMESPACE_BEGIN

using ::cuda::std::bad_optional_access;
using ::cuda::std::in_place;
using ::cuda::std::in_place_t;
using ::cuda::std::make_optional;
using ::cuda::std::nullopt;
using ::cuda::std::nullopt_t;
using ::cuda::std::optional;

THRUST_NAMESPACE_END
#endif
