// Debian's allocators of managed memory, and newer versions' of pinned memory.
#pragma once
#include_next <thrust/universal_allocator.h>

#include <thrust/mr/allocator.h>
#include <thrust/mr/device_memory_resource.h>

THRUST_NAMESPACE_BEGIN

template <class _T>
using universal_host_pinned_allocator = mr::stateless_resource_allocator<_T, universal_host_pinned_memory_resource>;

THRUST_NAMESPACE_END
