// Copies of one, two and three dimensions between any two places.
#pragma once
#include "cuda/streams/ops.h"

namespace warpbeam::cuda {

// Rows and planes are byte distances; for one row or one plane they do not matter.
struct CopyRequest {
  Region to, from;
  size_t width = 0, height = 1, depth = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};

inline CopyRequest linear(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  auto region = [](const void* base) { return Region{static_cast<std::byte*>(const_cast<void*>(base)), 0, 0}; };
  return {region(to), region(from), bytes, 1, 1, kind};
}

// What a copy of three dimensions is to do; either end may be an array.
cudaError_t copy_request(const cudaMemcpy3DParms* parameters, CopyRequest* request);
// Returns when the copy is done, after everything before it in the stream.
cudaError_t copy_and_wait(Context& context, cudaStream_t stream, const CopyRequest& request);
// Queues the copy. Pageable memory is not used after the call returns, as on a real device.
cudaError_t copy_in_stream(Context& context, cudaStream_t stream, const CopyRequest& request);

}  // namespace warpbeam::cuda
