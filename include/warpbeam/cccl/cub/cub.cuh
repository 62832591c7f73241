// A newer CUB, and the iterators that it had before version 3.
#pragma once
#pragma GCC system_header
#include_next <cub/cub.cuh>

#if CUB_VERSION >= 300000
#include <cub/iterator/constant_input_iterator.cuh>
#include <cub/iterator/counting_input_iterator.cuh>
#include <cub/iterator/discard_output_iterator.cuh>
#include <cub/iterator/transform_input_iterator.cuh>
#endif
