// Thrust's tuples, which are the C++ library's, as cuda::std's are (CCCL 3).
#pragma once
#include <thrust/pair.h>

THRUST_NAMESPACE_BEGIN

using ::std::ignore;
using ::std::make_tuple;
using ::std::tie;
using ::std::tuple;

// What filled the tuples of older versions up to ten elements.
struct null_type {};

THRUST_NAMESPACE_END
