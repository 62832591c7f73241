// The memset family: elements of one, two and four bytes.
#include "cuda/memory/fill.h"

#include "cuda/driver/owners.h"

namespace warpbeam::cuda::driver {

namespace {

CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height, CUstream stream) {
  return in_stream(stream, [&](Context& context) -> cudaError_t {
    if (to % element || (height > 1 && pitch % element)) return cudaErrorInvalidValue;
    return fill_in_stream(context, stream, {static_cast<std::byte*>(pointer(to)), pitch, 0}, value, element, width, height, 1);
  });
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

// For one size of element: lines and rectangles, at once and in stream order, each with its twin.
#define WB_FILLS(bits, Value)                                                                                                          \
  WB_TWIN CUresult cuMemsetD##bits##_v2(CUdeviceptr to, Value value, size_t count) {                                                   \
    return fill(to, 0, value, sizeof value, count, 1, nullptr);                                                                        \
  }                                                                                                                                    \
  WB_TWIN CUresult cuMemsetD##bits##_v2_ptds(CUdeviceptr to, Value value, size_t count) {                                              \
    return fill(to, 0, value, sizeof value, count, 1, cudaStreamPerThread);                                                            \
  }                                                                                                                                    \
  WB_TWIN CUresult cuMemsetD##bits##Async(CUdeviceptr to, Value value, size_t count, CUstream stream) {                                \
    return fill(to, 0, value, sizeof value, count, 1, stream);                                                                         \
  }                                                                                                                                    \
  WB_TWIN CUresult cuMemsetD##bits##Async_ptsz(CUdeviceptr to, Value value, size_t count, CUstream stream) {                           \
    return fill(to, 0, value, sizeof value, count, 1, per_thread(stream));                                                             \
  }                                                                                                                                    \
  WB_TWIN CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, Value value, size_t width, size_t height) {                    \
    return fill(to, pitch, value, sizeof value, width, height, nullptr);                                                               \
  }                                                                                                                                    \
  WB_TWIN CUresult cuMemsetD2D##bits##_v2_ptds(CUdeviceptr to, size_t pitch, Value value, size_t width, size_t height) {               \
    return fill(to, pitch, value, sizeof value, width, height, cudaStreamPerThread);                                                   \
  }                                                                                                                                    \
  WB_TWIN CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, Value value, size_t width, size_t height, CUstream stream) { \
    return fill(to, pitch, value, sizeof value, width, height, stream);                                                                \
  }                                                                                                                                    \
  WB_TWIN CUresult cuMemsetD2D##bits##Async_ptsz(CUdeviceptr to, size_t pitch, Value value, size_t width, size_t height,               \
                                                 CUstream stream) {                                                                    \
    return fill(to, pitch, value, sizeof value, width, height, per_thread(stream));                                                    \
  }

extern "C" {

WB_FILLS(8, unsigned char)
WB_FILLS(16, unsigned short)
WB_FILLS(32, unsigned int)

}  // extern "C"
