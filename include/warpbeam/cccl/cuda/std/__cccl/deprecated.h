// What newer versions than the toolkit's own call deprecated, such as thrust::greater, most programs use.
#pragma once
#pragma GCC system_header
#ifndef CCCL_IGNORE_DEPRECATED_API
#define CCCL_IGNORE_DEPRECATED_API
#endif
#include_next <cuda/std/__cccl/deprecated.h>
