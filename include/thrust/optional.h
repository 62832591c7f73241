// Thrust's optional values, which are cuda::std's where that has them. (Debian's do not compile with clang 19.)
#pragma once
#if __cplusplus < 201703L
#include_next <thrust/optional.h>
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
