// Formats of elements: a format and a number of channels here, bits per channel and a kind in the runtime.
#pragma once
#include "cuda/driver/edge.h"

namespace warpbeam::cuda::driver {

// False for formats that no array here has (planar video, compressed blocks).
bool channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc* description);
void format_of(const cudaChannelFormatDesc& description, CUarray_format* format, unsigned* channels);

}  // namespace warpbeam::cuda::driver
