// Thrust's pairs, which are the C++ library's, as cuda::std's are (CCCL 3).
#pragma once
#include <thrust/detail/config.h>
#include <thrust/detail/swap.h>
#include <thrust/detail/type_traits.h>

#include <cuda/std/tuple>
#include <cuda/std/utility>

THRUST_NAMESPACE_BEGIN

using ::std::get;
using ::std::make_pair;
using ::std::pair;
using ::std::tuple_element;
using ::std::tuple_size;

THRUST_NAMESPACE_END
