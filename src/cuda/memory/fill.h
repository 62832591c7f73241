// Fills of device memory and of what hosts share with it.
#pragma once
#include "cuda/streams/ops.h"

namespace warpbeam::cuda {

// `width` elements of 1, 2 or 4 bytes in each row. Host memory is set when the call returns.
cudaError_t fill_in_stream(Context& context, cudaStream_t stream, const Region& to, uint32_t value, unsigned element, size_t width,
                           size_t height, size_t depth);

}  // namespace warpbeam::cuda
