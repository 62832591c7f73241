// Debian's vectors in managed memory, and newer versions' in pinned memory.
#pragma once
#include_next <thrust/universal_vector.h>

#include <thrust/universal_allocator.h>

THRUST_NAMESPACE_BEGIN

template <class _T, class _Allocator = universal_host_pinned_allocator<_T>>
using universal_host_pinned_vector = detail::vector_base<_T, _Allocator>;

THRUST_NAMESPACE_END
