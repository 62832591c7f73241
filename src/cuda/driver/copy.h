// A copy described in the structures of either API.
#pragma once
#include "cuda/driver/edge.h"

namespace warpbeam::cuda::driver {

cudaError_t runtime_copy(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms* parameters);
CUDA_MEMCPY3D driver_copy(const cudaMemcpy3DParms& parameters);

}  // namespace warpbeam::cuda::driver
